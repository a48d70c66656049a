// SPDX-License-Identifier: MIT
#include "compiler/passes/live_tiles.h"

#include <algorithm>
#include <set>

#include "compiler/ir/op_traits.h"
#include "compiler/layout/row_layout.h"
#include "compiler/passes/walk.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;
using Values = std::set<ValueId>;

constexpr int64_t kForSums = 8;  // of stretches, on their way between the lanes of a scan

/// What loads are put in front of.
bool LetsLoadsPass(const Op& op) {
  return ir::ComputesElements(op.code) || op.code == OpCode::kLet || op.code == OpCode::kVar || op.code == OpCode::kAssign ||
         op.code == OpCode::kPart || op.code == OpCode::kReshape;
}

/// A walk from the end to the beginning: what is in use behind an operation decides what is before it.
class Liveness {
 public:
  Liveness(const ir::Kernel& kernel, const ir::Worker& worker, Loads loads, Columns columns)
      : kernel_(kernel), layout_(worker.layout), loads_(loads), columns_(columns), registers_(kernel.values.size(), -1) {
    ForEachOp(worker.body, [&](const Op& op) {
      const bool is_part = op.code == OpCode::kPart && positions_.contains(op.operands[0]);
      if (op.code == OpCode::kPositions || is_part) positions_.insert(op.results[0]);
    });
    if (columns_ == Columns::kHeldUnpacked) FindUnpacked(worker.body);
  }

  Values Before(const Region& region, Values live) {
    Values ahead;  // what further loads of the statement bring
    for (auto op = region.rbegin(); op != region.rend(); ++op) {
      live = Before(*op, std::move(live), loads_ == Loads::kInPlace ? Values{} : ahead);
      if (IsAhead(*op))
        ahead.insert(op->results.begin(), op->results.end());
      else if (!LetsLoadsPass(*op))
        ahead.clear();
    }
    return live;
  }

  LiveTiles most;
  LiveTiles most_stored;
  std::vector<LiveTiles> kept;
  std::vector<LiveTiles> behind_stores;

 private:
  bool IsAhead(const Op& op) const {
    if (op.code == OpCode::kLoadShared) return loads_ == Loads::kAllTogether;
    return op.code == OpCode::kRead || op.code == OpCode::kReadParts;
  }

  /// What a loop reads: beside what it keeps, the compiler of the output unpacks narrow elements before it is done with them. Those
  /// under way with others are packed.
  void FindUnpacked(const Region& body) {
    ForEachOp(body, [&](const Op& loop) {
      if (loop.code != OpCode::kFor) return;
      ForEachOp(loop.regions[0], [&](const Op& op) {
        if (op.code == OpCode::kRead && Bytes(kernel_.values[op.results[0]].type.dtype) < 4) unpacked_.insert(op.results[0]);
      });
    });
  }

  /// A tile that has registers of its own beside those of the one that it is.
  bool IsTakenAnew(const Op& op) const {
    return op.code == OpCode::kConvert && op.number == ir::kConvertAnew &&
           kernel_.values[op.results[0]].type == kernel_.values[op.operands[0]].type;
  }

  Values Before(const Op& op, Values live, const Values& ahead) {
    Note(most, op, live);
    if (KeepsTiles(op) || IsTakenAnew(op)) {
      Values at_once = live;
      at_once.insert(ahead.begin(), ahead.end());
      const int64_t between = op.code == OpCode::kCumsum ? kForSums : 0;
      kept.push_back({RegistersOfAll(at_once) + between, &op, {at_once.begin(), at_once.end()}});
    }
    if (op.code == OpCode::kStoreShared) behind_stores.push_back({RegistersOfAll(live), &op, {live.begin(), live.end()}});
    for (const ValueId result : op.results) live.erase(result);
    const bool overwrites =
        op.code == OpCode::kAssign || ((op.code == OpCode::kMma || op.code == OpCode::kMultiply) && op.number == ir::kSets);
    if (overwrites) live.erase(op.operands[0]);
    if (op.code == OpCode::kIf) {
      Values either = live;  // also of a branch that is not there
      for (const Region& region : op.regions) either.merge(Before(region, live));
      live = std::move(either);
    } else {
      for (const Region& region : op.regions) {
        Values around = Before(region, live);
        around.insert(live.begin(), live.end());
        live.merge(Before(region, around));  // what the next iteration reads is in use at the end of this one
      }
    }
    live.insert(op.operands.begin() + (overwrites ? 1 : 0), op.operands.end());
    Note(most, op, live);
    if (op.code == OpCode::kStore || op.code == OpCode::kStoreParts) Note(most_stored, op, live);
    return live;
  }

  int64_t RegistersOfAll(const Values& live) const {
    int64_t registers = 0;
    for (const ValueId value : live) registers += RegistersOfOne(value);
    return registers;
  }

  /// Asked before and behind every operation.
  int64_t RegistersOfOne(ValueId value) const {
    int64_t& registers = registers_[static_cast<size_t>(value)];
    if (registers >= 0) return registers;
    ir::Type type = kernel_.values[value].type;
    if (unpacked_.contains(value)) type.dtype = DType::kF32;
    return registers = positions_.contains(value) ? 0 : RegistersOf(type, layout_, columns_);
  }

  void Note(LiveTiles& largest, const Op& op, const Values& live) const {
    const int64_t registers = RegistersOfAll(live);
    if (registers < largest.registers || registers == 0) return;
    largest = {registers, &op, {live.begin(), live.end()}};
  }

  const ir::Kernel& kernel_;
  const ir::RegisterLayout& layout_;
  Loads loads_;
  Columns columns_;
  Values unpacked_{};                       // tiles of narrow elements, each in a register of its own
  Values positions_{};                      // a number and a constant for each element: had again wherever they are used
  mutable std::vector<int64_t> registers_;  // of each value; -1: not asked yet
};

LiveTiles LargestFirst(const ir::Kernel& kernel, const ir::RegisterLayout& layout, Columns columns, LiveTiles tiles) {
  const auto registers = [&](ValueId value) { return RegistersOf(kernel.values[value].type, layout, columns); };
  std::erase_if(tiles.in_use, [&](ValueId value) { return registers(value) == 0; });
  std::sort(tiles.in_use.begin(), tiles.in_use.end(),
            [&](ValueId a, ValueId b) { return registers(a) != registers(b) ? registers(a) > registers(b) : a < b; });
  return tiles;
}

}  // namespace

int64_t RegistersOf(const ir::Type& type, const ir::RegisterLayout& l, Columns columns) {
  if (type.space == ir::Space::kLeft || type.space == ir::Space::kRight) {
    // A fragment is dealt to the lanes of each warp that needs it.
    const int64_t warps = type.space == ir::Space::kLeft ? l.warp_rows : l.warp_cols;
    return std::max<int64_t>(1, type.rows * type.cols * Bytes(type.dtype) / (4 * warps * l.lanes * l.lane_rows));
  }
  if (type.space != ir::Space::kRegister) return 0;
  const layout::RegisterLayout layout = DealtBy(l);
  constexpr int64_t kLanes = 32, kManyHeld = 32;
  int64_t elements = layout.PerThread(type.rows, type.cols);
  // Fewer go by what is set aside for addresses.
  const bool is_few = columns == Columns::kDealt || elements < kManyHeld;
  if (is_few && type.cols == 1 && type.rows > 1) elements = std::min(elements, type.rows / kLanes);
  constexpr int kRegisterBytes = 4;
  const int least = l.vec == 1 ? kRegisterBytes : 1;  // an element without a neighbour has a register to itself
  return std::max<int64_t>(1, elements * std::max(Bytes(type.dtype), least) / kRegisterBytes);
}

int64_t RegistersOfTwoSteps(const ir::Type& sum, const ir::Type& left, const ir::Type& right, const ir::RegisterLayout& layout) {
  return RegistersOf(sum, layout) + 2 * (RegistersOf(left, layout) + RegistersOf(right, layout));
}

bool KeepsTiles(const ir::Op& op) {
  const bool is_load = op.code == OpCode::kRead || op.code == OpCode::kReadParts || op.code == OpCode::kLoadShared;
  return is_load || ir::ReducesOrScans(op.code) || ir::IsProduct(op.code);
}

LiveTiles MostLiveTiles(const ir::Kernel& kernel, const ir::Worker& worker, Columns columns) {
  Liveness liveness(kernel, worker, Loads::kInPlace, columns);
  liveness.Before(worker.body, {});
  return LargestFirst(kernel, worker.layout, columns, std::move(liveness.most));
}

std::vector<LiveTiles> KeptTiles(const ir::Kernel& kernel, const ir::Worker& worker, Loads loads, Columns columns) {
  Liveness liveness(kernel, worker, loads, columns);
  liveness.Before(worker.body, {});
  for (LiveTiles& tiles : liveness.kept) tiles = LargestFirst(kernel, worker.layout, columns, std::move(tiles));
  return std::move(liveness.kept);
}

std::vector<LiveTiles> TilesBehindStores(const ir::Kernel& kernel, const ir::Worker& worker) {
  Liveness liveness(kernel, worker, Loads::kInPlace, Columns::kDealt);
  liveness.Before(worker.body, {});
  return std::move(liveness.behind_stores);
}

LiveTiles MostKeptTiles(const ir::Kernel& kernel, const ir::Worker& worker, Loads loads, Columns columns) {
  LiveTiles most;
  for (LiveTiles& tiles : KeptTiles(kernel, worker, loads, columns)) {
    if (tiles.registers >= most.registers && tiles.registers > 0) most = std::move(tiles);  // the first one stands last
  }
  return most;
}

LiveTiles MostStoredTiles(const ir::Kernel& kernel, const ir::Worker& worker, Columns columns) {
  Liveness liveness(kernel, worker, Loads::kInPlace, columns);
  liveness.Before(worker.body, {});
  return LargestFirst(kernel, worker.layout, columns, std::move(liveness.most_stored));
}

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
#include "compiler/passes/live_tiles.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/layout/bank_model.h"
#include "compiler/passes/reshaped_layouts.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;
using Values = std::set<ValueId>;

/// Sums of stretches, on their way between the lanes of a scan.
int64_t RegistersOfScan(const Op& op) { return op.code == OpCode::kCumsum ? 8 : 0; }

/// What loads are put in front of.
bool LetsLoadsPass(const Op& op) {
  return ir::ComputesElements(op.code) || op.code == OpCode::kLet || op.code == OpCode::kVar || op.code == OpCode::kAssign ||
         op.code == OpCode::kPart || op.code == OpCode::kReshape;
}

/// Whether the first operand is another tile behind the operation, whatever it was.
bool Overwrites(const Op& op) {
  const bool multiplies = op.code == OpCode::kMma || op.code == OpCode::kMultiply;
  return op.code == OpCode::kAssign || (multiplies && op.Is(ir::kSets));
}

/// How a worker's tiles count as they are.
class AsTheyAre {
 public:
  AsTheyAre(const ir::Kernel& kernel, const ir::Worker& worker, Columns columns)
      : kernel_(kernel), layout_(worker.layout), reshaped_(kernel, worker), columns_(columns) {
    ForEachOp(worker.body, [&](const Op& op) {
      const bool is_part = op.code == OpCode::kPart && positions_.contains(op.operands[0]);
      if (op.code == OpCode::kPositions || is_part) positions_.insert(op.results[0]);
    });
    if (columns_ == Columns::kHeldUnpacked) FindUnpacked(worker.body);
  }

  Counting Counts() const {
    return {[](ValueId tile) { return tile; }, [this](ValueId tile) { return Registers(tile); }};
  }

 private:
  /// What a loop reads: beside what it keeps, the compiler of the output unpacks narrow elements before it is done with them. Those
  /// under way with others are packed.
  void FindUnpacked(const Region& body) {
    ForEachOp(body, [&](const Op& loop) {
      if (loop.code != OpCode::kFor) return;
      ForEachOp(loop.regions[0], [&](const Op& op) {
        if (ir::LoadsTile(op) && Bytes(kernel_.TypeOf(op.results[0]).dtype) < 4) unpacked_.insert(op.results[0]);
      });
    });
  }

  int64_t Registers(ValueId value) const {
    ir::Type type = kernel_.TypeOf(value);
    if (unpacked_.contains(value)) type.dtype = DType::kF32;
    const ir::RegisterLayout* const reshaped = reshaped_.Find(value);
    return positions_.contains(value) ? 0 : RegistersOf(type, reshaped ? *reshaped : layout_, columns_);
  }

  const ir::Kernel& kernel_;
  const ir::RegisterLayout& layout_;
  const ReshapedLayouts reshaped_;
  Columns columns_;
  Values unpacked_{};   // tiles of narrow elements, each in a register of its own
  Values positions_{};  // a number and a constant for each element: had again wherever they are used
};

/// A walk from the end to the beginning: what is in use behind an operation decides what is before it. Each operation changes the
/// sums by what it uses and makes; which tiles are in use at a place follows from the changes before it.
class Liveness {
 public:
  Liveness(const ir::Kernel& kernel, const ir::Worker& worker, Loads loads, Counting counting)
      : kernel_(kernel), loads_(loads), counting_(std::move(counting)), tiles_(kernel.values.size()) {
    FindReadFirst(worker.body);
    Walk(worker.body);
  }

  struct Place {
    const Op* where;
    int64_t registers;
    size_t changes;  // before it
  };

  const std::vector<Place>& kept() const { return kept_; }
  const std::vector<Place>& behind_stores() const { return behind_stores_; }
  int64_t most() const { return most_; }
  int64_t most_stored() const { return most_stored_; }

  /// The tiles in use at a place.
  Values InUse(const Place& place) const {
    std::map<ValueId, InUseAs> tiles;
    for (size_t i = 0; i < place.changes; ++i) tiles[changes_[i].value].Change(changes_[i]);
    Values in_use;
    for (const auto& [tile, as] : tiles) {
      if (as.Any()) in_use.insert(tile);
    }
    return in_use;
  }

  /// Those in use at any of these places, to which the walk came in this order.
  Values InUseAtAny(const std::vector<Place>& places) const {
    struct State {
      InUseAs as;
      size_t since = 0;  // how many of the places lie before
    };
    std::map<ValueId, State> tiles;
    Values in_use;
    size_t passed = 0;
    for (size_t i = 0; i < changes_.size(); ++i) {
      while (passed < places.size() && places[passed].changes <= i) ++passed;
      State& state = tiles[changes_[i].value];
      if (!state.as.Any()) state.since = passed;
      state.as.Change(changes_[i]);
      if (!state.as.Any() && state.since < passed) in_use.insert(changes_[i].value);
    }
    for (const auto& [tile, state] : tiles) {
      if (state.as.Any() && state.since < places.size()) in_use.insert(tile);
    }
    return in_use;
  }

 private:
  struct Tile {
    bool is_live = false, is_ahead = false;
    int64_t registers = -1;     // not asked yet
    int live = 0, at_once = 0;  // how many tiles in use count as this one; with the loads that are ahead
  };
  struct Change {
    ValueId value;
    bool is_ahead;
  };
  struct InUseAs {
    bool live = false, ahead = false;
    bool Any() const { return live || ahead; }
    void Change(const Change& change) { (change.is_ahead ? ahead : live) ^= true; }
  };

  /// What the region reads before it makes it, for each region inside, too: in use at the end of a loop's body for the next
  /// iteration.
  Values FindReadFirst(const Region& region) {
    Values read;
    for (auto op = region.rbegin(); op != region.rend(); ++op) {
      for (const ValueId result : op->results) read.erase(result);
      if (Overwrites(*op)) read.erase(op->operands[0]);
      for (const Region& inner : op->regions) {
        const Values& found = read_first_[&inner] = FindReadFirst(inner);
        read.insert(found.begin(), found.end());
      }
      read.insert(op->operands.begin() + (Overwrites(*op) ? 1 : 0), op->operands.end());
    }
    return read;
  }

  void Walk(const Region& region) {
    ClearAhead();
    for (auto op = region.rbegin(); op != region.rend(); ++op) {
      Walk(*op);
      if (IsAhead(*op))
        for (const ValueId result : op->results) SetAhead(result, true);
      else if (!LetsLoadsPass(*op))
        ClearAhead();
    }
    ClearAhead();
  }

  void Walk(const Op& op) {
    most_ = std::max(most_, live_);
    if (KeepsTiles(op) || IsTakenAnew(op)) kept_.push_back({&op, at_once_, changes_.size()});
    if (op.code == OpCode::kStoreShared) behind_stores_.push_back({&op, live_, changes_.size()});
    for (const ValueId result : op.results) SetLive(result, false);
    if (Overwrites(op)) SetLive(op.operands[0], false);
    op.code == OpCode::kIf ? WalkBranches(op) : WalkLoops(op);
    for (size_t i = Overwrites(op) ? 1 : 0; i < op.operands.size(); ++i) SetLive(op.operands[i], true);
    most_ = std::max(most_, live_);
    if (op.code == OpCode::kStore || op.code == OpCode::kStoreParts) most_stored_ = std::max(most_stored_, live_);
  }

  /// What any branch reads is in use in front, and what is in use behind, as no branch might be there.
  void WalkBranches(const Op& op) {
    Values read;
    for (const Region& region : op.regions) {
      const size_t before = undo_.size();
      Walk(region);
      std::copy_if(undo_.begin() + static_cast<std::ptrdiff_t>(before), undo_.end(), std::inserter(read, read.end()),
                   [&](ValueId value) { return tiles_[value].is_live; });
      Undo(before);
    }
    for (const ValueId value : read) SetLive(value, true);
  }

  void WalkLoops(const Op& op) {
    for (const Region& region : op.regions) {
      for (const ValueId value : read_first_.at(&region)) SetLive(value, true);
      const size_t before = undo_.size();
      Walk(region);
      Undo(before);
    }
  }

  bool IsAhead(const Op& op) const {
    if (op.code == OpCode::kLoadShared) return loads_ == Loads::kAllTogether;
    return loads_ != Loads::kInPlace && (ir::LoadsTile(op) || op.code == OpCode::kReadParts);
  }

  /// A tile that has registers of its own beside those of the one that it is.
  bool IsTakenAnew(const Op& op) const {
    return op.code == OpCode::kConvert && op.Is(ir::kConvertAnew) &&
           kernel_.TypeOf(op.results[0]) == kernel_.TypeOf(op.operands[0]);
  }

  void SetLive(ValueId value, bool is_live) {
    if (tiles_[value].is_live == is_live) return;
    ChangeLive(value);
    undo_.push_back(value);
  }

  void ChangeLive(ValueId value) {
    Tile& tile = tiles_[value];
    tile.is_live = !tile.is_live;
    changes_.push_back({value, false});
    Count(value, &Tile::live, live_, tile.is_live);
    if (!tile.is_ahead) Count(value, &Tile::at_once, at_once_, tile.is_live);
  }

  /// Makes live what was when `undo_` had that size.
  void Undo(size_t size) {
    for (; undo_.size() > size; undo_.pop_back()) ChangeLive(undo_.back());
  }

  void SetAhead(ValueId value, bool is_ahead) {
    Tile& tile = tiles_[value];
    if (tile.is_ahead == is_ahead) return;
    tile.is_ahead = is_ahead;
    changes_.push_back({value, true});
    if (is_ahead) ahead_.push_back(value);
    if (!tile.is_live) Count(value, &Tile::at_once, at_once_, is_ahead);
  }

  void ClearAhead() {
    for (; !ahead_.empty(); ahead_.pop_back()) SetAhead(ahead_.back(), false);
  }

  void Count(ValueId value, int Tile::* times, int64_t& sum, bool enters) {
    const ValueId counted = counting_.as(value);
    Tile& tile = tiles_[counted];
    if (tile.registers < 0) tile.registers = counting_.registers(counted);
    if (enters && (tile.*times)++ == 0) sum += tile.registers;
    if (!enters && --(tile.*times) == 0) sum -= tile.registers;
  }

  const ir::Kernel& kernel_;
  Loads loads_;
  Counting counting_;
  std::vector<Tile> tiles_;  // by value
  std::map<const Region*, Values> read_first_;
  std::vector<ValueId> ahead_;  // what further loads of the statement bring
  std::vector<ValueId> undo_;   // whose being live changed, the last one last
  std::vector<Change> changes_;
  int64_t live_ = 0, at_once_ = 0;  // registers of what is live; with what is ahead
  int64_t most_ = 0, most_stored_ = 0;
  std::vector<Place> kept_, behind_stores_;
};

/// The tiles that have registers.
std::vector<ValueId> LargestFirst(const ir::Kernel& kernel, const ir::RegisterLayout& layout, Columns columns,
                                  const Values& in_use) {
  std::vector<std::pair<int64_t, ValueId>> tiles;  // less than none, so that they sort
  for (const ValueId value : in_use) {
    if (const int64_t registers = RegistersOf(kernel.TypeOf(value), layout, columns)) tiles.emplace_back(-registers, value);
  }
  std::sort(tiles.begin(), tiles.end());
  std::vector<ValueId> largest_first;
  for (const auto& [registers, value] : tiles) largest_first.push_back(value);
  return largest_first;
}

/// The most behind operations that keep tiles and for which `counts` holds.
template <typename Counts>
LiveTiles MostBehind(const ir::Kernel& kernel, const ir::Worker& worker, Loads loads, Columns columns, const Counts& counts) {
  const AsTheyAre tiles(kernel, worker, columns);
  const Liveness liveness(kernel, worker, loads, tiles.Counts());
  LiveTiles most;
  const Liveness::Place* there = nullptr;
  for (const Liveness::Place& place : liveness.kept()) {
    const int64_t registers = place.registers + RegistersOfScan(*place.where);
    if (registers < most.registers || registers == 0 || !counts(*place.where)) continue;
    most = {registers, place.where, {}};
    there = &place;
  }
  if (there) most.in_use = LargestFirst(kernel, worker.layout, columns, liveness.InUse(*there));
  return most;
}

}  // namespace

int64_t RegistersOf(const ir::Type& type, const ir::RegisterLayout& l, Columns columns) {
  if (type.space == ir::Space::kLeft || type.space == ir::Space::kRight) {
    // A fragment is dealt to the lanes of each warp that needs it.
    const int64_t warps = type.space == ir::Space::kLeft ? l.warp_rows : l.warp_cols;
    return std::max<int64_t>(1, type.Bytes() / (4 * warps * l.lanes * l.lane_rows));
  }
  if (type.space != ir::Space::kRegister) return 0;
  constexpr int64_t kManyHeld = 32;
  int64_t elements = l.PerThread(type.rows, type.cols);
  // Fewer go by what is set aside for addresses.
  const bool is_few = columns == Columns::kDealt || elements < kManyHeld;
  const int64_t lanes = std::max<int64_t>(layout::kLanes, int64_t{l.lanes} * l.lane_rows);  // of a warp
  if (is_few && type.cols == 1 && type.rows > 1) elements = std::min(elements, type.rows / lanes);
  constexpr int kRegisterBytes = 4;
  const int least = l.vec == 1 ? kRegisterBytes : 1;  // an element without a neighbour has a register to itself
  return std::max<int64_t>(1, elements * std::max(Bytes(type.dtype), least) / kRegisterBytes);
}

int64_t RegistersOfTwoSteps(const ir::Type& sum, const ir::Type& left, const ir::Type& right, const ir::RegisterLayout& layout) {
  return RegistersOf(sum, layout) + 2 * (RegistersOf(left, layout) + RegistersOf(right, layout));
}

bool KeepsTiles(const ir::Op& op) {
  const bool is_load = ir::LoadsTile(op) || op.code == OpCode::kReadParts || op.code == OpCode::kLoadShared;
  return is_load || ir::ReducesOrScans(op.code) || ir::IsProduct(op.code);
}

bool IsLongFunction(const ir::Kernel& kernel, const ir::Op& op) {
  if (op.code == OpCode::kUnary) return op.Is(typed::Op::kSin) || op.Is(typed::Op::kCos);
  const bool divides = op.code == OpCode::kBinary && (op.Is(typed::Op::kDiv) || op.Is(typed::Op::kMod));
  return divides && !IsFloat(kernel.TypeOf(op.results[0]).dtype);
}

int64_t MostLiveRegisters(const ir::Kernel& kernel, const ir::Worker& worker, Columns columns) {
  const AsTheyAre tiles(kernel, worker, columns);
  return Liveness(kernel, worker, Loads::kInPlace, tiles.Counts()).most();
}

int64_t MostStoredRegisters(const ir::Kernel& kernel, const ir::Worker& worker, Columns columns) {
  const AsTheyAre tiles(kernel, worker, columns);
  return Liveness(kernel, worker, Loads::kInPlace, tiles.Counts()).most_stored();
}

LiveTiles MostKeptTiles(const ir::Kernel& kernel, const ir::Worker& worker, Loads loads, Columns columns) {
  return MostBehind(kernel, worker, loads, columns, [](const Op&) { return true; });
}

LiveTiles MostBesideReductions(const ir::Kernel& kernel, const ir::Worker& worker) {
  return MostBehind(kernel, worker, Loads::kInPlace, Columns::kDealt,
                    [](const Op& op) { return ir::ReducesOrScans(op.code) || ir::IsProduct(op.code); });
}

Values KeptBeside(const ir::Kernel& kernel, const ir::Worker& worker, int64_t registers, Loads loads) {
  const AsTheyAre tiles(kernel, worker, Columns::kDealt);
  const Liveness liveness(kernel, worker, loads, tiles.Counts());
  std::vector<Liveness::Place> places;
  std::copy_if(liveness.kept().begin(), liveness.kept().end(), std::back_inserter(places),
               [&](const Liveness::Place& place) { return place.registers + RegistersOfScan(*place.where) > registers; });
  return liveness.InUseAtAny(places);
}

std::map<const Op*, int64_t> RegistersBehind(const ir::Kernel& kernel, const ir::Worker& worker, Loads loads,
                                             const Counting& counting) {
  const Liveness liveness(kernel, worker, loads, counting);
  std::map<const Op*, int64_t> registers;
  for (const Liveness::Place& place : liveness.kept()) registers[place.where] = place.registers;
  for (const Liveness::Place& place : liveness.behind_stores()) registers[place.where] = place.registers;
  return registers;
}

}  // namespace tkc::passes

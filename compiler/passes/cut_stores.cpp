// SPDX-License-Identifier: MIT
#include "compiler/passes/cut_stores.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "compiler/passes/convert_anew.h"
#include "compiler/passes/live_tiles.h"
#include "compiler/passes/register_shares.h"
#include "compiler/passes/walk.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

/// The axis along which the columns of a tile lie in the tensor; none: it has but one column.
ir::AxisRange* AxisOfColumns(Op& access) {
  std::vector<ir::AxisRange*> kept;
  for (ir::AxisRange& axis : access.axes) {
    if (!axis.dropped) kept.push_back(&axis);
  }
  const bool is_turned = access.slot == "transposed";
  if (kept.empty() || (kept.size() == 1 && !is_turned)) return nullptr;
  return is_turned ? kept.front() : kept.back();
}

/// What may be done later, in front of a store that follows: it reads tiles, scalars, and tensors that the kernel does not write.
bool MayWait(const Op& op) {
  switch (op.code) {
    case OpCode::kRead: return op.number == 0;
    case OpCode::kFill:
    case OpCode::kUnary:
    case OpCode::kBinary:
    case OpCode::kSelect:
    case OpCode::kConvert:
    case OpCode::kPositions: return true;
    default: return false;
  }
}

/// A store, and the operations before it in its region that are done for it alone.
struct Statement {
  size_t begin = 0, store = 0;
  std::set<size_t> own;
};

class Cutting {
 public:
  Cutting(ir::Kernel& kernel, ir::Worker& worker) : kernel_(kernel), worker_(worker) {}

  void FitInto(int64_t registers) {
    if (!worker_.layout.IsFragment() && MostKeptTiles(kernel_, worker_).registers > registers) Visit(worker_.body, registers);
  }

 private:
  void Visit(Region& region, int64_t registers) {
    for (size_t i = 0; i < region.size(); ++i) {
      for (Region& inner : region[i].regions) Visit(inner, registers);
      if (region[i].code == OpCode::kStore) i = Cut(region, FindStatement(region, i), registers);
    }
  }

  int64_t Columns(ValueId value) const { return kernel_.values[value].type.cols; }

  Statement FindStatement(Region& region, size_t store) const {
    Statement found{store, store, {}};
    const int64_t columns = Columns(region[store].operands[0]);
    if (!AxisOfColumns(region[store])) return found;
    std::map<ValueId, int> uses;  // within the statement
    const auto take = [&](const Op& op) {
      for (const ValueId operand : op.operands) ++uses[operand];
    };
    take(region[store]);
    while (found.begin > 0 && MayWait(region[found.begin - 1])) {
      const Op& op = region[--found.begin];
      const ValueId result = op.results[0];
      if (Columns(result) != columns || !uses.contains(result) || uses[result] != CountUses(worker_.body, result)) continue;
      take(op);
      found.own.insert(found.begin);
    }
    return found;
  }

  /// The most registers in use at once behind the loads of these operations, when convert_anew has done what it can.
  int64_t Kept(const Region& region, size_t first, size_t end) const {
    std::set<const Op*> loads;
    const auto take = [&](const Op& op) {
      if (op.code == OpCode::kRead) loads.insert(&op);
    };
    for (size_t i = first; i < end; ++i) {
      take(region[i]);
      for (const Region& inner : region[i].regions) ForEachOp(inner, take);
    }
    const std::map<ValueId, const Op*> widening = FindWidening(kernel_, worker_);
    int64_t most = 0;
    for (const LiveTiles& kept : KeptTiles(kernel_, worker_)) {
      if (!loads.contains(kept.where)) continue;
      std::set<ValueId> tiles;  // those in use once conversions are done anew
      for (const ValueId tile : kept.in_use) tiles.insert(widening.contains(tile) ? widening.at(tile)->operands[0] : tile);
      int64_t registers = 0;
      for (const ValueId tile : tiles) registers += RegistersOf(kernel_.values[tile].type, worker_.layout);
      most = std::max(most, registers);
    }
    return most;
  }

  /// Into as few parts as registers allow; if they never suffice, into as few as take the least. Returns where the store stands
  /// then.
  size_t Cut(Region& region, const Statement& statement, int64_t registers) {
    const int64_t columns = Columns(region[statement.store].operands[0]);
    const int64_t least_columns = worker_.layout.ColsPerBlock();  // 1: rows lie in single threads
    const int64_t most_parts = least_columns > 1 && columns % least_columns == 0 ? columns / least_columns : 1;
    int64_t least = Kept(region, statement.begin, statement.store), best = 1;
    if (least <= registers || most_parts == 1) return statement.store;
    const Region whole = region;
    parts_.clear();
    const size_t loop = statement.store - statement.own.size();
    const auto cut_into = [&](int64_t parts) {
      region = InParts(whole, statement, columns, columns / parts);
      for (const size_t own : statement.own) kernel_.values[whole[own].results[0]].type.cols = columns / parts;
    };
    // One part is the statement with its loads in front, where the compiler of the output puts them by itself.
    for (int64_t parts = 1; parts <= most_parts && least > registers; ++parts) {
      if (most_parts % parts != 0) continue;
      cut_into(parts);
      const int64_t kept = Kept(region, loop, loop + 1);
      if (kept >= least) continue;
      least = kept;
      best = parts;
    }
    cut_into(best);
    if (best == 1) region = whole;
    return best == 1 ? statement.store : loop;
  }

  /// The region with the store in a loop over parts of `columns` of `whole` columns.
  Region InParts(const Region& region, const Statement& statement, int64_t whole, int64_t columns) {
    const Op& store = region[statement.store];
    Region out(region.begin(), region.begin() + static_cast<std::ptrdiff_t>(statement.begin));
    Region loads, others;
    for (size_t i = statement.begin; i < statement.store; ++i) {
      Region& place = !statement.own.contains(i) ? out : region[i].code == OpCode::kRead ? loads : others;
      place.push_back(region[i]);
    }
    others.push_back(store);
    Op loop{OpCode::kUnroll};
    loop.symbol = ir::FreeName(kernel_.UsedNames(), store.symbol + "_chunk");
    loop.number = whole / columns;
    loop.span = store.span;
    loop.regions = {Part(loads, others, symbolic::Mul(symbolic::Name(loop.symbol), symbolic::Int(columns)), columns)};
    out.push_back(std::move(loop));
    out.insert(out.end(), region.begin() + static_cast<std::ptrdiff_t>(statement.store) + 1, region.end());
    return out;
  }

  /// The statement for its columns from `first` on: loads in front, so that all are under way before the first is used.
  Region Part(const Region& loads, const Region& others, const ir::Scalar& first, int64_t columns) {
    std::set<ValueId> own;
    for (const Region* ops : {&loads, &others}) {
      for (const Op& op : *ops) own.insert(op.results.begin(), op.results.end());
    }
    Region out;
    std::map<ValueId, ValueId> parts;  // of tiles that stay whole
    const auto narrow = [&](Op op) {
      for (ValueId& operand : op.operands) {
        if (own.contains(operand) || Columns(operand) == 1) continue;
        if (!parts.contains(operand)) {
          parts[operand] = PartOf(operand, columns);
          out.push_back({OpCode::kPart, {parts[operand]}, {operand}, {symbolic::Int(0), first}});
          out.back().span = op.span;
        }
        operand = parts.at(operand);
      }
      if (op.code == OpCode::kPositions) op.scalars[0] = symbolic::Add(op.scalars[0], first);
      if (ir::AxisRange* axis = AxisOfColumns(op)) {
        axis->start = symbolic::Add(axis->start, first);
        axis->extent = columns;
      }
      out.push_back(std::move(op));
    };
    std::for_each(loads.begin(), loads.end(), narrow);
    std::for_each(others.begin(), others.end(), narrow);
    return out;
  }

  /// The value for a part of a tile; the same one whatever its columns.
  ValueId PartOf(ValueId tile, int64_t columns) {
    const ir::Value whole = kernel_.values[tile];
    const auto place = parts_.find(tile);
    const ValueId part = place != parts_.end() ? place->second : kernel_.AddValue(whole.name + "_columns", whole.type);
    parts_[tile] = part;
    kernel_.values[part].type.cols = columns;
    return part;
  }

  ir::Kernel& kernel_;
  ir::Worker& worker_;
  std::map<ValueId, ValueId> parts_;  // of tiles that stay whole, for the statement at hand
};

}  // namespace

Result<void> CutStores(ir::Kernel& kernel, const Target& target, Diagnostics&) {
  const int64_t registers = ShareRegisters(kernel, target).for_tiles;
  for (ir::Worker& worker : kernel.workers) {
    if (worker.kind == ir::RoleKind::kCompute) Cutting(kernel, worker).FitInto(registers);
  }
  return {};
}

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
#include "compiler/passes/store_parts.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/passes/convert_anew.h"
#include "compiler/passes/live_tiles.h"

namespace tkc::passes {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

ir::AxisRange* StoreParts::AxisOf(Op& access) const {
  std::vector<ir::AxisRange*> kept;
  for (ir::AxisRange& axis : access.axes) {
    if (!axis.dropped) kept.push_back(&axis);
  }
  const bool is_turned = access.IsTurned();
  if (ir::GathersRows(access)) return by_rows_ ? nullptr : kept.front();
  if (kept.empty() || (kept.size() == 1 && by_rows_ == is_turned)) return nullptr;
  return by_rows_ != is_turned ? kept.front() : kept.back();
}

/// What may be done later, in front of a store that follows: it reads tiles, scalars, and tensors that the grid does not write.
bool StoreParts::MayWait(const Op& op) const {
  if (ir::LoadsTile(op)) return KeepsTensor(kernel_, op.symbol) && !(by_rows_ && ir::GathersRows(op));
  if (ir::ReducesOrScans(op.code)) return by_rows_ && op.IsOfRows() && op.symbol.empty();
  return ir::ComputesElements(op.code);
}

StoreStatement StoreParts::Find(Region& region, size_t store) const {
  StoreStatement found{store, store, {}};
  const int64_t extent = ExtentOf(region[store].operands[0]);
  if (!AxisOf(region[store])) return found;
  std::map<ValueId, int> uses;  // within the statement
  const auto take = [&](const Op& op) {
    for (const ValueId operand : op.operands) ++uses[operand];
  };
  take(region[store]);
  while (found.begin > 0 && MayWait(region[found.begin - 1])) {
    const Op& op = region[--found.begin];
    const ValueId result = op.results[0];
    if (ExtentOf(result) != extent || !uses.contains(result) || uses[result] != CountUses(worker_.body, result)) continue;
    take(op);
    found.own.insert(found.begin);
  }
  return found;
}

int64_t StoreParts::Kept(const Region& region, size_t first, size_t end) const {
  std::set<const Op*> loads;
  const auto take = [&](const Op& op) {
    if (ir::LoadsTile(op)) loads.insert(&op);
  };
  for (size_t i = first; i < end; ++i) {
    take(region[i]);
    for (const Region& inner : region[i].regions) ForEachOp(inner, take);
  }
  const std::map<ValueId, const Op*> widening = FindWidening(kernel_, worker_);
  const Counting once_converted_anew{[&](ValueId tile) { return widening.contains(tile) ? widening.at(tile)->operands[0] : tile; },
                                     [&](ValueId tile) { return RegistersOf(kernel_.TypeOf(tile), worker_.layout); }};
  int64_t most = 0;
  for (const auto& [op, kept] : RegistersBehind(kernel_, worker_, Loads::kInPlace, once_converted_anew)) {
    if (loads.contains(op)) most = std::max(most, kept);
  }
  return most;
}

int64_t StoreParts::MostParts(const Region& region, const StoreStatement& statement) const {
  const int64_t extent = ExtentOf(region[statement.store].operands[0]);
  const int64_t least = by_rows_ ? worker_.layout.RowsPerBlock() : worker_.layout.ColsPerBlock();  // 1: rows lie in single threads
  if (least <= 1 || extent % least != 0) return 1;
  if (by_rows_ && TakesOthersRows(region, statement)) return 1;
  return extent / least;
}

/// Rows of tiles that stay whole lie where they lie.
bool StoreParts::TakesOthersRows(const Region& region, const StoreStatement& statement) const {
  std::set<ValueId> own;
  for (const size_t i : statement.own) own.insert(region[i].results.begin(), region[i].results.end());
  const auto takes = [&](const Op& op) {
    return std::any_of(op.operands.begin(), op.operands.end(),
                       [&](ValueId value) { return !own.contains(value) && ExtentOf(value) > 1; });
  };
  return takes(region[statement.store]) ||
         std::any_of(statement.own.begin(), statement.own.end(), [&](size_t i) { return takes(region[i]); });
}

StoreParts::Operations StoreParts::Split(const Region& region, const StoreStatement& statement) const {
  Operations operations;
  for (const size_t own : statement.own) {
    (ir::LoadsTile(region[own]) ? operations.loads : operations.others).push_back(region[own]);
  }
  operations.others.push_back(region[statement.store]);
  return operations;
}

void StoreParts::Narrow(const Operations& operations, int64_t extent) {
  for (const Region* ops : {&operations.loads, &operations.others}) {
    for (const Op& op : *ops) {
      for (const ValueId result : op.results) {
        ir::Type& type = kernel_.TypeOf(result);
        (by_rows_ ? type.rows : type.cols) = extent;
      }
    }
  }
}

Region StoreParts::Part(const Region& operations, const Operations& statement, const ir::Scalar& first, int64_t extent) {
  std::set<ValueId> own;
  for (const Region* ops : {&statement.loads, &statement.others}) {
    for (const Op& op : *ops) own.insert(op.results.begin(), op.results.end());
  }
  Region out;
  std::set<ValueId> present;
  for (Op op : operations) {
    for (ValueId& operand : op.operands) {
      if (own.contains(operand) || ExtentOf(operand) == 1) continue;
      const ValueId part = PartOf(operand, extent);
      if (present.insert(part).second) {
        out.push_back({OpCode::kPart, {part}, {operand}, {symbolic::Int(0), first}});
        out.back().span = op.span;
      }
      operand = part;
    }
    if (op.code == OpCode::kPositions) op.scalars[0] = symbolic::Add(op.scalars[0], first);
    if (ir::AxisRange* axis = AxisOf(op)) {
      axis->start = symbolic::Add(axis->start, first);
      axis->extent = extent;
    }
    out.push_back(std::move(op));
  }
  return out;
}

/// The value for a part of a tile; the same one whatever its columns.
ValueId StoreParts::PartOf(ValueId tile, int64_t columns) {
  const ir::Value whole = kernel_.values[tile];
  const auto place = parts_.find(tile);
  const ValueId part = place != parts_.end() ? place->second : kernel_.AddValueAfter(tile, "_columns", whole.type);
  parts_[tile] = part;
  kernel_.TypeOf(part).cols = columns;
  return part;
}

}  // namespace tkc::passes

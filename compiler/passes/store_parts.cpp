// SPDX-License-Identifier: MIT
#include "compiler/passes/store_parts.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/passes/convert_anew.h"
#include "compiler/passes/live_tiles.h"
#include "compiler/passes/walk.h"

namespace tkc::passes {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

namespace {

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

/// What may be done later, in front of a store that follows: it reads tiles, scalars, and tensors that the grid does not write.
bool MayWait(const ir::Kernel& kernel, const Op& op) {
  switch (op.code) {
    case OpCode::kRead: return KeepsTensor(kernel, op.symbol);
    case OpCode::kFill:
    case OpCode::kUnary:
    case OpCode::kBinary:
    case OpCode::kSelect:
    case OpCode::kConvert:
    case OpCode::kPositions: return true;
    default: return false;
  }
}

}  // namespace

StoreStatement StoreParts::Find(Region& region, size_t store) const {
  StoreStatement found{store, store, {}};
  const int64_t columns = Columns(region[store].operands[0]);
  if (!AxisOfColumns(region[store])) return found;
  std::map<ValueId, int> uses;  // within the statement
  const auto take = [&](const Op& op) {
    for (const ValueId operand : op.operands) ++uses[operand];
  };
  take(region[store]);
  while (found.begin > 0 && MayWait(kernel_, region[found.begin - 1])) {
    const Op& op = region[--found.begin];
    const ValueId result = op.results[0];
    if (Columns(result) != columns || !uses.contains(result) || uses[result] != CountUses(worker_.body, result)) continue;
    take(op);
    found.own.insert(found.begin);
  }
  return found;
}

int64_t StoreParts::Kept(const Region& region, size_t first, size_t end) const {
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

int64_t StoreParts::MostParts(const Region& region, const StoreStatement& statement) const {
  const int64_t columns = Columns(region[statement.store].operands[0]);
  const int64_t least_columns = worker_.layout.ColsPerBlock();  // 1: rows lie in single threads
  return least_columns > 1 && columns % least_columns == 0 ? columns / least_columns : 1;
}

StoreParts::Operations StoreParts::Split(const Region& region, const StoreStatement& statement) const {
  Operations operations;
  for (const size_t own : statement.own) {
    (region[own].code == OpCode::kRead ? operations.loads : operations.others).push_back(region[own]);
  }
  operations.others.push_back(region[statement.store]);
  return operations;
}

void StoreParts::Narrow(const Operations& operations, int64_t columns) {
  for (const Region* ops : {&operations.loads, &operations.others}) {
    for (const Op& op : *ops) {
      for (const ValueId result : op.results) kernel_.values[result].type.cols = columns;
    }
  }
}

Region StoreParts::Part(const Region& operations, const Operations& statement, const ir::Scalar& first, int64_t columns) {
  std::set<ValueId> own;
  for (const Region* ops : {&statement.loads, &statement.others}) {
    for (const Op& op : *ops) own.insert(op.results.begin(), op.results.end());
  }
  Region out;
  std::set<ValueId> present;
  for (Op op : operations) {
    for (ValueId& operand : op.operands) {
      if (own.contains(operand) || Columns(operand) == 1) continue;
      const ValueId part = PartOf(operand, columns);
      if (present.insert(part).second) {
        out.push_back({OpCode::kPart, {part}, {operand}, {symbolic::Int(0), first}});
        out.back().span = op.span;
      }
      operand = part;
    }
    if (op.code == OpCode::kPositions) op.scalars[0] = symbolic::Add(op.scalars[0], first);
    if (ir::AxisRange* axis = AxisOfColumns(op)) {
      axis->start = symbolic::Add(axis->start, first);
      axis->extent = columns;
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
  kernel_.values[part].type.cols = columns;
  return part;
}

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
#include "compiler/passes/columns_of_block.h"

#include <algorithm>
#include <map>
#include <vector>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::Scalar;
using ir::ValueId;

/// Reads a tile, or computes its elements: any columns of it can be had alone.
bool MakesColumns(OpCode code) { return code == OpCode::kRead || ir::ComputesElements(code); }

/// The operations that are not in loops, of branches those behind number `loop` of the region.
template <typename Visit>
void ForEachOutside(const Region& region, size_t loop, Visit visit) {
  for (size_t i = 0; i < region.size(); ++i) {
    visit(region[i]);
    if (region[i].code != OpCode::kIf || i < loop) continue;
    for (const Region& branch : region[i].regions) ForEachOutside(branch, 0, visit);
  }
}

}  // namespace

bool ColumnsOfBlock::FindTurned(const Region& body, size_t loop) {
  return AddTurned(body, loop, cols_, 1, narrowed_rows_) && AddTurned(body, loop, 1, cols_, whole_);
}

/// Collects the vectors of such a shape that are turned around behind the sum, and those that they are computed from element by
/// element. False if one of them has another use, or is made otherwise: then it would have to be narrowed and whole.
bool ColumnsOfBlock::AddTurned(const Region& body, size_t loop, int64_t rows, int64_t cols, std::set<ValueId>& turned) const {
  std::map<ValueId, const Op*> vectors;
  ForEachOutside(body, loop, [&](const Op& op) {
    if (op.results.size() == 1 && MakesColumns(op.code)) vectors[op.results[0]] = &op;
  });
  std::vector<ValueId> found;
  const auto add = [&](const Op& op) {
    for (const ValueId value : op.operands) {
      const ir::Type& type = kernel_.TypeOf(value);
      if (type.rows == rows && type.cols == cols && turned.insert(value).second) found.push_back(value);
    }
  };
  std::set<const Op*> turns;
  ForEachOutside(body, loop, [&](const Op& op) {
    if (op.code != OpCode::kTranspose) return;
    add(op);
    turns.insert(&op);
  });
  while (!found.empty()) {
    const auto vector = vectors.find(found.back());
    if (vector == vectors.end()) return false;
    found.pop_back();
    add(*vector->second);
  }
  bool is_only_turned = true;
  ForEachOp(body, [&](const Op& op) {
    if (turns.contains(&op) || (!op.results.empty() && turned.contains(op.results[0]))) return;
    is_only_turned &= std::none_of(op.operands.begin(), op.operands.end(), [&](ValueId value) { return turned.contains(value); });
  });
  return is_only_turned;
}

bool ColumnsOfBlock::NarrowFront(Region& front, const Op& loop) {
  std::set<ValueId> asked;
  const auto ask = [&](const Op& op) { asked.insert(op.operands.begin(), op.operands.end()); };
  ForEachOp(loop.regions[0], ask);
  std::set<const Op*> narrowed;
  for (auto op = front.rbegin(); op != front.rend(); ++op) {
    const bool has_result = op->results.size() == 1 && (MakesColumns(op->code) || op->code == OpCode::kTranspose);
    const bool turns = has_result && narrowed_rows_.contains(op->results[0]);
    const bool lies_along = has_result && kernel_.TypeOf(op->results[0]).cols == cols_ && !whole_.contains(op->results[0]);
    if ((turns || lies_along) && !asked.contains(op->results[0])) {
      narrowed.insert(&*op);
      continue;
    }
    if (turns) narrowed_rows_.erase(op->results[0]);
    ask(*op);
    for (const Region& region : op->regions) ForEachOp(region, ask);
  }
  return std::all_of(front.begin(), front.end(), [&](Op& op) { return !narrowed.contains(&op) || NarrowOp(op); });
}

std::optional<Span> ColumnsOfBlock::NarrowTail(Region& tail, ValueId acc, ValueId part) {
  narrowed_.insert(part);
  return NarrowRegion(tail, acc, part);
}

/// All blocks of a cluster take the same branches.
std::optional<Span> ColumnsOfBlock::NarrowRegion(Region& region, ValueId acc, ValueId part) {
  for (Op& op : region) {
    std::replace(op.operands.begin(), op.operands.end(), acc, part);
    if (op.code != OpCode::kIf && !NarrowOp(op)) return op.span;
    for (Region& branch : op.regions) {
      if (auto refused = NarrowRegion(branch, acc, part)) return refused;
    }
  }
  return std::nullopt;
}

/// Makes the operation work on this block's columns. False where that would change what it means.
bool ColumnsOfBlock::NarrowOp(Op& op) {
  if (!op.results.empty() && whole_.contains(op.results[0])) return true;
  switch (op.code) {
    case OpCode::kLet: return true;
    case OpCode::kStore:
      if (!narrowed_.count(op.operands[0])) return false;
      NarrowAxis(AxisAlong(op, true));
      return true;
    case OpCode::kRead:
    case OpCode::kPositions: NarrowSource(op); return true;
    case OpCode::kTranspose: {
      if (whole_.contains(op.operands[0])) return true;
      const ir::Type& type = kernel_.TypeOf(op.operands[0]);
      const bool is_vector = type.rows == 1 || type.cols == 1;
      const bool stays = type.rows == cols_ && !narrowed_rows_.contains(op.operands[0]);
      return is_vector && !stays && NarrowComputed(op);
    }
    default: return (ir::ComputesElements(op.code) || op.code == OpCode::kVar || op.code == OpCode::kAssign) && NarrowComputed(op);
  }
}

/// A read, or positions: the same from this block's first column on.
void ColumnsOfBlock::NarrowSource(Op& op) {
  const ValueId result = op.results[0];
  const bool is_turned = narrowed_rows_.contains(result);
  if (!is_turned && kernel_.TypeOf(result).cols != cols_) return;
  (is_turned ? kernel_.TypeOf(result).rows : kernel_.TypeOf(result).cols) /= kernel_.split;
  if (!is_turned) narrowed_.insert(result);
  if (op.code == OpCode::kRead)
    NarrowAxis(AxisAlong(op, !is_turned));
  else
    op.scalars[0] = symbolic::Add(op.scalars[0], First());
}

/// What is computed of other tiles: where those are this block's columns, it is, too.
bool ColumnsOfBlock::NarrowComputed(const Op& op) {
  const bool is_turned = !op.results.empty() && narrowed_rows_.contains(op.results[0]);
  const bool is_narrow = std::all_of(op.operands.begin(), op.operands.end(), [&](ValueId value) {
    return is_turned ? kernel_.TypeOf(value).rows != cols_ || narrowed_rows_.contains(value)
                     : kernel_.TypeOf(value).cols != cols_ || narrowed_.contains(value);
  });
  if (!is_narrow) return false;
  for (const ValueId value : op.results) {
    int64_t& extent = is_turned ? kernel_.TypeOf(value).rows : kernel_.TypeOf(value).cols;
    if (extent != cols_) continue;
    extent /= kernel_.split;
    if (!is_turned) narrowed_.insert(value);
  }
  return true;
}

Scalar ColumnsOfBlock::First() const {
  return symbolic::Mul(symbolic::Call("cluster::rank", DType::kI32, {}), symbolic::Int(cols_ / kernel_.split));
}

void ColumnsOfBlock::NarrowAxis(ir::AxisRange& axis) const {
  axis.start = symbolic::Add(axis.start, First());
  axis.extent /= kernel_.split;
}

/// The axis of memory along the tile's columns, or its rows: the last one that is kept or the first, the only one of a vector.
ir::AxisRange& ColumnsOfBlock::AxisAlong(Op& op, bool columns) {
  const auto is_kept = [](const ir::AxisRange& axis) { return !axis.dropped; };
  if (columns != (op.IsTurned())) return *std::find_if(op.axes.rbegin(), op.axes.rend(), is_kept);
  return *std::find_if(op.axes.begin(), op.axes.end(), is_kept);
}

}  // namespace tkc::passes

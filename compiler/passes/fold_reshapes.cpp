// SPDX-License-Identifier: MIT
#include "compiler/passes/fold_reshapes.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/ir/rewrite.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

class FoldingReshapes {
 public:
  explicit FoldingReshapes(ir::Kernel& kernel) : kernel_(kernel) {}

  Region Rewritten(const Region& region) {
    Region out;
    for (Op op : region) {
      ReplaceOperands(op, instead_);
      for (Region& inner : op.regions) inner = Rewritten(inner);
      if (op.code == OpCode::kGather && !ir::GathersRows(op) && IsOfOneShape(op)) {
        Uncut(std::move(op), out);
      } else if (op.code != OpCode::kReshape || !IsShapedBack(op)) {
        out.push_back(std::move(op));
      }
    }
    return out;
  }

 private:
  const ir::Value& ValueOf(ValueId value) const { return kernel_.values[static_cast<size_t>(value)]; }

  /// Notes where its result comes from, or that it is there already.
  bool IsShapedBack(const Op& reshape) {
    const ValueId from = reshape.operands[0], to = reshape.results[0];
    const auto cut = shaped_from_.find(from);
    if (cut != shaped_from_.end() && ir::HaveOneShape(ValueOf(cut->second).type, ValueOf(to).type)) {
      instead_[to] = cut->second;
      return true;
    }
    if (!ValueOf(from).is_mutable) shaped_from_[to] = from;
    return false;
  }

  /// Whether all columns are cut from tiles of one shape.
  bool IsOfOneShape(const Op& gather) const {
    return std::all_of(gather.operands.begin(), gather.operands.end(), [&](ValueId column) {
      const auto cut = shaped_from_.find(column), first = shaped_from_.find(gather.operands[0]);
      return cut != shaped_from_.end() && first != shaped_from_.end() &&
             ir::HaveOneShape(ValueOf(cut->second).type, ValueOf(first->second).type);
    });
  }

  void Uncut(Op gather, Region& out) {
    const ValueId column = gather.results[0];
    for (ValueId& operand : gather.operands) operand = shaped_from_.at(operand);
    ir::Type type = ValueOf(column).type;
    type.rows = ValueOf(gather.operands[0]).type.rows;
    type.cols = ValueOf(gather.operands[0]).type.cols;
    const ValueId tile = kernel_.AddValueAfter(column, "_chosen", type);
    gather.results = {tile};
    Op reshape{OpCode::kReshape, {column}, {tile}};
    reshape.span = gather.span;
    out.push_back(std::move(gather));
    shaped_from_[column] = tile;
    out.push_back(std::move(reshape));
  }

  ir::Kernel& kernel_;
  std::map<ValueId, ValueId> shaped_from_;  // of values that stay as they are
  std::map<ValueId, ValueId> instead_;
};

/// Columns that are wanted only as rows, turned or joined: read, counted, gathered by such, or computed element by element of such
/// and of numbers.
class ColumnsAsRows {
 public:
  ColumnsAsRows(ir::Kernel& kernel, Region& body) : kernel_(kernel), body_(body) {
    ForEachOp(body, [&](const Op& op) {
      const bool is_made = op.code == OpCode::kRead || op.code == OpCode::kPositions;
      if ((is_made || IsByElement(op)) && IsColumn(op.results[0])) columns_.insert(op.results[0]);
    });
    for (bool drops = true; drops;) {
      const size_t count = columns_.size();
      ForEachOp(body, [&](const Op& op) { DropUsedAsColumn(op); });
      drops = columns_.size() < count;
    }
    LeaveTurnedAsMade();
  }

  /// Those become rows, whose elements are in the same order.
  void MakeRows() {
    if (!columns_.empty()) body_ = WithRows(std::move(body_));
  }

 private:
  bool IsColumn(ValueId value) const {
    const ir::Value& is = kernel_.values[static_cast<size_t>(value)];
    return is.type.cols == 1 && is.type.rows > 1 && !is.is_mutable;
  }

  static bool IsByElement(const Op& op) {
    return ir::IsElementwise(op.code) || (op.code == OpCode::kGather && !ir::GathersRows(op));
  }

  void DropUsedAsColumn(const Op& op) {
    if (op.code == OpCode::kReshape || op.code == OpCode::kTranspose) return;
    const auto is_one_of_them = [&](ValueId value) { return columns_.contains(value) || kernel_.TypeOf(value).rows == 1; };
    if (IsByElement(op) && columns_.contains(op.results[0])) {
      if (std::all_of(op.operands.begin(), op.operands.end(), is_one_of_them)) return;
      columns_.erase(op.results[0]);
    }
    for (const ValueId operand : op.operands) columns_.erase(operand);
  }

  /// What is turned just as it was read or counted is made a row further below.
  void LeaveTurnedAsMade() {
    std::set<ValueId> turned, computed;
    ForEachOp(body_, [&](const Op& op) {
      std::set<ValueId>& uses = op.code == OpCode::kTranspose ? turned : computed;
      uses.insert(op.operands.begin(), op.operands.end());
    });
    ForEachOp(body_, [&](const Op& op) {
      if (op.results.empty() || IsByElement(op)) return;
      if (turned.contains(op.results[0]) && !computed.contains(op.results[0])) columns_.erase(op.results[0]);
    });
  }

  Region WithRows(Region region) {
    Region out;
    for (Op& op : region) {
      for (Region& inner : op.regions) inner = WithRows(std::move(inner));
      ReplaceOperands(op, rows_);
      if (op.code == OpCode::kTranspose && columns_.contains(op.operands[0])) {
        rows_[op.results[0]] = op.operands[0];
        continue;
      }
      const ValueId column = op.results.size() == 1 ? op.results[0] : ir::kNone;
      if (!columns_.contains(column)) {
        out.push_back(std::move(op));
        continue;
      }
      ir::Type& type = kernel_.values[static_cast<size_t>(column)].type;
      std::swap(type.rows, type.cols);
      if (op.code == OpCode::kPositions) op.SetOfRows(false);
      if (op.code != OpCode::kRead) {
        out.push_back(std::move(op));
        continue;
      }
      // A tensor's axis is read as a column, which is turned as it is read.
      ir::Type read = type;
      std::swap(read.rows, read.cols);
      op.results = {kernel_.AddValueAfter(column, "_column", read)};
      Op turn{OpCode::kTranspose, {column}, op.results};
      turn.span = op.span;
      out.push_back(std::move(op));
      out.push_back(std::move(turn));
    }
    return out;
  }

  ir::Kernel& kernel_;
  Region& body_;
  std::set<ValueId> columns_;
  std::map<ValueId, ValueId> rows_;  // what the source turned -> the row that is there already
};

/// Reshapes that nobody uses (any more).
bool DropReshapes(Region& region, const Region& body) {
  bool dropped = false;
  for (Op& op : region) {
    for (Region& inner : op.regions) dropped |= DropReshapes(inner, body);
  }
  const auto is_unused = [&](const Op& op) { return op.code == OpCode::kReshape && CountUses(body, op.results[0]) == 0; };
  const size_t count = region.size();
  std::vector<size_t> unused;
  for (size_t i = 0; i < count; ++i) {
    if (is_unused(region[i])) unused.push_back(i);
  }
  for (auto i = unused.rbegin(); i != unused.rend(); ++i) region.erase(region.begin() + static_cast<std::ptrdiff_t>(*i));
  return dropped || !unused.empty();
}

}  // namespace

Result<void> FoldReshapes(ir::Kernel& kernel, Diagnostics&) {
  for (ir::Worker& worker : kernel.workers) {
    if (!Contains(worker.body, OpCode::kReshape) && !Contains(worker.body, OpCode::kTranspose)) continue;
    worker.body = FoldingReshapes(kernel).Rewritten(worker.body);
    while (DropReshapes(worker.body, worker.body)) {
    }
    ColumnsAsRows(kernel, worker.body).MakeRows();
  }
  return {};
}

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
#include "compiler/passes/turn_products.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "compiler/passes/matrix_unit.h"
#include "compiler/passes/walk.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

bool IsVector(const ir::Type& type) { return type.rows == 1 || type.cols == 1; }

void Toggle(std::string& slot, const char* one, const char* other) { slot = slot == one ? other : one; }

class Turning {
 public:
  Turning(ir::Kernel& kernel, ir::Worker& worker) : kernel_(kernel), worker_(worker) {
    ForEachOp(worker.body, [&](const Op& op) {
      const bool is_view = IsViewOfView(op) && in_memory_.contains(op.operands[0]);
      if (op.code != OpCode::kReceive && !is_view) return;
      in_memory_.insert(op.results.begin(), op.results.end());
      if (op.code == OpCode::kTranspose) turned_from_[op.results[0]] = op.operands[0];
    });
    ForEachOp(worker.body, [&](const Op& op) {
      const bool is_tile = op.code == OpCode::kTranspose && !IsInMemory(op.operands[0]) && !IsVector(TypeOf(op.operands[0]));
      if (is_tile) stored_as_held_[op.results[0]] = op.operands[0];
      if (op.code == OpCode::kStore) return;
      for (const ValueId value : op.operands) stored_as_held_.erase(value);
    });
  }

  /// Whether every product gains by being turned or loses nothing, one gains, and nothing else stands in the way.
  bool Pays() const {
    bool gains = false, can_turn = true;
    ForEachOp(worker_.body, [&](const Op& op) {
      can_turn = can_turn && CanTurn(op);
      if (!can_turn || !IsProduct(op.code)) return;
      const ir::Type& sum = TypeOf(op.code == OpCode::kAccumulate ? op.operands[0] : op.results[0]);
      can_turn = sum.cols % kMatrixRows == 0 && sum.rows % kMatrixCols == 0 && sum.rows <= kMatrixMostCols;
      gains |= sum.rows > sum.cols || sum.rows % kMatrixRows != 0;
    });
    return can_turn && gains;
  }

  void Turn() {
    std::set<ValueId> results;
    worker_.turned = true;
    worker_.body = Turned(worker_.body, results);
    for (const ValueId value : results) std::swap(kernel_.values[value].type.rows, kernel_.values[value].type.cols);
  }

 private:
  const ir::Type& TypeOf(ValueId value) const { return kernel_.values[value].type; }
  bool IsInMemory(ValueId value) const { return in_memory_.contains(value); }
  bool LiesTurned(ValueId value) const { return turned_from_.contains(value); }

  bool CanTurn(const Op& op) const {
    switch (op.code) {
      case OpCode::kFor:
      case OpCode::kIf:
      case OpCode::kLet:
      case OpCode::kReceive:
      case OpCode::kPositions: return true;
      case OpCode::kPart: return IsInMemory(op.operands[0]);
      case OpCode::kTranspose:
        return IsInMemory(op.operands[0]) || IsVector(TypeOf(op.operands[0])) || stored_as_held_.contains(op.results[0]);
      case OpCode::kRead: return IsVector(TypeOf(op.results[0]));
      case OpCode::kMatmul:
      case OpCode::kAccumulate: return CanMultiplyTurned(op);
      case OpCode::kStore:
        if (!CanStoreTurned(op)) return false;
        [[fallthrough]];
      case OpCode::kFill:
      case OpCode::kVar:
      case OpCode::kAssign:
      case OpCode::kUnary:
      case OpCode::kBinary:
      case OpCode::kSelect:
      case OpCode::kConvert:
        return std::none_of(op.operands.begin(), op.operands.end(), [&](ValueId value) { return IsInMemory(value); });
      default: return false;
    }
  }

  /// Narrow elements are turned on their way to the copy engine, which stores floats of 16 bits; others go from registers, where
  /// eight lanes hold neighbours, and bytes would be stored one by one.
  bool CanStoreTurned(const Op& store) const {
    if (stored_as_held_.contains(store.operands[0])) return true;
    const DType dtype = FindTensor(kernel_, store.symbol).dtype;
    const bool goes_by_engine =
        IsFloat(dtype) && Bytes(dtype) == 2 && static_cast<typed::StoreOp>(store.number) == typed::StoreOp::kSet;
    return !store.axes.back().dropped && (goes_by_engine || Bytes(dtype) >= 4);
  }

  /// The unit reads elements of 16 bits either way, and others where the terms of a sum lie side by side.
  bool CanMultiplyTurned(const Op& product) const {
    const ValueId left = product.operands.end()[-2], right = product.operands.back();
    if (!IsInMemory(left) || !IsInMemory(right)) return false;
    const bool is_either_way = Bytes(TypeOf(left).dtype) == 2 && Bytes(TypeOf(right).dtype) == 2;
    return is_either_way || (!LiesTurned(left) && LiesTurned(right));
  }

  /// What lies in memory, turned around.
  ValueId Other(ValueId view, Region& out, Span span) {
    if (const auto from = turned_from_.find(view); from != turned_from_.end()) return from->second;
    ir::Type type = TypeOf(view);
    std::swap(type.rows, type.cols);
    Op turn{OpCode::kTranspose, {kernel_.AddValueAfter(view, "_turned", type)}, {view}};
    turn.span = span;
    out.push_back(turn);
    return turn.results[0];
  }

  /// `results`: those in registers, whose types are still what they were.
  Region Turned(const Region& region, std::set<ValueId>& results) {
    Region out;
    for (const Op& source : region) {
      Op op = source;
      for (Region& inner : op.regions) inner = Turned(inner, results);
      if (op.code == OpCode::kTranspose && stored_as_held_.contains(op.results[0])) continue;
      for (const ValueId value : op.results) {
        if (!IsInMemory(value)) results.insert(value);
      }
      const auto held = op.code == OpCode::kStore ? stored_as_held_.find(op.operands[0]) : stored_as_held_.end();
      if (held != stored_as_held_.end())
        op.operands[0] = held->second;
      else if (op.code == OpCode::kRead || op.code == OpCode::kStore)
        Toggle(op.slot, "", "transposed");
      if (op.code == OpCode::kPositions) Toggle(op.slot, "rows", "cols");
      if (IsProduct(op.code)) {
        ValueId &left = op.operands.end()[-2], &right = op.operands.end()[-1];
        const ValueId new_left = Other(right, out, op.span);
        right = Other(left, out, op.span);
        left = new_left;
      }
      out.push_back(std::move(op));
    }
    return out;
  }

  ir::Kernel& kernel_;
  ir::Worker& worker_;
  std::set<ValueId> in_memory_;                // what is received, and views of it
  std::map<ValueId, ValueId> turned_from_;     // such a view -> what it shows turned
  std::map<ValueId, ValueId> stored_as_held_;  // a tile that is turned to be stored, and for nothing else -> what is turned
};

}  // namespace

Result<void> TurnProducts(ir::Kernel& kernel, const Target& target, Diagnostics&) {
  if (!target.has_matrix_group) return {};
  for (ir::Worker& worker : kernel.workers) {
    Turning turning(kernel, worker);
    if (turning.Pays()) turning.Turn();
  }
  return {};
}

}  // namespace tkc::passes

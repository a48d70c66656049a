// SPDX-License-Identifier: MIT
#include "compiler/passes/apply_conditions.h"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/ir/rewrite.h"
#include "compiler/passes/known_ranges.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

class Conditions {
 public:
  explicit Conditions(ir::Kernel& kernel) : kernel_(kernel), known_(KnownAtLaunch(kernel)) {}

  /// The number of an instance, while it stands for all of them.
  void Enter(const ir::Worker& worker) {
    if (!worker.instance_name.empty()) known_.DefineWithin(worker.instance_name, {0, worker.instances - 1});
  }

  void Apply(Region& region) {
    std::erase_if(region, [&](const Op& op) { return IsEmpty(op) || IsNeverTaken(op); });
    for (Op& op : region) {
      for (ir::Scalar& scalar : op.scalars) {
        if (scalar && IsFloat(scalar->dtype)) scalar = known_.Fold(scalar);
      }
      if (op.code == OpCode::kLet && op.scalars[0]->dtype == DType::kI64) {
        if (const IntRange value = known_.Of(op.scalars[0]); value.IsOne()) op.scalars[0] = symbolic::Int(value.lo);
        known_.Define(op.symbol, op.scalars[0], op.number != ir::kStays);
        if (IsNumber(op)) Substitute(region, op.symbol, op.scalars[0]);
      }
      if (op.code == OpCode::kFor) known_.DefineSteps(op.symbol, op.scalars[0], op.number);
      ReplaceOperands(op, chosen_);
      Note(op);
      for (Region& inner : op.regions) Apply(inner);
    }
    std::erase_if(region, HasNoEffect);
  }

  /// A name for a number that is known: all that uses it has the number by now.
  static bool IsNumber(const Op& op) {
    return op.code == OpCode::kLet && op.number == ir::kStays && op.scalars[0]->dtype == DType::kI64 &&
           symbolic::IsInt(op.scalars[0]);
  }

  /// Removes what only the choices used that have been made.
  void DropUnused(Region& region) {
    std::erase_if(region, IsNumber);
    for (auto op = region.rbegin(); op != region.rend(); ++op) {
      for (Region& inner : op->regions) DropUnused(inner);
    }
    for (size_t left = region.size(); left > 0; --left) {
      const Op& op = region[left - 1];
      const bool may_go = op.results.size() == 1 && touched_.count(op.results[0]) > 0;
      const auto uses = [&](const Op& other) { return Uses(other, op.results[0]); };
      if (may_go && std::none_of(region.begin(), region.end(), uses))
        region.erase(region.begin() + static_cast<std::ptrdiff_t>(left - 1));
    }
  }

 private:
  bool IsEmpty(const Op& op) const {
    if (op.code != OpCode::kFor) return false;
    const IntRange first = known_.Of(op.scalars[0]), end = known_.Of(op.scalars[1]);
    return end.hi != IntRange::kMost && first.lo != IntRange::kLeast && end.hi <= first.lo &&
           !Contains(op.regions[0], OpCode::kSend) && !Contains(op.regions[0], OpCode::kReceive);
  }

  bool IsNeverTaken(const Op& op) const {
    return op.code == OpCode::kIf && op.regions[1].empty() && IsFalse(*op.scalars[0]) && !Contains(op.regions[0], OpCode::kSend) &&
           !Contains(op.regions[0], OpCode::kReceive);
  }

  bool IsFalse(const symbolic::Node& condition) const {
    using symbolic::Kind;
    if (condition.kind == Kind::kAnd) return IsFalse(*condition.args[0]) || IsFalse(*condition.args[1]);
    if (condition.args.size() != 2) return false;
    const IntRange difference = known_.Of(symbolic::Sub(condition.args[0], condition.args[1]));
    switch (condition.kind) {
      case Kind::kLt: return difference.lo >= 0;
      case Kind::kLe: return difference.lo > 0;
      case Kind::kGt: return difference.hi <= 0;
      case Kind::kGe: return difference.hi < 0;
      default: return false;
    }
  }

  /// A loop or a branch in which nothing happens that anybody behind it could see. What it computes is its own.
  static bool HasNoEffect(const Op& op) {
    if (op.code != OpCode::kFor && op.code != OpCode::kIf) return false;
    std::set<ValueId> own;
    for (const Region& inner : op.regions) {
      ForEachOp(inner, [&](const Op& each) { own.insert(each.results.begin(), each.results.end()); });
    }
    return std::all_of(op.regions.begin(), op.regions.end(), [&](const Region& inner) { return KeepsToItself(inner, own); });
  }
  static bool KeepsToItself(const Region& region, const std::set<ValueId>& own) {
    return std::all_of(region.begin(), region.end(), [&](const Op& op) {
      switch (op.code) {
        case OpCode::kLet: return op.number == ir::kStays;
        case OpCode::kAssign:
        case OpCode::kAssignPart:
        case OpCode::kAccumulate: return own.count(op.operands[0]) > 0;
        case OpCode::kRead:
        case OpCode::kGather:
        case OpCode::kComment: return true;
        case OpCode::kFor:
        case OpCode::kIf:
          return std::all_of(op.regions.begin(), op.regions.end(), [&](const Region& inner) { return KeepsToItself(inner, own); });
        default: return ir::OnlyComputes(op.code);
      }
    });
  }

  /// What is known of the operation's result: the positions in it, whether it is one truth everywhere, which value it selects.
  void Note(const Op& op) {
    if (op.results.size() != 1) return;
    const ValueId result = op.results[0];
    switch (op.code) {
      case OpCode::kPositions: {
        const ir::Type& type = kernel_.TypeOf(result);
        positions_[result] = Sum(known_.Of(op.scalars[0]), {0, std::max(type.rows, type.cols) - 1});
        touched_.insert(result);
        return;
      }
      case OpCode::kTranspose:
        if (const auto positions = positions_.find(op.operands[0]); positions != positions_.end()) {
          positions_[result] = IntRange{positions->second};
          touched_.insert(result);
        }
        return;
      case OpCode::kBinary: Shift(op); return Compare(op);
      case OpCode::kSelect: return Choose(op);
      default: return;
    }
  }

  /// Positions and a number: positions somewhere else.
  void Shift(const Op& op) {
    if (op.operands.size() != 1 || static_cast<typed::Op>(op.number) != typed::Op::kAdd) return;
    const auto positions = positions_.find(op.operands[0]);
    if (positions == positions_.end()) return;
    positions_[op.results[0]] = Sum(positions->second, RangeOf(op.scalars[0]));
    touched_.insert(op.results[0]);
  }

  /// A comparison of positions that has one answer, and the other one of two of which one has.
  void Compare(const Op& op) {
    const auto function = static_cast<typed::Op>(op.number);
    if (op.operands.size() == 2 && function == typed::Op::kAnd) {
      for (size_t i = 0; i < 2; ++i) {
        const ValueId other = op.operands[1 - i];
        const ir::Value& kept = kernel_.values[other];
        if (is_true_.count(op.operands[i]) == 0 || kept.is_mutable) continue;
        if (!ir::HaveOneShape(kept.type, kernel_.TypeOf(op.results[0]))) continue;
        touched_.insert(op.results[0]);
        if (is_true_.count(other) > 0) is_true_.insert(op.results[0]);
        chosen_[op.results[0]] = other;
        return;
      }
      return;
    }
    if (op.operands.size() != 1 || op.slot != "right") return;
    const auto positions = positions_.find(op.operands[0]);
    if (positions == positions_.end() || (function != typed::Op::kLt && function != typed::Op::kGe)) return;
    const IntRange bound = RangeOf(op.scalars[0]);
    touched_.insert(op.results[0]);
    const bool is_below = bound.lo != IntRange::kLeast && positions->second.hi < bound.lo;
    const bool is_above = bound.hi != IntRange::kMost && positions->second.lo >= bound.hi;
    if (function == typed::Op::kLt ? is_below : is_above) is_true_.insert(op.results[0]);
  }

  IntRange RangeOf(const ir::Scalar& scalar) const {
    return known_.Of(scalar->kind == symbolic::Kind::kConvert ? scalar->args[0] : scalar);
  }

  void Choose(const Op& op) {
    if (is_true_.count(op.operands[0]) == 0 || op.slot[0] != 't') return;
    const ir::Type& chosen = kernel_.TypeOf(op.operands[1]);
    if (!ir::HaveOneShape(chosen, kernel_.TypeOf(op.results[0])) || kernel_.values[op.operands[1]].is_mutable) return;
    chosen_[op.results[0]] = op.operands[1];
    ir::Value &result = kernel_.values[op.results[0]], &operand = kernel_.values[op.operands[1]];
    std::swap(result.name, operand.name);  // the name that the source gives
    std::swap(result.base, operand.base);
    touched_.insert(op.results[0]);
  }

  ir::Kernel& kernel_;
  KnownRanges known_;
  std::map<ValueId, IntRange> positions_;
  std::set<ValueId> is_true_;
  std::map<ValueId, ValueId> chosen_;
  std::set<ValueId> touched_;  // values that may have lost their last use
};

}  // namespace

Result<void> ApplyConditions(ir::Kernel& kernel, Diagnostics&) {
  Conditions conditions(kernel);
  conditions.Apply(kernel.lets);
  for (ir::Worker& worker : kernel.workers) {
    for (const Op& let : kernel.lets) {
      if (Conditions::IsNumber(let)) Substitute(worker.body, let.symbol, let.scalars[0]);
    }
    conditions.Enter(worker);
    conditions.Apply(worker.body);
    conditions.DropUnused(worker.body);
  }
  std::erase_if(kernel.lets, Conditions::IsNumber);
  return {};
}

}  // namespace tkc::passes

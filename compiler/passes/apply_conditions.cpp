// SPDX-License-Identifier: MIT
#include "compiler/passes/apply_conditions.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/ir/rewrite.h"
#include "compiler/passes/index_facts.h"
#include "compiler/passes/known_ranges.h"
#include "compiler/symbolic/polynomial.h"

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
    std::erase_if(region, [&](const Op& op) { return IsEmpty(op); });
    for (size_t i = 0; i < region.size(); ++i) {
      if (Decided(region, i)) {
        --i;
        continue;
      }
      Op& op = region[i];
      for (ir::Scalar& scalar : op.scalars) {
        if (scalar && IsFloat(scalar->dtype)) scalar = known_.Fold(scalar);
      }
      if (op.code == OpCode::kLet && op.scalars[0]->dtype == DType::kI64) {
        if (const IntRange value = known_.Of(op.scalars[0]); value.IsOne()) op.scalars[0] = symbolic::Int(value.lo);
        known_.Define(op.symbol, op.scalars[0], !op.Is(ir::kStays));
        if (IsNumber(op)) Substitute(region, op.symbol, op.scalars[0]);
      }
      if (op.code == OpCode::kFor) known_.EnterLoop(op);
      ReplaceOperands(op, chosen_);
      Note(op);
      for (Region& inner : op.regions) Apply(inner);
      if (op.code == OpCode::kFor) known_.LeaveLoop();
    }
    std::erase_if(region, HasNoEffect);
  }

  /// A name for a number that is known: all that uses it has the number by now.
  static bool IsNumber(const Op& op) {
    return op.code == OpCode::kLet && op.Is(ir::kStays) && op.scalars[0]->dtype == DType::kI64 && symbolic::IsInt(op.scalars[0]);
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
    return end.hi != IntRange::kMost && first.lo != IntRange::kLeast && end.hi <= first.lo && !HasTraffic(op.regions[0]);
  }

  /// Several workers have such branches and loops, and have to have them alike.
  static bool HasTraffic(const Region& region) { return Contains(region, OpCode::kSend) || Contains(region, OpCode::kReceive); }

  /// Puts the side that a branch always takes in its place. Names of its own keep one apart.
  bool Decided(Region& region, size_t branch) {
    Op& op = region[branch];
    if (op.code != OpCode::kIf || std::any_of(op.regions.begin(), op.regions.end(), HasTraffic)) return false;
    op.scalars[0] = WithoutDivisions(op.scalars[0]);
    const std::optional<bool> holds = Decide(*op.scalars[0]);
    if (!holds) return false;
    const Region taken = op.regions[*holds ? 0 : 1];
    const auto is_name = [](const Op& each) { return ir::DefinesScalars(each.code); };
    if (std::any_of(taken.begin(), taken.end(), is_name)) return false;
    const auto place = region.erase(region.begin() + static_cast<std::ptrdiff_t>(branch));
    region.insert(place, taken.begin(), taken.end());
    return true;
  }

  std::optional<bool> Decide(const symbolic::Node& condition) const {
    using symbolic::Kind;
    if (condition.kind == Kind::kBool) return condition.int_value != 0;
    if (condition.kind == Kind::kAnd || condition.kind == Kind::kOr) return DecideBoth(condition);
    if (condition.args.size() != 2 || condition.args[0]->dtype != DType::kI64) return std::nullopt;
    const IntRange difference = known_.Difference(condition.args[0], condition.args[1]);
    const bool is_less = difference.hi < 0, is_more = difference.lo > 0, is_equal = difference.IsOne() && difference.lo == 0;
    const auto decided = [](bool holds, bool fails) {
      return holds ? std::optional(true) : fails ? std::optional(false) : std::nullopt;
    };
    switch (condition.kind) {
      case Kind::kLt: return decided(is_less, difference.lo >= 0);
      case Kind::kLe: return decided(difference.hi <= 0, is_more);
      case Kind::kGt: return decided(is_more, difference.hi <= 0);
      case Kind::kGe: return decided(difference.lo >= 0, is_less);
      case Kind::kEq: return decided(is_equal, is_less || is_more);
      case Kind::kNe: return decided(is_less || is_more, is_equal);
      default: return std::nullopt;
    }
  }

  std::optional<bool> DecideBoth(const symbolic::Node& condition) const {
    const bool decides = condition.kind == symbolic::Kind::kOr;  // what one of them is alone
    const std::optional<bool> first = Decide(*condition.args[0]), second = Decide(*condition.args[1]);
    if (first == decides || second == decides) return decides;
    return first && second ? std::optional(!decides) : std::nullopt;
  }

  /// The number of a block is compared as where it begins: a division that leaves nothing is none.
  ir::Scalar WithoutDivisions(const ir::Scalar& condition) const {
    using symbolic::Kind;
    if (condition->kind == Kind::kAnd || condition->kind == Kind::kOr || condition->kind == Kind::kNot) {
      std::vector<ir::Scalar> parts;
      for (const ir::Scalar& part : condition->args) parts.push_back(WithoutDivisions(part));
      return symbolic::Make(condition->kind, DType::kBool, std::move(parts));
    }
    int64_t divisor = 0, number = 0;
    const bool divides = condition->args.size() == 2 && condition->args[0]->kind == Kind::kDiv &&
                         condition->args[0]->dtype == DType::kI64 && symbolic::IsInt(condition->args[0]->args[1], &divisor) &&
                         symbolic::IsInt(condition->args[1], &number);
    if (!divides || divisor <= 0 || number > IntRange::kMost / divisor || number < IntRange::kLeast / divisor) return condition;
    const ir::Scalar& divided = condition->args[0]->args[0];
    if (known_.Divisor(divided) % divisor != 0) return condition;
    return symbolic::Make(condition->kind, DType::kBool, {divided, symbolic::Int(number * divisor)});
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
        case OpCode::kLet: return op.Is(ir::kStays);
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
    if (op.operands.size() != 1 || !op.Is(typed::Op::kAdd)) return;
    const auto positions = positions_.find(op.operands[0]);
    if (positions == positions_.end()) return;
    positions_[op.results[0]] = Sum(positions->second, RangeOf(op.scalars[0]));
    touched_.insert(op.results[0]);
  }

  /// A comparison of positions that has one answer, and the other one of two of which one has.
  void Compare(const Op& op) {
    const auto function = op.Function();
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
    if (op.operands.size() != 1 || !op.HasScalarRight()) return;
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
    if (is_true_.count(op.operands[0]) == 0 || !op.IsTileArm(0)) return;
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

/// A range that ends with its blocks, or with the tensor, hides nothing of them.
void ShowWholeBlocks(const ir::Kernel& kernel, ir::Worker& worker) {
  const IndexFacts facts(kernel, worker);
  ForEachOp(worker.body, [&](Op& op) {
    if (op.axes.empty()) return;
    const ir::TensorParam& tensor = FindTensor(kernel, op.symbol);
    for (size_t i = 0; i < op.axes.size(); ++i) {
      ir::AxisRange& axis = op.axes[i];
      if (!axis.lo && !axis.hi) continue;
      const std::optional<std::vector<ir::Scalar>> ends = facts.EndsInsideBlocks(axis, tensor.extents[i]);
      if (ends && ends->empty()) axis.lo = axis.hi = {};
    }
  });
}

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
    ShowWholeBlocks(kernel, worker);
  }
  std::erase_if(kernel.lets, Conditions::IsNumber);
  return {};
}

}  // namespace tkc::passes

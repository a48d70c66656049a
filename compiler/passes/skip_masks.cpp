// SPDX-License-Identifier: MIT
#include "compiler/passes/skip_masks.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/passes/known_ranges.h"
#include "compiler/passes/make_op.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::Scalar;
using ir::ValueId;

/// Of all elements of a tile of integers.
struct Ends {
  Scalar least, most;
};

/// Of integers of any type that do not wrap around; those of 32 bits are not simplified elsewhere.
Scalar Plus(const Scalar& a, int64_t number) {
  if (number == 0) return a;
  return symbolic::IsInt(a) ? symbolic::Int(a->int_value + number) : symbolic::Add(a, symbolic::Int(number));
}

/// a + plus > b; a number is written on the right.
Scalar Above(const Scalar& a, int64_t plus, const Scalar& b) {
  const bool is_difference = a->kind == symbolic::Kind::kSub;
  const Scalar sum = is_difference ? symbolic::Sub(Plus(a->args[0], plus), a->args[1]) : Plus(a, plus);
  return symbolic::IsInt(sum) ? symbolic::Make(symbolic::Kind::kLt, DType::kBool, {b, sum})
                              : symbolic::Make(symbolic::Kind::kGt, DType::kBool, {sum, b});
}

/// What a worker's masks say of a whole block.
class Masks {
 public:
  Masks(const ir::Kernel& kernel, const ir::Worker& worker) : kernel_(kernel), known_(KnownAtLaunch(kernel)) {
    if (!worker.instance_name.empty()) known_.DefineWithin(worker.instance_name, {0, worker.instances - 1});
    ForEachOp(worker.body, [&](const Op& op) {
      if (op.code == OpCode::kFor) known_.DefineSteps(op.symbol, op.scalars[0], op.Step());
      if (op.code == OpCode::kLet && !op.Is(ir::kStays)) changing_.insert(op.symbol);
      for (const ValueId result : op.results) maker_.try_emplace(result, op);
    });
  }

  /// Whether the operation has the same result further on: no variable that it mentions can have changed.
  bool IsFixed(const Op& op) const {
    const auto is_variable = [&](ValueId value) { return kernel_.values[value].is_mutable; };
    return !NamesScalar(op, changing_) && std::none_of(op.operands.begin(), op.operands.end(), is_variable);
  }

  /// A condition without which all elements of the mask are `truth`. Empty if there is none that scalars could decide.
  std::optional<Scalar> HasOther(ValueId mask, bool truth) const {
    const Op* op = MakerOf(mask);
    if (!op) return std::nullopt;
    if (op->code == OpCode::kUnary && op->Function() == typed::Op::kNot) return HasOther(op->operands[0], !truth);
    if (op->code != OpCode::kBinary) return std::nullopt;
    const bool is_and = op->Function() == typed::Op::kAnd;
    if ((is_and || op->Function() == typed::Op::kOr) && op->operands.size() == 2) {
      const std::optional<Scalar> a = HasOther(op->operands[0], truth), b = HasOther(op->operands[1], truth);
      // All elements are `truth` where both parts are, or where either is.
      const symbolic::Kind joins = is_and == truth ? symbolic::Kind::kOr : symbolic::Kind::kAnd;
      if (a && b) return symbolic::Make(joins, DType::kBool, {*a, *b});
      return is_and == truth ? std::nullopt : a ? a : b;
    }
    return ComparisonHasOther(*op, truth);
  }

 private:
  const Op* MakerOf(ValueId value) const {
    const auto maker = maker_.find(value);
    const bool is_known = maker != maker_.end() && !kernel_.values[value].is_mutable && IsFixed(maker->second);
    return is_known ? &maker->second : nullptr;
  }

  std::optional<Scalar> ComparisonHasOther(const Op& op, bool truth) const {
    std::optional<Ends> a = EndsOf(op.operands[0]);
    std::optional<Ends> b = op.operands.size() == 2 ? EndsOf(op.operands[1]) : EndsOfScalar(op.scalars[0]);
    if (!a || !b) return std::nullopt;
    if (op.operands.size() == 1 && op.HasScalarLeft()) std::swap(a, b);
    typed::Op function = op.Function();
    if (function == typed::Op::kGt || function == typed::Op::kGe) {
      std::swap(a, b);
      function = function == typed::Op::kGt ? typed::Op::kLt : typed::Op::kLe;
    }
    const bool is_less = function == typed::Op::kLt;
    if (!is_less && function != typed::Op::kLe) return std::nullopt;
    return truth ? Above(a->most, is_less ? 1 : 0, b->least) : Above(b->most, is_less ? 0 : 1, a->least);
  }

  static std::optional<Ends> EndsOfScalar(const Scalar& scalar) {
    return IsSignedInteger(scalar->dtype) ? std::optional(Ends{scalar, scalar}) : std::nullopt;
  }

  /// Positions, with a number added or the distance between two: where elements wrap around, least and most say nothing.
  std::optional<Ends> EndsOf(ValueId value) const {
    const Op* op = MakerOf(value);
    if (!op || !IsSignedInteger(kernel_.TypeOf(value).dtype)) return std::nullopt;
    switch (op->code) {
      case OpCode::kPositions: return From(op->scalars[0], kernel_.TypeOf(value));
      case OpCode::kPart: {
        const Op* whole = MakerOf(op->operands[0]);
        if (!whole || whole->code != OpCode::kPositions) return std::nullopt;
        return From(symbolic::Add(whole->scalars[0], op->scalars[!whole->IsOfRows() ? 1 : 0]), kernel_.TypeOf(value));
      }
      case OpCode::kConvert: return kernel_.TypeOf(value).dtype == DType::kI64 ? EndsOf(op->operands[0]) : std::nullopt;
      case OpCode::kBinary: return Moved(*op);
      default: return std::nullopt;
    }
  }

  static Ends From(const Scalar& first, const ir::Type& type) { return {first, Plus(first, std::max(type.rows, type.cols) - 1)}; }

  /// A number, or an i32 of the launch that is known to be none below zero.
  bool IsNonNegative(const Scalar& scalar) const {
    if (symbolic::IsInt(scalar)) return scalar->int_value >= 0;
    const Scalar& name = scalar->kind == symbolic::Kind::kConvert ? scalar->args[0] : scalar;
    return name->kind == symbolic::Kind::kName && known_.Of(name).lo >= 0 &&
           std::any_of(kernel_.scalars.begin(), kernel_.scalars.end(),
                       [&](const ir::ScalarParam& param) { return param.name == name->name && param.dtype == DType::kI32; });
  }

  std::optional<Ends> Moved(const Op& op) const {
    const std::optional<Ends> a = EndsOf(op.operands[0]);
    const bool adds = op.Is(typed::Op::kAdd), subtracts = op.Is(typed::Op::kSub);
    if (!a || (!adds && !subtracts) || known_.Of(a->least).lo < 0) return std::nullopt;
    if (op.operands.size() == 2) {
      const std::optional<Ends> b = subtracts ? EndsOf(op.operands[1]) : std::nullopt;
      if (!b || known_.Of(b->least).lo < 0) return std::nullopt;
      return Ends{symbolic::Sub(a->least, b->most), symbolic::Sub(a->most, b->least)};
    }
    const Scalar by = op.scalars[0];
    const bool is_sure = subtracts ? op.HasScalarRight() && IsNonNegative(by) : symbolic::IsInt(by);
    if (!is_sure) return std::nullopt;
    const auto moved = [&](const Scalar& end) { return subtracts ? symbolic::Sub(end, by) : symbolic::Add(end, by); };
    return Ends{moved(a->least), moved(a->most)};
  }

  const ir::Kernel& kernel_;
  KnownRanges known_;
  std::set<std::string> changing_;  // scalars
  std::map<ValueId, Op> maker_;
};

class Skipping {
 public:
  Skipping(ir::Kernel& kernel, ir::Worker& worker) : kernel_(kernel), body_(worker.body), masks_(kernel, worker) {}

  void Visit(Region& region) {
    for (Op& op : region) {
      for (Region& inner : op.regions) Visit(inner);
    }
    const auto multiplies = [](const Op& op) {
      return ir::IsProduct(op.code) ||
             (op.code == OpCode::kUnroll && (Contains(op.regions[0], OpCode::kMma) || Contains(op.regions[0], OpCode::kMultiply)));
    };
    if (std::none_of(region.begin(), region.end(), multiplies)) return;
    for (size_t i = 0; i < region.size(); ++i) {
      if (region[i].code == OpCode::kSelect) i = Skip(region, i);
    }
  }

 private:
  /// Returns where the region goes on.
  size_t Skip(Region& region, size_t place);
  /// Takes what only leads to the mask out of the region.
  Region TakeMaker(Region& region, size_t& place, ValueId mask) const;

  ir::Kernel& kernel_;
  const Region& body_;
  const Masks masks_;
};

/// Pure, used by this chain only, and the same there.
Region Skipping::TakeMaker(Region& region, size_t& place, ValueId mask) const {
  Region maker;
  std::set<ValueId> wanted{mask};
  for (size_t i = place; i-- > 0;) {
    const Op& op = region[i];
    const bool computes = ir::ComputesElements(op.code) || op.code == OpCode::kPart;
    if (!computes || !wanted.contains(op.results[0]) || !masks_.IsFixed(op)) continue;
    if (CountUses(body_, op.results[0]) != (op.results[0] == mask ? 1 : 0)) continue;  // what uses it here has not been taken
    wanted.insert(op.operands.begin(), op.operands.end());
    maker.insert(maker.begin(), op);
    region.erase(region.begin() + static_cast<std::ptrdiff_t>(i));
    --place;
  }
  return maker;
}

size_t Skipping::Skip(Region& region, size_t place) {
  const ValueId mask = region[place].operands[0], result = region[place].results[0];
  // Which of the two values is the one that stays, and is a tile of the result's shape?
  std::optional<Scalar> condition;
  size_t kept = 0;
  size_t tile = 1;
  for (size_t side = 0; side < 2 && !condition; ++side) {
    if (!region[place].IsTileArm(side)) continue;
    const ValueId value = region[place].operands[tile];
    const ir::Type& type = kernel_.TypeOf(value);
    const bool is_whole = ir::HaveOneShape(type, kernel_.TypeOf(result));
    if (is_whole) condition = masks_.HasOther(mask, side == 0);
    kept = tile++;
  }
  if (!condition || (*condition)->kind == symbolic::Kind::kBool) return place;

  Op select = region[place];
  const Span span = select.span;
  const ValueId masked = kernel_.AddValueAfter(result, "", kernel_.TypeOf(result));
  kernel_.values[result].is_mutable = true;
  Region edge = TakeMaker(region, place, mask);
  edge.insert(edge.begin(), Explain("A block in which the mask leaves something out.", span));
  region[place] = Op{OpCode::kVar, {result}, {select.operands[kept]}};
  region[place].span = span;
  select.results = {masked};
  select.operands[kept] = result;
  edge.push_back(std::move(select));
  edge.push_back(Op{OpCode::kAssign, {}, {result, masked}});
  edge.back().span = span;
  Op branch{OpCode::kIf};
  branch.scalars = {*condition};
  branch.regions = {std::move(edge), {}};
  branch.span = span;
  region.insert(region.begin() + static_cast<std::ptrdiff_t>(place) + 1, std::move(branch));
  return place + 1;
}

}  // namespace

Result<void> SkipMasks(ir::Kernel& kernel, Diagnostics&) {
  for (ir::Worker& worker : kernel.workers) {
    if (worker.Computes()) Skipping(kernel, worker).Visit(worker.body);
  }
  return {};
}

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
#include "compiler/passes/mask_conditions.h"

#include <algorithm>
#include <cstdint>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Scalar;
using ir::ValueId;
using symbolic::Kind;

/// Blocks that reach further have no positions (ti-6).
constexpr IntRange kPositions{-(INT32_MAX - int64_t{65535}), INT32_MAX - int64_t{65535}};

IntRange Both(IntRange a, IntRange b) { return {std::max(a.lo, b.lo), std::min(a.hi, b.hi)}; }

/// Integers that do not wrap around, of any type: those of 32 bits are not simplified elsewhere.
Scalar Moved(const Scalar& a, int64_t number) {
  if (number == 0) return a;
  if (symbolic::IsInt(a)) return symbolic::Int(a->int_value + number);
  return number > 0 ? symbolic::Add(a, symbolic::Int(number)) : symbolic::Sub(a, symbolic::Int(-number));
}

Scalar Joined(Kind kind, const std::optional<Scalar>& joined, const Scalar& scalar) {
  return joined ? symbolic::Make(kind, DType::kBool, {*joined, scalar}) : scalar;
}

/// One side of a comparison: plus + number - minus, each of which may be absent.
struct Side {
  Scalar plus, minus;
  int64_t number = 0;
  IntRange range{0, 0};

  void Add(const Scalar& term, IntRange of) {
    plus = term;
    range = symbolic::Sum(range, of);
  }
  void Subtract(const Scalar& term, IntRange of) {
    minus = term;
    range = symbolic::Difference(range, of);
  }
  bool FitsInt() const { return (number == 0 && (!plus || !minus)) || symbolic::Fits(Range(), DType::kI32); }
  IntRange Range() const { return symbolic::Sum(range, {number, number}); }
  Scalar Written() const {
    const Scalar sum = plus ? Moved(plus, number) : symbolic::Int(number);
    return minus ? symbolic::Sub(sum, minus) : sum;
  }
};

}  // namespace

MaskConditions::MaskConditions(const ir::Kernel& kernel, const ir::Worker& worker)
    : kernel_(kernel), known_(KnownAtLaunch(kernel)) {
  if (!worker.instance_name.empty()) known_.DefineWithin(worker.instance_name, {0, worker.instances - 1});
  ir::ForEachOp(worker.body, [&](const Op& op) {
    if (op.code == OpCode::kFor) known_.DefineSteps(op.symbol, op.scalars[0], op.Step());
    if (op.code == OpCode::kLet && !op.Is(ir::kStays)) changing_.insert(op.symbol);
    for (const ValueId result : op.results) maker_.try_emplace(result, op);
  });
}

bool MaskConditions::IsFixed(const Op& op) const {
  const auto is_variable = [&](ValueId value) { return kernel_.values[value].is_mutable; };
  return !NamesScalar(op, changing_) && std::none_of(op.operands.begin(), op.operands.end(), is_variable);
}

const Op* MaskConditions::MakerOf(ValueId value) const {
  const auto maker = maker_.find(value);
  const bool is_known = maker != maker_.end() && !kernel_.values[value].is_mutable && IsFixed(maker->second);
  return is_known ? &maker->second : nullptr;
}

std::optional<Scalar> MaskConditions::HasOther(ValueId mask, bool truth) const {
  const Op* op = MakerOf(mask);
  if (!op) return std::nullopt;
  if (op->code == OpCode::kUnary && op->Function() == typed::Op::kNot) return HasOther(op->operands[0], !truth);
  if (op->code != OpCode::kBinary) return std::nullopt;
  const bool is_and = op->Function() == typed::Op::kAnd;
  if (is_and || op->Function() == typed::Op::kOr) {
    const std::optional<Scalar> a = OperandHasOther(*op, 0, truth), b = OperandHasOther(*op, 1, truth);
    // All elements are `truth` where both parts are, or where either is.
    if (a && b) return Joined(is_and == truth ? Kind::kOr : Kind::kAnd, a, *b);
    return is_and == truth ? std::nullopt : a ? a : b;
  }
  if (op->Function() == (truth ? typed::Op::kEq : typed::Op::kNe)) return std::nullopt;  // no block has one position only
  const std::optional<Bounds> bounds = BoundsOf(*op);
  if (!bounds) return std::nullopt;
  std::optional<Scalar> condition;
  for (const Sum& sum : bounds->sums) {
    // Not at most zero: 1 - sum is.
    const std::optional<Scalar> is_above = IsAboveZero(truth ? sum : Plus(Number(1), sum, true));
    if (!is_above) return std::nullopt;
    condition = Joined(bounds->all == truth ? Kind::kOr : Kind::kAnd, condition, *is_above);
  }
  for (const Scalar& wraps : bounds->sums.front().wraps) condition = Joined(Kind::kOr, condition, wraps);
  return condition;
}

/// A truth that all elements share is tested as it is.
std::optional<Scalar> MaskConditions::OperandHasOther(const Op& op, size_t side, bool truth) const {
  if (op.operands.size() == 2) return HasOther(op.operands[side], truth);
  if ((side == 0) != op.HasScalarLeft()) return HasOther(op.operands[0], truth);
  return truth ? symbolic::Make(Kind::kNot, DType::kBool, {op.scalars[0]}) : op.scalars[0];
}

std::optional<MaskConditions::Bounds> MaskConditions::BoundsOf(const Op& comparison) const {
  typed::Op function = comparison.Function();
  const bool is_greater = function == typed::Op::kGt || function == typed::Op::kGe;
  if (is_greater) function = function == typed::Op::kGt ? typed::Op::kLt : typed::Op::kLe;
  const size_t left = is_greater ? 1 : 0, right = 1 - left;
  const bool has_order = function == typed::Op::kLt || function == typed::Op::kLe;
  const Op *left_magnitude = MagnitudeOf(comparison, left), *right_magnitude = MagnitudeOf(comparison, right);
  const Op* magnitude = left_magnitude ? left_magnitude : right_magnitude;
  if (magnitude && (!has_order || (left_magnitude && right_magnitude))) return std::nullopt;
  const std::optional<Sum> a = left_magnitude ? SumOf(left_magnitude->operands[0]) : SumOfSide(comparison, left);
  const std::optional<Sum> b = right_magnitude ? SumOf(right_magnitude->operands[0]) : SumOfSide(comparison, right);
  if (!a || !b) return std::nullopt;
  const Sum one = Number(1), difference = Plus(*a, *b, true);
  switch (function) {
    case typed::Op::kLe:
    case typed::Op::kLt: {
      std::vector<Sum> sums{difference};
      // A magnitude is at most what both signs are, and at least what one is.
      if (left_magnitude) sums.push_back(Plus(Negative(*a), *b, true));
      if (right_magnitude) sums.push_back(Plus(*a, *b, false));
      if (function == typed::Op::kLt) {
        for (Sum& sum : sums) sum = Plus(sum, one, false);
      }
      return Bounds{std::move(sums), !right_magnitude};
    }
    case typed::Op::kEq: return Bounds{{difference, Negative(difference)}, true};
    case typed::Op::kNe: return Bounds{{Plus(difference, one, false), Plus(one, difference, true)}, false};
    default: return std::nullopt;
  }
}

const Op* MaskConditions::MagnitudeOf(const Op& comparison, size_t side) const {
  const bool is_tile = comparison.operands.size() == 2 || (side == 0) != comparison.HasScalarLeft();
  const Op* op = is_tile ? MakerOf(comparison.operands[comparison.operands.size() == 2 ? side : 0]) : nullptr;
  return op && op->code == OpCode::kUnary && op->Function() == typed::Op::kAbs ? op : nullptr;
}

std::optional<MaskConditions::Sum> MaskConditions::SumOfSide(const Op& op, size_t side) const {
  if (op.operands.size() == 2) return SumOf(op.operands[side]);
  return (side == 0) == op.HasScalarLeft() ? SumOfScalar(op.scalars[0]) : SumOf(op.operands[0]);
}

std::optional<MaskConditions::Sum> MaskConditions::SumOf(ValueId value) const {
  const Op* op = MakerOf(value);
  const ir::Type& type = kernel_.TypeOf(value);
  if (!op || !IsSignedInteger(type.dtype)) return std::nullopt;
  switch (op->code) {
    case OpCode::kPositions: return SumOfPositions(op->scalars[0], type);
    case OpCode::kPart: {
      const Op* whole = MakerOf(op->operands[0]);
      if (!whole || whole->code != OpCode::kPositions) return std::nullopt;
      return SumOfPositions(symbolic::Add(whole->scalars[0], op->scalars[!whole->IsOfRows() ? 1 : 0]), type);
    }
    case OpCode::kConvert: return type.dtype == DType::kI64 ? SumOf(op->operands[0]) : std::nullopt;
    case OpCode::kBinary: return Combined(*op);
    default: return std::nullopt;
  }
}

MaskConditions::Sum MaskConditions::SumOfPositions(const Scalar& first, const ir::Type& type) const {
  const int64_t further = std::max(type.rows, type.cols) - 1;
  IntRange range = known_.Of(first);
  range = Both(kPositions, symbolic::Sum(range, {0, further}));
  return {{{first, Moved(first, further), range, true}}, {}, 0, range, {}};
}

/// A launch scalar has the values of its type, whatever is known of the integer that it is.
std::optional<MaskConditions::Sum> MaskConditions::SumOfScalar(const Scalar& scalar) const {
  if (!IsSignedInteger(scalar->dtype)) return std::nullopt;
  if (symbolic::IsInt(scalar)) return Number(scalar->int_value);
  const Scalar& name = scalar->kind == Kind::kConvert ? scalar->args[0] : scalar;
  const bool is_launch_scalar =
      name->kind == Kind::kName && std::any_of(kernel_.scalars.begin(), kernel_.scalars.end(), [&](const ir::ScalarParam& param) {
        return param.name == name->name && param.dtype == DType::kI32;
      });
  const IntRange range =
      Both(known_.Of(is_launch_scalar ? name : scalar), symbolic::RangeOf(is_launch_scalar ? DType::kI32 : scalar->dtype));
  return Sum{{{scalar, scalar, range, false}}, {}, 0, range, {}};
}

std::optional<MaskConditions::Sum> MaskConditions::Combined(const Op& op) const {
  const bool adds = op.Is(typed::Op::kAdd);
  if (!adds && !op.Is(typed::Op::kSub)) return std::nullopt;
  const std::optional<Sum> a = SumOfSide(op, 0), b = SumOfSide(op, 1);
  if (!a || !b) return std::nullopt;
  Sum sum = Plus(*a, *b, !adds);
  const ir::Type& type = kernel_.TypeOf(op.results[0]);
  if (symbolic::Fits(sum.range, type.dtype) || type.dtype == DType::kI64) return sum;
  // Where elements wrap around, least and most say nothing. With a number added, positions along columns are never so large (ti-6),
  // and of others it is tested.
  const IntRange all = symbolic::RangeOf(DType::kI32);
  const bool is_moved = op.operands.size() == 1 && (adds || !op.HasScalarLeft());
  if (!is_moved || type.dtype != DType::kI32 || sum.range.lo < all.lo) return std::nullopt;
  const Sum &positions = op.HasScalarLeft() ? *b : *a, &number = op.HasScalarLeft() ? *a : *b;
  const auto is_one_term = [](const Sum& side) { return side.added.size() == 1 && side.subtracted.empty() && side.number == 0; };
  if (!is_one_term(positions) || !is_one_term(number)) return std::nullopt;
  if (type.rows > 1) {
    const Scalar &most = positions.added[0].most, &by = number.added[0].most, last = symbolic::Int(all.hi);
    sum.wraps.push_back(adds ? symbolic::Make(Kind::kGt, DType::kBool, {by, symbolic::Sub(last, most)})
                             : symbolic::Make(Kind::kLt, DType::kBool, {by, symbolic::Sub(most, last)}));
  }
  sum.range = Both(sum.range, all);
  return sum;
}

MaskConditions::Sum MaskConditions::Plus(const Sum& a, const Sum& b, bool subtracts) {
  Sum sum = a;
  const auto append = [](const auto& from, auto& to) { to.insert(to.end(), from.begin(), from.end()); };
  append(b.added, subtracts ? sum.subtracted : sum.added);
  append(b.subtracted, subtracts ? sum.added : sum.subtracted);
  append(b.wraps, sum.wraps);
  sum.number += subtracts ? -b.number : b.number;
  sum.range = subtracts ? symbolic::Difference(a.range, b.range) : symbolic::Sum(a.range, b.range);
  return sum;
}

/// Of the most that the sum is, as a comparison of two differences, which an int holds.
std::optional<Scalar> MaskConditions::IsAboveZero(const Sum& sum) {
  int64_t number = sum.number;
  std::vector<Term> added, subtracted;
  for (const Term& term : sum.added) {
    if (symbolic::IsInt(term.most))
      number += term.most->int_value;
    else
      added.push_back(term);
  }
  for (const Term& term : sum.subtracted) {
    if (symbolic::IsInt(term.least))
      number -= term.least->int_value;
    else
      subtracted.push_back(term);
  }
  if (added.size() > 2 || subtracted.size() > 2) return std::nullopt;
  const auto is_position = [](const Term& term) { return term.is_position; };
  std::stable_partition(added.begin(), added.end(), is_position);
  std::stable_partition(subtracted.begin(), subtracted.end(), is_position);
  if (const auto written = Compared(added, subtracted, number)) return written;
  // Numbers of which nothing is known stand alone.
  std::ranges::reverse(subtracted);
  if (const auto written = Compared(added, subtracted, number)) return written;
  std::ranges::reverse(subtracted);
  std::ranges::reverse(added);
  return Compared(added, subtracted, number);
}

/// added[0] + number - subtracted[1] > subtracted[0] - added[1], of terms that may be absent; the number on the side of a position,
/// which leaves room for it. Nothing if one side may be no int.
std::optional<Scalar> MaskConditions::Compared(const std::vector<Term>& added, const std::vector<Term>& subtracted,
                                               int64_t number) {
  Side left, right;
  if (!added.empty()) left.Add(added[0].most, added[0].range);
  if (subtracted.size() > 1) left.Subtract(subtracted[1].least, subtracted[1].range);
  if (!subtracted.empty()) right.Add(subtracted[0].least, subtracted[0].range);
  if (added.size() > 1) right.Subtract(added[1].most, added[1].range);
  const bool is_alone = number < 0 && subtracted.empty() && !right.minus;
  const bool on_left = !is_alone && (added.empty() || added[0].is_position);
  (on_left ? left : right).number = on_left ? number : -number;
  if (!left.FitsInt() || !right.FitsInt()) return std::nullopt;
  const Scalar a = left.Written(), b = right.Written();
  return symbolic::IsInt(a) ? symbolic::Make(Kind::kLt, DType::kBool, {b, a}) : symbolic::Make(Kind::kGt, DType::kBool, {a, b});
}

}  // namespace tkc::passes

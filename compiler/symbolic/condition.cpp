// SPDX-License-Identifier: MIT
#include "compiler/symbolic/condition.h"

#include <algorithm>
#include <vector>

#include "compiler/symbolic/polynomial.h"

namespace tkc::symbolic {
namespace {

Condition Negated(Condition condition) { return {std::move(condition.text), !condition.is_negated}; }

/// `difference` < 0, or that -1 - difference is not: whichever has the smaller text.
Condition IsNegative(const Scalar& difference) {
  std::string text = CanonicalText(difference), other = CanonicalText(Sub(Int(-1), difference));
  if (other < text) return {other + " < 0", true};
  return {text + " < 0", false};
}

Condition IsLess(const Scalar& a, const Scalar& b) {
  if (a->dtype == DType::kI64 && b->dtype == DType::kI64) return IsNegative(Sub(a, b));
  return {CanonicalText(a) + " < " + CanonicalText(b), false};
}

/// Of floats it is no negation of `b < a`: neither holds of a NaN.
Condition IsAtMost(const Scalar& a, const Scalar& b) {
  if (IsFloat(a->dtype) || IsFloat(b->dtype)) return {CanonicalText(a) + " <= " + CanonicalText(b), false};
  return Negated(IsLess(b, a));
}

/// x % 2: what is not 1 is 0.
bool IsOfTwo(const Scalar& scalar) {
  int64_t divisor = 0;
  return scalar->kind == Kind::kMod && IsInt(scalar->args[1], &divisor) && divisor == 2;
}

Condition IsEqual(const Scalar& a, const Scalar& b) {
  std::string left = CanonicalText(a), right = CanonicalText(b);
  if (a->dtype == DType::kI64 && b->dtype == DType::kI64) {
    int64_t number = 0;
    if (IsOfTwo(a) && IsInt(b, &number) && number == 1) return Negated(IsEqual(a, Int(0)));
    left = CanonicalText(Sub(a, b));
    right = CanonicalText(Sub(b, a));
    return {std::min(left, right) + " == 0", false};
  }
  return {std::min(left, right) + " == " + std::max(left, right), false};
}

/// All of the parts, or with `negates` all of their negations.
Condition AreAll(const Scalar& scalar, bool negates) {
  std::vector<std::string> parts;
  for (const Scalar& arg : scalar->args) {
    Condition part = ConditionOf(arg);
    parts.push_back((part.is_negated != negates ? "not " : "") + std::move(part.text));
  }
  std::sort(parts.begin(), parts.end());
  std::string text = "(";
  for (const std::string& part : parts) text += part + ") and (";
  return {std::move(text), false};
}

}  // namespace

Condition ConditionOf(const Scalar& scalar) {
  const auto arg = [&](size_t i) -> const Scalar& { return scalar->args[i]; };
  switch (scalar->kind) {
    case Kind::kNot: return Negated(ConditionOf(arg(0)));
    case Kind::kAnd: return AreAll(scalar, false);
    case Kind::kOr: return Negated(AreAll(scalar, true));
    case Kind::kEq: return IsEqual(arg(0), arg(1));
    case Kind::kNe: return Negated(IsEqual(arg(0), arg(1)));
    case Kind::kLt: return IsLess(arg(0), arg(1));
    case Kind::kGt: return IsLess(arg(1), arg(0));
    case Kind::kLe: return IsAtMost(arg(0), arg(1));
    case Kind::kGe: return IsAtMost(arg(1), arg(0));
    default: return {CanonicalText(scalar), false};
  }
}

}  // namespace tkc::symbolic

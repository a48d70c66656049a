// SPDX-License-Identifier: MIT
#include "compiler/symbolic/condition.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "compiler/support/floor_div.h"
#include "compiler/symbolic/polynomial.h"

namespace tkc::symbolic {
namespace {

constexpr int64_t kLargest = int64_t{1} << 62;  // of numbers that are compared with

/// What a single integer that is compared with a number can be.
IntegerSet Possible(const Scalar& a, const Scalar& b) {
  const Scalar& integer = IsInt(a) ? b : a;
  if (IsSum(integer) || !(IsInt(a) || IsInt(b))) return IntegerSet::All();
  int64_t divisor = 0;
  if (integer->kind == Kind::kMod && IsInt(integer->args[1], &divisor) && divisor > 0) return IntegerSet::Between(0, divisor - 1);
  return IsSignedInteger(integer->dtype) ? IntegerSet::All() : IntegerSet::Between(0, IntegerSet::kMost);
}

/// Of a - b = sign * factor * integer + number, where the integer has no common factor and begins with a positive one.
Comparison ComparisonOf(const Scalar& scalar) {
  const Scalar &a = scalar->args[0], &b = scalar->args[1];
  if (!IsInteger(a->dtype) || !IsInteger(b->dtype) || a->dtype == DType::kU64 || b->dtype == DType::kU64) return {};
  std::optional<Polynomial> difference = ToPolynomial(Sub(a, b));
  if (!difference) return {};
  int64_t number = 0, factor = 0;
  if (const auto constant = difference->find(""); constant != difference->end()) {
    number = constant->second;
    difference->erase(constant);
  }
  for (const auto& [term, coefficient] : *difference) factor = std::gcd(factor, coefficient);
  if (factor <= 0 || number < -kLargest || number > kLargest) return {};
  const int64_t sign = difference->begin()->second < 0 ? -1 : 1;
  Comparison comparison{.integer = {}, .holds = {}, .possible = Possible(a, b)};
  for (const auto& [term, coefficient] : *difference)
    comparison.integer += std::to_string(coefficient / factor * sign) + "*" + term + " ";
  // Where a - b is less than `limit`, which is 0 or 1.
  const auto below = [&](int64_t limit) {
    return sign > 0 ? IntegerSet::Between(IntegerSet::kLeast, FloorDiv(limit - number - 1, factor))
                    : IntegerSet::Between(FloorDiv(number - limit, factor) + 1, IntegerSet::kMost);
  };
  const auto equal = [&] {
    const int64_t at = -sign * number / factor;
    return number % factor == 0 ? IntegerSet::Between(at, at) : IntegerSet();
  };
  switch (scalar->kind) {
    case Kind::kEq: comparison.holds = equal(); break;
    case Kind::kNe: comparison.holds = equal().Complement(); break;
    case Kind::kLt: comparison.holds = below(0); break;
    case Kind::kGe: comparison.holds = below(0).Complement(); break;
    case Kind::kLe: comparison.holds = below(1); break;
    default: comparison.holds = below(1).Complement(); break;
  }
  return comparison;
}

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
  Condition all;
  std::vector<std::string> texts;
  for (const Scalar& arg : scalar->args) {
    const Condition& part = all.parts.emplace_back(negates ? Negated(ConditionOf(arg)) : ConditionOf(arg));
    texts.push_back((part.is_negated ? "not " : "") + part.text);
  }
  std::sort(texts.begin(), texts.end());
  all.text = "(";
  for (const std::string& text : texts) all.text += text + ") and (";
  return all;
}

Condition WithoutComparison(const Scalar& scalar) {
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

}  // namespace

Condition Negated(Condition condition) {
  condition.is_negated = !condition.is_negated;
  return condition;
}

Condition ConditionOf(const Scalar& scalar) {
  Condition condition = WithoutComparison(scalar);
  if (!IsComparison(scalar->kind)) return condition;
  condition.comparison = ComparisonOf(scalar);
  if (condition.is_negated) condition.comparison.holds = condition.comparison.holds.Complement();
  return condition;
}

KnownConditions::KnownConditions(const std::vector<Condition>& held) {
  for (const Condition& condition : held) Learn(condition, true);
  for (bool learns = true; learns;) {
    learns = false;
    for (size_t i = 0; i < not_all_.size(); ++i) learns |= LearnFromLast(Condition(not_all_[i]));  // which may add some
  }
}

void KnownConditions::Learn(const Condition& condition, bool holds) {
  if (condition.text.empty()) return;
  holds = holds != condition.is_negated;
  is_contradiction_ |= texts_.emplace(condition.text, holds).first->second != holds;
  if (const Comparison& comparison = condition.comparison; !comparison.integer.empty()) {
    IntegerSet& known = integers_.try_emplace(comparison.integer, comparison.possible).first->second;
    known = known.Intersection(holds ? comparison.holds : comparison.holds.Complement());
    is_contradiction_ |= known.IsEmpty();
  }
  if (!holds && !condition.parts.empty()) not_all_.push_back(condition);
  for (const Condition& part : condition.parts) {
    if (holds) Learn(part, true);
  }
}

bool KnownConditions::LearnFromLast(const Condition& all) {
  const Condition* left = nullptr;
  for (const Condition& part : all.parts) {
    const std::optional<bool> holds = Decide(part);
    if (holds == false || (!holds && left)) return false;
    if (!holds) left = &part;
  }
  is_contradiction_ |= !left;
  if (left) Learn(*left, false);
  return left != nullptr;
}

std::optional<bool> KnownConditions::Decide(const Condition& condition) const {
  const std::optional<bool> holds = DecideText(condition);
  return holds ? std::optional(*holds != condition.is_negated) : std::nullopt;
}

std::optional<bool> KnownConditions::DecideText(const Condition& condition) const {
  if (const auto known = texts_.find(condition.text); known != texts_.end()) return known->second;
  if (const Comparison& comparison = condition.comparison; !comparison.integer.empty()) {
    const auto known = integers_.find(comparison.integer);
    const IntegerSet& can_be = known == integers_.end() ? comparison.possible : known->second;
    if (can_be.Intersection(comparison.holds).IsEmpty()) return false;
    if (can_be.Intersection(comparison.holds.Complement()).IsEmpty()) return true;
  }
  if (condition.parts.empty()) return std::nullopt;
  bool all_hold = true;
  for (const Condition& part : condition.parts) {
    const std::optional<bool> holds = Decide(part);
    if (holds == false) return false;
    all_hold &= holds.has_value();
  }
  return all_hold ? std::optional(true) : std::nullopt;
}

}  // namespace tkc::symbolic

// SPDX-License-Identifier: MIT
#include "compiler/symbolic/digits.h"

#include <algorithm>
#include <string>
#include <utility>

#include "compiler/symbolic/evaluate.h"

namespace tkc::symbolic {
namespace {

const Polynomial kOne = {{"", 1}};

/// The product of names `key` without the factors of `divisor`.
std::optional<std::string> WithoutFactors(std::string key, const std::string& divisor) {
  for (const std::string_view variable : FactorsOf(divisor)) {
    const std::string factor = std::string(variable) + '*';
    size_t at = key.find(factor);
    while (at != std::string::npos && at > 0 && key[at - 1] != '*') at = key.find(factor, at + 1);
    if (at == std::string::npos) return std::nullopt;
    key.erase(at, factor.size());
  }
  return key;
}

/// base / place % radix / divisor, or nothing if that is no digit of the base.
std::optional<Digit> Divide(Digit digit, const Polynomial& divisor) {
  if (digit.radix && !(digit.radix = ExactQuotient(*digit.radix, divisor))) return std::nullopt;
  std::optional<Polynomial> place = Product(digit.place, divisor);
  if (!place) return std::nullopt;
  digit.place = std::move(*place);
  return digit;
}

std::optional<Digit> Remainder(Digit digit, const Polynomial& divisor) {
  if (digit.radix && ExactQuotient(divisor, *digit.radix)) return digit;
  if (digit.radix && !ExactQuotient(*digit.radix, divisor)) return std::nullopt;
  digit.radix = divisor;
  return digit;
}

/// Whether `modulus` is no smaller than `span`, or zero.
bool Covers(const Polynomial& modulus, const Polynomial& span) {
  const auto is_number = [](const Polynomial& polynomial) { return NonzeroNumber(polynomial).has_value(); };
  if (is_number(modulus) && is_number(span)) return modulus.begin()->second >= span.begin()->second;
  return ExactQuotient(modulus, span).has_value();
}

}  // namespace

std::optional<Polynomial> ExactQuotient(const Polynomial& polynomial, const Polynomial& divisor) {
  if (polynomial == divisor) return kOne;
  if (divisor.size() != 1 || divisor.begin()->second == 0) return std::nullopt;
  Polynomial quotient;
  for (const auto& [key, coefficient] : polynomial) {
    std::optional<std::string> rest = WithoutFactors(key, divisor.begin()->first);
    if (!rest || divisor.begin()->second < 0 || coefficient % divisor.begin()->second != 0) return std::nullopt;
    quotient[std::move(*rest)] += coefficient / divisor.begin()->second;
  }
  return quotient;
}

std::optional<Digit> DigitOf(const Scalar& scalar, const std::function<bool(const Scalar& divisor)>& is_fixed,
                             const std::function<bool(std::string_view name)>& is_count) {
  const bool divides = scalar->kind == Kind::kDiv || scalar->kind == Kind::kMod;
  if (!divides || scalar->dtype != DType::kI64 || scalar->args[0]->dtype != DType::kI64) return std::nullopt;
  const Scalar& divisor = scalar->args[1];
  const std::optional<Polynomial> by = ToPolynomial(divisor);
  if (!by || !is_fixed(divisor)) return std::nullopt;
  const auto cut = [&](Digit digit) {
    return scalar->kind == Kind::kDiv ? Divide(std::move(digit), *by) : Remainder(std::move(digit), *by);
  };
  // A quotient of a quotient is one of the product, and so on: of divisors that are not negative.
  std::optional<Digit> inner = DigitOf(scalar->args[0], is_fixed, is_count);
  const bool is_positive = IsNonNegative(divisor, is_count);
  if (inner && inner->is_positive && is_positive) {
    if (std::optional<Digit> digit = cut(std::move(*inner))) return digit;
  }
  return cut({scalar->args[0], kOne, std::nullopt, is_positive});
}

bool DetermineBase(const std::vector<const Digit*>& digits, int64_t divisor, const std::optional<Polynomial>& span) {
  std::vector<Polynomial> known = {{{"", divisor}}};  // the base is known modulo each of these
  std::vector<const Digit*> rest = digits;
  for (size_t before = rest.size() + 1; before != rest.size();) {
    before = rest.size();
    for (size_t i = 0; i < rest.size(); ++i) {
      const Digit& digit = *rest[i];
      const auto has_below = [&](const Polynomial& modulus) { return ExactQuotient(modulus, digit.place).has_value(); };
      if (std::none_of(known.begin(), known.end(), has_below)) continue;
      if (!digit.radix) return true;
      const std::optional<Polynomial> modulus = Product(digit.place, *digit.radix);
      if (modulus && span && Covers(*modulus, *span)) return true;
      if (modulus) known.push_back(*modulus);
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i--));
    }
  }
  return false;
}

}  // namespace tkc::symbolic

// SPDX-License-Identifier: MIT
#include "compiler/symbolic/index_digits.h"

#include <algorithm>
#include <utility>

namespace tkc::symbolic {
namespace {

bool MentionsAny(const Scalar& scalar, const std::vector<IndexRange>& around) {
  return std::any_of(around.begin(), around.end(), [&](const IndexRange& index) { return Mentions(scalar, index.name); });
}

std::string TextOf(const Polynomial& polynomial) {
  std::string text;
  for (const auto& [key, coefficient] : polynomial) text += std::to_string(coefficient) + ' ' + key + ' ';
  return text;
}

/// What is known of the base: most of the distance of an index from where its range begins, or an index shifted by what none
/// changes.
void SetBase(IndexDigit& digit, const std::vector<IndexRange>& around) {
  const Scalar& base = digit.digit.base;
  Scalar in_steps = base;
  for (auto index = around.rbegin(); index != around.rend(); ++index) {
    const Scalar own = Name(index->name);
    const bool is_distance = Equal(base, Sub(own, index->first));
    if (is_distance || !MentionsAny(Sub(base, own), around) || !MentionsAny(Add(base, own), around)) {
      const std::optional<int64_t> most = MostDifference(index->hi, index->first);
      digit.base_span = most ? ToPolynomial(Int(*most)) : ToPolynomial(Sub(index->hi, index->first));
      if (is_distance) digit.base_end = digit.base_span;
    }
    const Scalar steps = Mul(Name(index->name + "'"), Int(index->step));
    in_steps = Substitute(in_steps, index->name, Add(index->first, steps));
  }
  digit.base_divisor = std::max<int64_t>(KnownDivisor(in_steps), 1);
}

/// From where to where the digit itself goes, as far as that is known.
void SetRange(IndexDigit& digit) {
  const auto& [base, place, radix, is_positive] = digit.digit;
  const std::optional<Polynomial>& end = digit.base_end;
  const std::optional<int64_t> number = radix ? NonzeroNumber(*radix) : std::nullopt;
  if (number && *number > 0) {
    digit.begins_at_zero = true;
    digit.end = radix;
    return;
  }
  if (!is_positive || !end) return;
  digit.begins_at_zero = true;
  const std::optional<int64_t> end_number = NonzeroNumber(*end), place_number = NonzeroNumber(place);
  if (radix) {
    if (ExactQuotient(*end, *radix)) digit.end = radix;  // not zero, or there would be no base
  } else if (end_number && place_number && *place_number > 0) {
    digit.end = Polynomial{{"", (*end_number + *place_number - 1) / *place_number}};
  } else {
    digit.end = ExactQuotient(*end, place);
  }
}

}  // namespace

Scalar IndexDigits::Replace(const Scalar& scalar, const std::vector<IndexRange>& around) {
  if (!scalar || scalar->args.empty() || !MentionsAny(scalar, around)) return scalar;
  const auto is_fixed = [&](const Scalar& divisor) { return !MentionsAny(divisor, around); };
  if (std::optional<Digit> digit = DigitOf(scalar, is_fixed, is_count_)) {
    std::set<std::string> indices;
    for (const IndexRange& index : around) {
      if (Mentions(digit->base, index.name)) indices.insert(index.name);
    }
    digit->base = Replace(digit->base, around);
    if (const std::optional<Polynomial> base = ToPolynomial(digit->base))
      return Name(NameOf(std::move(*digit), std::move(indices), around, *base));
  }
  std::vector<Scalar> args;
  for (const Scalar& arg : scalar->args) args.push_back(Replace(arg, around));
  return WithArgs(scalar, std::move(args));
}

std::vector<std::shared_ptr<const IndexDigit>> IndexDigits::Of(const std::vector<IndexRange>& around) const {
  std::set<std::string> names;
  for (const IndexRange& index : around) names.insert(index.name);
  std::vector<std::shared_ptr<const IndexDigit>> digits;
  std::copy_if(digits_.begin(), digits_.end(), std::back_inserter(digits), [&](const auto& digit) {
    return std::includes(names.begin(), names.end(), digit->indices.begin(), digit->indices.end());
  });
  return digits;
}

std::string IndexDigits::NameOf(Digit digit, std::set<std::string> indices, const std::vector<IndexRange>& around,
                                const Polynomial& base) {
  const std::string radix = digit.radix ? "% " + TextOf(*digit.radix) : "";
  const auto [place, is_new] = places_.emplace(TextOf(base) + "/ " + TextOf(digit.place) + radix, digits_.size());
  if (is_new) {
    IndexDigit made{.name = name_of_(digits_.size()),
                    .number = digits_.size(),
                    .digit = std::move(digit),
                    .base = base,
                    .indices = std::move(indices)};
    SetBase(made, around);
    SetRange(made);
    digits_.push_back(std::make_shared<const IndexDigit>(std::move(made)));
  }
  return digits_[place->second]->name;
}

std::vector<Scalar> DeterminedBases(const std::vector<const IndexDigit*>& known) {
  std::map<Polynomial, std::vector<const IndexDigit*>> of_bases;
  for (const IndexDigit* digit : known) of_bases[digit->base].push_back(digit);
  std::vector<Scalar> bases;
  for (const auto& [base, digits] : of_bases) {
    std::vector<const Digit*> each;
    for (const IndexDigit* digit : digits) each.push_back(&digit->digit);
    if (DetermineBase(each, digits[0]->base_divisor, digits[0]->base_span)) bases.push_back(digits[0]->digit.base);
  }
  return bases;
}

}  // namespace tkc::symbolic

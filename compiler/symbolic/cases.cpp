// SPDX-License-Identifier: MIT
#include "compiler/symbolic/cases.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "compiler/support/floor_div.h"
#include "compiler/symbolic/least.h"
#include "compiler/symbolic/polynomial.h"

namespace tkc::symbolic {
namespace {

constexpr int kMostSums = 400;  // looked at for one comparison
constexpr int kMostFacts = 4;   // that follow from each other
constexpr int kMostCases = 6;   // within each other

bool IsChoice(const Scalar& scalar) { return scalar->kind == Kind::kSelect; }
bool IsQuotient(const Scalar& scalar) { return scalar->kind == Kind::kDiv || scalar->kind == Kind::kCdiv; }
bool IsInteger(const Scalar& scalar) { return scalar->dtype == DType::kI64; }

/// An integer, be it an element of a tensor.
bool IsOfAnyWidth(const Scalar& scalar) { return !IsFloat(scalar->dtype) && scalar->dtype != DType::kBool; }

/// The first operation within sums for which `wants` holds, the innermost first.
Scalar Find(const Scalar& scalar, const std::function<bool(const Scalar&)>& wants) {
  for (const Scalar& arg : scalar->args) {
    if (Scalar found = Find(arg, wants)) return found;
  }
  return IsInteger(scalar) && wants(scalar) ? scalar : nullptr;
}

Scalar Replace(const Scalar& scalar, const Scalar& what, const Scalar& by) {
  if (scalar == what || (scalar->kind == what->kind && IsSameTree(scalar, what))) return by;
  if (scalar->args.empty()) return scalar;
  std::vector<Scalar> args;
  for (const Scalar& arg : scalar->args) args.push_back(Replace(arg, what, by));
  return WithArgs(scalar, std::move(args));
}

/// What holds of integers where the comparison does not.
Kind Negated(Kind comparison) {
  switch (comparison) {
    case Kind::kEq: return Kind::kNe;
    case Kind::kNe: return Kind::kEq;
    case Kind::kLt: return Kind::kGe;
    case Kind::kLe: return Kind::kGt;
    case Kind::kGt: return Kind::kLe;
    default: return Kind::kLt;
  }
}

class Cases {
 public:
  explicit Cases(const Known& known) : known_(known), facts_(known.not_negative) {}

  /// Whether the sum is never below `least`.
  bool IsAtLeast(const Scalar& sum, int64_t least, int depth = 0) {
    least = LeastThatSuffices(sum, least);
    if (Follows(sum, least, kMostFacts)) return true;
    if (depth == kMostCases || sums_ > kMostSums) return false;
    const Scalar choice = Find(sum, [](const Scalar& s) { return s->kind == Kind::kMin || s->kind == Kind::kMax || IsChoice(s); });
    if (choice) return InBothCases(sum, least, choice, depth);
    if (const Scalar remainder = Find(sum, [](const Scalar& s) { return s->kind == Kind::kMod; }))
      return WithRemainder(sum, least, remainder, depth);
    const Scalar quotient = Find(sum, IsQuotient);
    return quotient && WithQuotient(sum, least, quotient, depth);
  }

 private:
  /// The same where `what` is `by`, with the facts that `assume` adds.
  bool IsAtLeastWith(const Scalar& what, const Scalar& by, const std::function<void()>& assume, const Scalar& sum, int64_t least,
                     int depth) {
    const std::vector<Scalar> before = facts_;
    assume();
    for (Scalar& fact : facts_) fact = Replace(fact, what, by);
    const bool holds = IsAtLeast(Replace(sum, what, by), least, depth + 1);
    facts_ = before;
    return holds;
  }

  /// What is a multiple of 16 and at least -15 is at least 0.
  static int64_t LeastThatSuffices(const Scalar& sum, int64_t least) {
    const std::optional<Polynomial> terms = ToPolynomial(sum);
    int64_t divisor = 0, number = 0;
    if (!terms) return least;
    for (const auto& [key, coefficient] : *terms) {
      if (coefficient == INT64_MIN) return least;
      if (key.empty())
        number = coefficient;
      else
        divisor = std::gcd(divisor, coefficient);
    }
    constexpr int64_t kFarthest = int64_t{1} << 60;
    if (divisor < 2 || std::max({std::abs(least), std::abs(number), divisor}) > kFarthest) return least;
    const int64_t first = number - FloorDiv(number - least, divisor) * divisor;  // that can be and is no less
    return first - divisor + 1;
  }

  bool InBothCases(const Scalar& sum, int64_t least, const Scalar& choice, int depth) {
    const std::vector<Scalar>& of = choice->args;
    const auto in_case = [&](const Scalar& chosen, const std::function<void()>& assume) {
      return IsAtLeastWith(choice, chosen, assume, sum, least, depth);
    };
    if (IsChoice(choice))
      return in_case(of[1], [&] { Assume(of[0], true, depth + 1); }) && in_case(of[2], [&] { Assume(of[0], false, depth + 1); });
    const bool is_min = choice->kind == Kind::kMin;
    const Scalar &lesser = of[is_min ? 0 : 1], &greater = of[is_min ? 1 : 0];
    return in_case(of[0], [&] { facts_.push_back(Sub(greater, lesser)); }) &&
           in_case(of[1], [&] { facts_.push_back(Sub(lesser, greater)); });
  }

  void Assume(const Scalar& condition, bool holds, int depth) {
    AddNotNegative(condition, holds, facts_);
    // Unequal, and not below: above.
    const bool differs = (condition->kind == Kind::kEq && !holds) || (condition->kind == Kind::kNe && holds);
    if (!differs || !IsOfAnyWidth(condition->args[0]) || !IsOfAnyWidth(condition->args[1])) return;
    const Scalar difference = Sub(condition->args[0], condition->args[1]);
    if (IsAtLeast(difference, 0, depth)) facts_.push_back(Sub(difference, Int(1)));
    if (IsAtLeast(Sub(Int(0), difference), 0, depth)) facts_.push_back(Sub(Sub(Int(0), difference), Int(1)));
  }

  int64_t DivisorOf(const Scalar& scalar) const { return known_.divisor_of ? known_.divisor_of(scalar) : KnownDivisor(scalar); }

  /// x % d as a number of its own, from 0 to what is below d by as much as divides both.
  bool WithRemainder(const Scalar& sum, int64_t least, const Scalar& remainder, int depth) {
    const Scalar &divided = remainder->args[0], &divisor = remainder->args[1];
    if (!IsAtLeast(divisor, 1, depth + 1)) return false;
    const Scalar own = Name(kOwn + std::to_string(names_++));
    return IsAtLeastWith(
        remainder, own,
        [&] {
          const int64_t unit = std::gcd(DivisorOf(divided), DivisorOf(divisor));
          facts_.push_back(Sub(Sub(divisor, own), Int(std::max<int64_t>(unit, 1))));
          if (IsAtLeast(divided, 0, depth + 1)) facts_.push_back(Sub(divided, own));
        },
        sum, least, depth);
  }

  /// Where an integer taken so many times is at least this, it is at least `least`.
  static std::optional<int64_t> LeastOfTimes(int64_t least, int64_t times) {
    int64_t of_all = 0;
    const bool overflows = __builtin_mul_overflow(least, times, &of_all) || __builtin_sub_overflow(of_all, times - 1, &of_all);
    return overflows ? std::nullopt : std::optional(of_all);
  }

  /// x / d as a number q of its own: q * d is x, or less by what is below d; cdiv(x, d) likewise, from above.
  bool WithQuotient(const Scalar& sum, int64_t least, const Scalar& quotient, int depth) {
    const Scalar &divided = quotient->args[0], &divisor = quotient->args[1];
    if (!IsAtLeast(divisor, 1, depth + 1)) return false;
    const bool is_count = IsAtLeast(divided, 0, depth + 1);
    const Scalar own = Name((is_count ? kOwn : kOwnOfAnySign) + std::to_string(names_++));
    return IsAtLeastWith(
        quotient, own,
        [&] {
          const Scalar rest = Sub(divided, Mul(own, divisor));
          const Scalar below = quotient->kind == Kind::kDiv ? rest : Sub(Int(0), rest);
          facts_.push_back(below);
          facts_.push_back(Sub(Sub(divisor, Int(1)), below));
        },
        sum, least, depth);
  }

  /// Facts are taken off the sum as long as each cancels a term that is in the way: one that makes it less.
  bool Follows(const Scalar& sum, int64_t least, int facts) {
    if (++sums_ > kMostSums) return false;
    const auto known = LeastOf(sum, is_count_);
    if (known && *known >= least) return true;
    const std::optional<Polynomial> terms = facts > 0 ? ToPolynomial(sum) : std::nullopt;
    if (!terms) return false;
    const auto takes_away = [](const auto& term) { return !term.first.empty() && term.second < 0; };
    const bool any_takes_away = std::any_of(terms->begin(), terms->end(), takes_away);
    for (size_t i = 0; i < facts_.size(); ++i) {
      const std::optional<Polynomial> fact = ToPolynomial(facts_[i]);
      if (!fact) continue;
      for (const auto& [key, coefficient] : *terms) {
        if (key.empty() || coefficient == INT64_MIN || (coefficient < 0) != any_takes_away) continue;
        const auto other = fact->find(key);
        if (other == fact->end() || other->second == INT64_MIN || (other->second < 0) != any_takes_away) continue;
        const int64_t common = std::gcd(coefficient, other->second), times = std::abs(other->second) / common;
        const Scalar taken = Mul(facts_[i], Int(std::abs(coefficient) / common));
        const std::optional<int64_t> least_of_all = LeastOfTimes(least, times);
        if (least_of_all && Follows(Sub(Mul(sum, Int(times)), taken), *least_of_all, facts - 1)) return true;
        break;
      }
    }
    return false;
  }

  // Names of numbers: those of `kOwn` are not negative.
  static inline const std::string kOwn = "own.", kOwnOfAnySign = "sign.";

  const Known& known_;
  std::vector<Scalar> facts_;  // none is negative
  std::function<bool(const Scalar&)> is_count_ = [this](const Scalar& atom) {
    return (atom->kind == Kind::kName && atom->name.starts_with(kOwn)) || known_.is_count(atom);
  };
  int names_ = 0, sums_ = 0;
};

}  // namespace

void AddNotNegative(const Scalar& condition, bool holds, std::vector<Scalar>& not_negative) {
  if (condition->kind == Kind::kNot) return AddNotNegative(condition->args[0], !holds, not_negative);
  if (condition->kind == (holds ? Kind::kAnd : Kind::kOr)) {
    for (const Scalar& each : condition->args) AddNotNegative(each, holds, not_negative);
    return;
  }
  if (condition->kind < Kind::kEq || condition->kind > Kind::kGe) return;
  const Scalar &a = condition->args[0], &b = condition->args[1];
  if (!IsOfAnyWidth(a) || !IsOfAnyWidth(b)) return;
  const Kind kind = holds ? condition->kind : Negated(condition->kind);
  if (kind == Kind::kNe) return;
  if (kind == Kind::kEq || kind == Kind::kGt || kind == Kind::kGe)
    not_negative.push_back(Sub(Sub(a, b), Int(kind == Kind::kGt ? 1 : 0)));
  if (kind == Kind::kEq || kind == Kind::kLt || kind == Kind::kLe)
    not_negative.push_back(Sub(Sub(b, a), Int(kind == Kind::kLt ? 1 : 0)));
}

void AddCounts(Known& known) {
  std::set<std::string> names, counts;
  for (const Scalar& scalar : known.not_negative) AddNames(scalar, names);
  for (const std::string& name : names) {
    if (!known.is_count(Name(name)) && IsAtLeast(Name(name), 0, known)) counts.insert(name);
  }
  known.is_count = [is_count = std::move(known.is_count), counts = std::move(counts)](const Scalar& atom) {
    return (atom->kind == Kind::kName && counts.contains(atom->name)) || is_count(atom);
  };
}

bool HasCases(const Scalar& scalar) {
  return Find(scalar, [](const Scalar& s) {
           return s->kind == Kind::kMin || s->kind == Kind::kMax || IsChoice(s) || s->kind == Kind::kMod || IsQuotient(s);
         }) != nullptr;
}

bool IsAtLeast(const Scalar& sum, int64_t least, const Known& known) { return Cases(known).IsAtLeast(sum, least); }

}  // namespace tkc::symbolic

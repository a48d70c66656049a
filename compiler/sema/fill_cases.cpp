// SPDX-License-Identifier: MIT
// Integers that minima, maxima, choices, remainders and quotients are in, compared case by case (fill_sources.h): each case knows
// what it is the case of.
#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "compiler/sema/fill_sources.h"
#include "compiler/symbolic/least.h"

namespace tkc::sema {

using symbolic::Kind;
using symbolic::Polynomial;
using symbolic::Scalar;

namespace {

constexpr int kMostSums = 400;  // looked at for one comparison
constexpr int kMostFacts = 4;   // that follow from each other
constexpr int kMostCases = 6;   // within each other

bool IsInteger(const Scalar& scalar) { return scalar->dtype == DType::kI64; }

/// The first operation within sums for which `wants` holds, the innermost first.
Scalar Find(const Scalar& scalar, const std::function<bool(const Scalar&)>& wants) {
  for (const Scalar& arg : scalar->args) {
    if (Scalar found = Find(arg, wants)) return found;
  }
  return IsInteger(scalar) && wants(scalar) ? scalar : nullptr;
}

Scalar Replace(const Scalar& scalar, const Scalar& what, const Scalar& by) {
  if (scalar == what || (scalar->kind == what->kind && symbolic::IsSameTree(scalar, what))) return by;
  if (scalar->args.empty()) return scalar;
  std::vector<Scalar> args;
  for (const Scalar& arg : scalar->args) args.push_back(Replace(arg, what, by));
  return symbolic::WithArgs(scalar, std::move(args));
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
  using IsCount = std::function<bool(const Scalar&)>;
  using DivisorOf = std::function<int64_t(const Scalar&)>;

  Cases(std::vector<Scalar> facts, IsCount is_count, DivisorOf divisor_of)
      : facts_(std::move(facts)), is_count_(std::move(is_count)), divisor_of_(std::move(divisor_of)) {}

  /// Whether the sum is never below `least`.
  bool IsAtLeast(const Scalar& sum, int64_t least, int depth = 0) {
    if (Follows(sum, least, kMostFacts)) return true;
    if (depth == kMostCases || sums_ > kMostSums) return false;
    const Scalar choice = Find(sum, [](const Scalar& s) { return s->kind == Kind::kMin || s->kind == Kind::kMax || IsChoice(s); });
    if (choice) return InBothCases(sum, least, choice, depth);
    if (const Scalar remainder = Find(sum, [](const Scalar& s) { return s->kind == Kind::kMod; }))
      return WithRemainder(sum, least, remainder, depth);
    const Scalar quotient = Find(sum, [](const Scalar& s) { return s->kind == Kind::kDiv || s->kind == Kind::kCdiv; });
    return quotient && WithQuotient(sum, least, quotient, depth);
  }

 private:
  static bool IsChoice(const Scalar& scalar) { return scalar->kind == Kind::kSelect; }

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

  bool InBothCases(const Scalar& sum, int64_t least, const Scalar& choice, int depth) {
    const std::vector<Scalar>& of = choice->args;
    const auto in_case = [&](const Scalar& chosen, const std::function<void()>& assume) {
      return IsAtLeastWith(choice, chosen, assume, sum, least, depth);
    };
    if (IsChoice(choice))
      return in_case(of[1], [&] { Assume(of[0], true, depth + 1); }) && in_case(of[2], [&] { Assume(of[0], false, depth + 1); });
    const bool is_min = choice->kind == Kind::kMin;
    const Scalar &lesser = of[is_min ? 0 : 1], &greater = of[is_min ? 1 : 0];
    return in_case(of[0], [&] { facts_.push_back(symbolic::Sub(greater, lesser)); }) &&
           in_case(of[1], [&] { facts_.push_back(symbolic::Sub(lesser, greater)); });
  }

  void Assume(const Scalar& condition, bool holds, int depth) {
    if (condition->kind == Kind::kNot) return Assume(condition->args[0], !holds, depth);
    if (condition->kind == (holds ? Kind::kAnd : Kind::kOr)) {
      for (const Scalar& each : condition->args) Assume(each, holds, depth);
      return;
    }
    if (condition->kind < Kind::kEq || condition->kind > Kind::kGe) return;
    const Scalar &a = condition->args[0], &b = condition->args[1];
    if (!IsInteger(a) || !IsInteger(b)) return;
    const auto add = [&](const Scalar& above, const Scalar& below, int64_t least) {
      facts_.push_back(symbolic::Sub(symbolic::Sub(above, below), symbolic::Int(least)));
    };
    const Kind kind = holds ? condition->kind : Negated(condition->kind);
    if (kind == Kind::kNe) {
      // Unequal, and not below: above.
      if (IsAtLeast(symbolic::Sub(a, b), 0, depth)) add(a, b, 1);
      if (IsAtLeast(symbolic::Sub(b, a), 0, depth)) add(b, a, 1);
      return;
    }
    if (kind == Kind::kEq || kind == Kind::kGt || kind == Kind::kGe) add(a, b, kind == Kind::kGt ? 1 : 0);
    if (kind == Kind::kEq || kind == Kind::kLt || kind == Kind::kLe) add(b, a, kind == Kind::kLt ? 1 : 0);
  }

  /// x % d as a number of its own, from 0 to what is below d by as much as divides both.
  bool WithRemainder(const Scalar& sum, int64_t least, const Scalar& remainder, int depth) {
    const Scalar &divided = remainder->args[0], &divisor = remainder->args[1];
    if (!IsAtLeast(divisor, 1, depth + 1)) return false;
    const Scalar own = symbolic::Name(kOwn + std::to_string(names_++));
    return IsAtLeastWith(
        remainder, own,
        [&] {
          const int64_t unit = std::gcd(divisor_of_(divided), divisor_of_(divisor));
          facts_.push_back(symbolic::Sub(symbolic::Sub(divisor, own), symbolic::Int(std::max<int64_t>(unit, 1))));
          if (IsAtLeast(divided, 0, depth + 1)) facts_.push_back(symbolic::Sub(divided, own));
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
    const Scalar own = symbolic::Name((is_count ? kOwn : kOwnOfAnySign) + std::to_string(names_++));
    return IsAtLeastWith(
        quotient, own,
        [&] {
          const Scalar rest = symbolic::Sub(divided, symbolic::Mul(own, divisor));
          const Scalar below = quotient->kind == Kind::kDiv ? rest : symbolic::Sub(symbolic::Int(0), rest);
          facts_.push_back(below);
          facts_.push_back(symbolic::Sub(symbolic::Sub(divisor, symbolic::Int(1)), below));
        },
        sum, least, depth);
  }

  /// Facts are taken off the sum as long as each cancels a term that is in the way: one that makes it less.
  bool Follows(const Scalar& sum, int64_t least, int facts) {
    if (++sums_ > kMostSums) return false;
    const auto known = symbolic::LeastOf(sum, is_count_or_own_);
    if (known && *known >= least) return true;
    const std::optional<Polynomial> terms = facts > 0 ? symbolic::ToPolynomial(sum) : std::nullopt;
    if (!terms) return false;
    const auto takes_away = [](const auto& term) { return !term.first.empty() && term.second < 0; };
    const bool any_takes_away = std::any_of(terms->begin(), terms->end(), takes_away);
    for (size_t i = 0; i < facts_.size(); ++i) {
      const std::optional<Polynomial> fact = symbolic::ToPolynomial(facts_[i]);
      if (!fact) continue;
      for (const auto& [key, coefficient] : *terms) {
        if (key.empty() || (coefficient < 0) != any_takes_away) continue;
        const auto other = fact->find(key);
        if (other == fact->end() || (other->second < 0) != any_takes_away) continue;
        const int64_t common = std::gcd(coefficient, other->second), times = std::abs(other->second) / common;
        const Scalar taken = symbolic::Mul(facts_[i], symbolic::Int(std::abs(coefficient) / common));
        const std::optional<int64_t> least_of_all = LeastOfTimes(least, times);
        if (least_of_all && Follows(symbolic::Sub(symbolic::Mul(sum, symbolic::Int(times)), taken), *least_of_all, facts - 1))
          return true;
        break;
      }
    }
    return false;
  }

  // Names of numbers: those of `kOwn` are not negative.
  static inline const std::string kOwn = "own.", kOwnOfAnySign = "sign.";

  std::vector<Scalar> facts_;  // none is negative
  IsCount is_count_;
  DivisorOf divisor_of_;
  IsCount is_count_or_own_ = [this](const Scalar& atom) {
    return (atom->kind == Kind::kName && atom->name.starts_with(kOwn)) || is_count_(atom);
  };
  int names_ = 0, sums_ = 0;
};

}  // namespace

bool FillSources::IsAboveInAllCases(const Scalar& difference, int64_t least) const {
  const auto divides_or_chooses = [](const Scalar& scalar) {
    switch (scalar->kind) {
      case Kind::kMin:
      case Kind::kMax:
      case Kind::kSelect:
      case Kind::kDiv:
      case Kind::kCdiv:
      case Kind::kMod: return true;
      default: return false;
    }
  };
  if (!Find(difference, divides_or_chooses)) return false;
  std::vector<Scalar> facts;
  for (const Fact& fact : facts_) {
    if (fact.divisor == 0) facts.push_back(fact.scalar);
  }
  for (const typed::VarId var : around_) {
    const Range& range = ranges_.at(NameOf(var));
    const Scalar index = symbolic::Name(NameOf(var));
    const bool divides = IsMultiple(symbolic::Sub(range.hi, range.lo), range.step);
    facts.push_back(symbolic::Sub(symbolic::Sub(range.hi, index), symbolic::Int(divides ? range.step : 1)));
    facts.push_back(symbolic::Sub(index, range.lo));
  }
  const auto divisor_of = [&](const Scalar& scalar) {
    int64_t divisor = symbolic::KnownDivisor(scalar);
    for (const Fact& fact : facts_) {
      if (fact.divisor > 0 && symbolic::Equal(fact.scalar, scalar)) divisor = std::lcm(divisor, fact.divisor);
    }
    return divisor;
  };
  return Cases(std::move(facts), [&](const Scalar& atom) { return IsCount(atom); }, divisor_of).IsAtLeast(difference, least);
}

}  // namespace tkc::sema

// SPDX-License-Identifier: MIT
#include "compiler/certify/integers.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "compiler/symbolic/polynomial.h"

namespace tkc::certify {
namespace {

using symbolic::Kind;
using symbolic::Polynomial;
using symbolic::Scalar;

Scalar Int(int64_t value) { return symbolic::Int(value); }

bool IsSumOrProduct(const Scalar& scalar) {
  switch (scalar->kind) {
    case Kind::kInt:
    case Kind::kAdd:
    case Kind::kSub:
    case Kind::kMul:
    case Kind::kNeg: return scalar->dtype == DType::kI64;
    default: return false;
  }
}

/// Of nested minima all that are compared: each bounds the least from above.
void TakeMinima(const Scalar& scalar, std::vector<Scalar>& ends) {
  if (scalar->kind != Kind::kMin) return ends.push_back(scalar);
  for (const Scalar& arg : scalar->args) TakeMinima(arg, ends);
}

}  // namespace

Integers Integers::OfLaunch(const ir::Kernel& kernel) {
  Integers integers;
  for (const std::string& dim : kernel.dims) integers.KnowLeast(dim, Int(0));
  if (kernel.when) integers.Assume(kernel.when);
  for (const Scalar& require : kernel.launch_requires) integers.Assume(require);
  return integers;
}

Integers::Known& Integers::Find(const std::string& name) {
  const auto [place, is_new] = place_.try_emplace(name, known_.size());
  if (is_new) known_.push_back({name});
  return known_[place->second];
}

std::optional<size_t> Integers::Last(const Polynomial& terms) const {
  std::optional<size_t> last;
  for (const auto& [key, coefficient] : terms) {
    for (const std::string_view factor : symbolic::FactorsOf(key))
      last = std::max(last.value_or(0), place_.at(std::string(factor)));
  }
  return last;
}

void Integers::KnowLeast(const std::string& name, const Scalar& least) {
  const Scalar value = Flatten(least);
  Find(name).least.bounds.push_back({1, value});
}

void Integers::KnowSteps(const std::string& name, const Scalar& lo, int64_t step) {
  const Scalar first = Flatten(lo);
  const int64_t divisor = std::gcd(Divisor(first), step);
  Known& steps = Find(name);
  steps.least.bounds.push_back({1, first});
  steps.divisor = divisor;
}

void Integers::KnowSteps(const std::string& name, const Scalar& lo, const Scalar& hi, int64_t step) {
  std::vector<Scalar> ends;
  TakeMinima(hi, ends);
  for (Scalar& end : ends) {
    const bool is_whole = IsMultiple(symbolic::Sub(end, lo), step);
    end = Flatten(symbolic::Sub(end, Int(is_whole ? step : 1)));
  }
  KnowSteps(name, lo, step);
  for (const Scalar& end : ends) Find(name).most.bounds.push_back({1, end});
}

void Integers::Assume(const Scalar& condition) {
  if (condition->kind == Kind::kAnd) {
    for (const Scalar& part : condition->args) Assume(part);
    return;
  }
  if (condition->args.size() != 2) return;
  const Scalar &left = condition->args[0], &right = condition->args[1];
  if (!IsSignedInteger(left->dtype) || !IsSignedInteger(right->dtype)) return;
  switch (condition->kind) {
    case Kind::kLt: return AssumeNonNegative(symbolic::Sub(right, symbolic::Add(left, Int(1))));
    case Kind::kLe: return AssumeNonNegative(symbolic::Sub(right, left));
    case Kind::kGt: return AssumeNonNegative(symbolic::Sub(left, symbolic::Add(right, Int(1))));
    case Kind::kGe: return AssumeNonNegative(symbolic::Sub(left, right));
    case Kind::kEq: {
      AssumeNonNegative(symbolic::Sub(right, left));
      AssumeNonNegative(symbolic::Sub(left, right));
      int64_t divisor = 0, rest = 0;
      if (left->kind == Kind::kName && symbolic::IsInt(right, &divisor) && divisor > 0) Find(left->name).divisor = divisor;
      if (left->kind != Kind::kMod || left->args[0]->kind != Kind::kName || !symbolic::IsInt(right, &rest) || rest != 0) return;
      Known& name = Find(left->args[0]->name);
      if (symbolic::IsInt(left->args[1], &divisor) && divisor > 0) name.divisor = symbolic::KnownMultiple(name.divisor, divisor);
      return;
    }
    default: return;
  }
}

/// A bound of the name in it that was made known last.
void Integers::AssumeNonNegative(const Scalar& scalar) {
  const Scalar flat = Flatten(scalar);
  const std::optional<Polynomial> terms = symbolic::ToPolynomial(flat);
  if (!terms) return;
  const std::optional<size_t> last = Last(*terms);
  if (!last) return;
  Known& name = known_[*last];
  const auto term = terms->find(name.name + "*");
  const Scalar rest = symbolic::Substitute(flat, name.name, Int(0));
  const bool is_linear = term != terms->end() &&
                         symbolic::Equal(flat, symbolic::Add(rest, symbolic::Mul(Int(term->second), symbolic::Name(name.name))));
  if (!is_linear) return;
  if (term->second > 0)
    name.least.bounds.push_back({term->second, symbolic::Sub(Int(0), rest)});
  else
    name.most.bounds.push_back({-term->second, rest});
}

Scalar Integers::Flatten(const Scalar& scalar) {
  if (scalar->kind == Kind::kInt) return Int(scalar->int_value);
  if (scalar->kind == Kind::kName) {
    Find(scalar->name);
    return symbolic::Name(scalar->name);
  }
  std::vector<Scalar> args;
  for (const Scalar& arg : scalar->args) args.push_back(IsSignedInteger(arg->dtype) ? Flatten(arg) : arg);
  if (IsSumOrProduct(scalar)) return symbolic::Make(scalar->kind, DType::kI64, std::move(args));
  return FlattenTerm(scalar, args);
}

Scalar Integers::FlattenTerm(const Scalar& scalar, const std::vector<Scalar>& args) {
  // An integer that its new type holds stays what it is.
  if (scalar->kind == Kind::kConvert && IsSignedInteger(scalar->args[0]->dtype)) {
    const bool widens = scalar->dtype == DType::kI64 || scalar->dtype == scalar->args[0]->dtype;
    if (widens || (scalar->dtype == DType::kI32 && FitsI32(args[0]))) return args[0];
  }
  const std::string name = "{" + symbolic::CanonicalText(scalar) + "}";
  std::string key = name;
  std::replace(key.begin(), key.end(), '*', '.');
  if (place_.count(key) > 0) return symbolic::Name(key);
  Known term{key};
  if (scalar->dtype == DType::kI64) BoundTerm(term, scalar->kind, args);
  if (scalar->kind == Kind::kCall && (scalar->name == "block::index" || scalar->name == "cluster::index"))
    term.least.bounds.push_back({1, Int(0)});
  Find(key) = std::move(term);
  return symbolic::Name(key);
}

void Integers::BoundTerm(Known& term, Kind kind, const std::vector<Scalar>& args) {
  int64_t by = 0;
  switch (kind) {
    case Kind::kMin:
    case Kind::kMax: {
      Side& sure = kind == Kind::kMin ? term.most : term.least;
      Side& either = kind == Kind::kMin ? term.least : term.most;
      sure.bounds = {{1, args[0]}, {1, args[1]}};
      either = {{{1, args[0]}, {1, args[1]}}, true};
      term.divisor = std::gcd(Divisor(args[0]), Divisor(args[1]));
      return;
    }
    case Kind::kSelect:
      term.least = term.most = {{{1, args[1]}, {1, args[2]}}, true};
      term.divisor = std::gcd(Divisor(args[1]), Divisor(args[2]));
      return;
    case Kind::kDiv:
    case Kind::kCdiv: {
      if (!symbolic::IsInt(args[1], &by) || by <= 0) {
        if (IsFlatNonNegative(args[0]) && IsFlatNonNegative(args[1])) term.least.bounds = {{1, Int(0)}};
        return;
      }
      const bool is_up = kind == Kind::kCdiv;
      term.least.bounds = {{by, is_up ? args[0] : symbolic::Sub(args[0], Int(by - 1))}};
      term.most.bounds = {{by, is_up ? symbolic::Add(args[0], Int(by - 1)) : args[0]}};
      if (IsFlatNonNegative(args[0])) term.least.bounds.push_back({1, Int(0)});
      if (const int64_t divisor = Divisor(args[0]); divisor % by == 0) term.divisor = divisor / by;
      return;
    }
    case Kind::kMod: {  // of the divisor's sign, and nearer to zero; x % 0 is x
      const bool is_number = symbolic::IsInt(args[1], &by) && by > 0;
      const bool is_positive = IsFlatNonNegative(args[0]);
      const Scalar largest = symbolic::Sub(args[1], Int(1));
      const bool has_divisor = IsFlatNonNegative(largest);
      if (has_divisor || (is_positive && IsFlatNonNegative(args[1]))) term.least.bounds = {{1, Int(0)}};
      if (has_divisor) term.most.bounds = {{1, largest}};
      if (is_number && Divisor(args[0]) % by == 0) term.most.bounds = {{1, Int(0)}};
      if (is_positive) term.most.bounds.push_back({1, args[0]});
      if (is_number) term.divisor = std::gcd(Divisor(args[0]), by);
      return;
    }
    default: return;
  }
}

bool Integers::FitsI32(const Scalar& flat) {
  return IsFlatNonNegative(flat) && IsFlatNonNegative(symbolic::Sub(Int(std::numeric_limits<int32_t>::max()), flat));
}

/// Of a sum, term by term: 0 for zero itself.
int64_t Integers::Divisor(const Scalar& flat) const {
  const std::optional<Polynomial> terms = symbolic::ToPolynomial(flat);
  if (!terms) return 1;
  int64_t divisor = 0;
  for (const auto& [key, coefficient] : *terms) {
    int64_t of_term = coefficient;
    for (const std::string_view factor : symbolic::FactorsOf(key)) {
      int64_t product = 0;
      if (!__builtin_mul_overflow(of_term, known_[place_.at(std::string(factor))].divisor, &product)) of_term = product;
    }
    divisor = std::gcd(divisor, of_term);
  }
  return divisor;
}

bool Integers::IsMultiple(const Scalar& scalar, int64_t number) { return Divisor(Flatten(scalar)) % number == 0; }

bool Integers::IsNonNegative(const Scalar& scalar) { return IsFlatNonNegative(Flatten(scalar)); }

bool Integers::IsFlatNonNegative(const Scalar& flat) const {
  const std::optional<Polynomial> terms = symbolic::ToPolynomial(flat);
  if (!terms) return false;
  const std::optional<size_t> last = Last(*terms);
  if (!last) return terms->empty() || terms->at("") >= 0;
  return HoldsAtBound(flat, known_[*last]);
}

/// flat = a * name + b, of which the least is where the name is least or, if a is negative, most.
bool Integers::HoldsAtBound(const Scalar& flat, const Known& name) const {
  const Scalar b = symbolic::Substitute(flat, name.name, Int(0));
  const Scalar a = symbolic::Sub(symbolic::Substitute(flat, name.name, Int(1)), b);
  if (!symbolic::Equal(flat, symbolic::Add(symbolic::Mul(a, symbolic::Name(name.name)), b))) return false;
  const bool grows = IsFlatNonNegative(a);
  if (!grows && !IsFlatNonNegative(symbolic::Sub(Int(0), a))) return false;
  const Side& side = grows ? name.least : name.most;
  const auto holds = [&](const Bound& bound) {
    return IsFlatNonNegative(symbolic::Add(symbolic::Mul(a, bound.value), symbolic::Mul(Int(bound.scale), b)));
  };
  if (side.bounds.empty()) return false;
  return side.is_one_of ? std::all_of(side.bounds.begin(), side.bounds.end(), holds)
                        : std::any_of(side.bounds.begin(), side.bounds.end(), holds);
}

}  // namespace tkc::certify

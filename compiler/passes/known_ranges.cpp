// SPDX-License-Identifier: MIT
#include "compiler/passes/known_ranges.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "compiler/symbolic/polynomial.h"
#include "compiler/symbolic/reach.h"
#include "compiler/target/cluster.h"

namespace tkc::passes {
namespace {

using symbolic::Kind;
using symbolic::Scalar;

constexpr int64_t kLeast = IntRange::kLeast, kMost = IntRange::kMost;
constexpr IntRange kNonNegative{0, kMost};

/// `none` where one of the terms has no bound or their sum overflows.
int64_t Sum(int64_t a, int64_t b, int64_t none) {
  int64_t sum = 0;
  return a == kLeast || a == kMost || b == kLeast || b == kMost || __builtin_add_overflow(a, b, &sum) ? none : sum;
}

int64_t Negated(int64_t a) { return a == kLeast ? kMost : a == kMost ? kLeast : -a; }

IntRange Negated(IntRange r) { return {Negated(r.hi), Negated(r.lo)}; }

IntRange Product(IntRange a, IntRange b) {
  IntRange product{kMost, kLeast};
  for (const int64_t x : {a.lo, a.hi}) {
    for (const int64_t y : {b.lo, b.hi}) {
      int64_t corner = 0;
      const bool is_open = x == kLeast || x == kMost || y == kLeast || y == kMost;
      if (is_open && a.lo >= 0 && b.lo >= 0) {
        product.lo = std::min(product.lo, int64_t{0});
        product.hi = kMost;
      } else if (is_open || __builtin_mul_overflow(x, y, &corner)) {
        return {};
      } else {
        product = {std::min(product.lo, corner), std::max(product.hi, corner)};
      }
    }
  }
  return product;
}

IntRange OfType(DType dtype) {
  const symbolic::Reach type = symbolic::ReachOf(dtype);
  return {type.least, type.most};
}

/// The least and the most of two ranges' values.
IntRange Either(IntRange a, IntRange b) { return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)}; }

/// Rounded down; `open` of a bound that is none.
IntRange Quotient(IntRange a, int64_t by) {
  const auto floor = [by](int64_t x) { return x == kLeast || x == kMost ? x : x / by - (x % by < 0 ? 1 : 0); };
  return {floor(a.lo), floor(a.hi)};
}

/// c < x as x > c.
Kind MirroredKind(Kind kind) {
  switch (kind) {
    case Kind::kLt: return Kind::kGt;
    case Kind::kLe: return Kind::kGe;
    case Kind::kGt: return Kind::kLt;
    case Kind::kGe: return Kind::kLe;
    default: return kind;
  }
}

}  // namespace

IntRange Sum(IntRange a, IntRange b) { return {Sum(a.lo, b.lo, kLeast), Sum(a.hi, b.hi, kMost)}; }

void KnownRanges::Learn(const std::string& name, IntRange range, int64_t divisor) {
  Fact& fact = facts_[name];
  fact.range = {std::max(fact.range.lo, range.lo), std::min(fact.range.hi, range.hi)};
  if (divisor > 0) fact.divisor = symbolic::KnownMultiple(fact.divisor, divisor);
}

void KnownRanges::Assume(const Scalar& condition) {
  switch (condition->kind) {
    case Kind::kAnd:
      for (const Scalar& part : condition->args) Assume(part);
      return;
    case Kind::kEq:
    case Kind::kLt:
    case Kind::kLe:
    case Kind::kGt:
    case Kind::kGe:
      Compare(condition->kind, condition->args[0], condition->args[1]);
      Compare(MirroredKind(condition->kind), condition->args[1], condition->args[0]);
      return;
    default: return;
  }
}

void KnownRanges::Compare(Kind kind, const Scalar& left, const Scalar& right) {
  int64_t number = 0, divisor = 0;
  if (!symbolic::IsInt(right, &number)) return;
  if (kind == Kind::kEq && number == 0 && left->kind == Kind::kMod && left->args[0]->kind == Kind::kName &&
      symbolic::IsInt(left->args[1], &divisor)) {
    return Learn(left->args[0]->name, {}, divisor);
  }
  if (left->kind != Kind::kName) return;
  const bool has_next = number<kMost, has_previous = number> kLeast;
  switch (kind) {
    case Kind::kEq: return Learn(left->name, {number, number}, std::max<int64_t>(number, 1));
    case Kind::kLe: return Learn(left->name, {kLeast, number});
    case Kind::kGe: return Learn(left->name, {number, kMost});
    case Kind::kLt: return Learn(left->name, {kLeast, has_previous ? number - 1 : number});
    case Kind::kGt: return Learn(left->name, {has_next ? number + 1 : number, kMost});
    default: return;
  }
}

void KnownRanges::Define(const std::string& name, Fact fact) {
  if (!defined_.insert(name).second) {
    const Fact& other = facts_[name];
    fact = {Either(fact.range, other.range), std::gcd(fact.divisor, other.divisor)};
  }
  facts_[name] = fact;
}

void KnownRanges::Define(const std::string& name, const Scalar& value, bool changes) {
  Define(name, changes ? Fact{} : Fact{Of(value), Divisor(value)});
}

void KnownRanges::DefineSteps(const std::string& name, const Scalar& first, int64_t step) {
  Define(name, Fact{{Of(first).lo, kMost}, std::gcd(Divisor(first), step)});
}

void KnownRanges::DefineWithin(const std::string& name, IntRange range) { Define(name, Fact{range}); }

int64_t KnownRanges::Divisor(const Scalar& scalar) const {
  Scalar expanded = scalar;  // a name that is a multiple of a number as a product with it
  std::set<std::string> names;
  symbolic::AddNames(scalar, names);
  for (const std::string& name : names) {
    const auto fact = facts_.find(name);
    if (fact == facts_.end() || fact->second.divisor == 1) continue;
    expanded = symbolic::Substitute(expanded, name, symbolic::Mul(symbolic::Int(fact->second.divisor), symbolic::Name(name + "'")));
  }
  return symbolic::KnownDivisor(expanded);
}

Scalar KnownRanges::Fold(const Scalar& scalar) const {
  const bool is_integer = scalar->dtype == DType::kI64;
  if (const IntRange value = is_integer ? Of(scalar) : IntRange{}; value.IsOne()) return symbolic::Int(value.lo);
  std::vector<Scalar> args;
  for (const Scalar& arg : scalar->args) args.push_back(Fold(arg));
  if (is_integer && (scalar->kind == Kind::kMin || scalar->kind == Kind::kMax)) {
    const IntRange difference = Of(symbolic::Sub(args[0], args[1]));
    if (difference.hi <= 0) return args[scalar->kind == Kind::kMin ? 0 : 1];
    if (difference.lo >= 0) return args[scalar->kind == Kind::kMin ? 1 : 0];
  }
  return symbolic::WithArgs(scalar, std::move(args));
}

IntRange KnownRanges::Of(const Scalar& scalar) const {
  const auto part = [&](size_t i) { return Of(scalar->args[i]); };
  const auto are_non_negative = [&] { return part(0).lo >= 0 && part(1).lo >= 0; };
  int64_t by = 0;
  switch (scalar->kind) {
    case Kind::kInt: return {scalar->int_value, scalar->int_value};
    case Kind::kName: {
      const auto fact = facts_.find(scalar->name);
      return fact == facts_.end() ? IntRange{} : fact->second.range;
    }
    case Kind::kNeg: return Negated(part(0));
    case Kind::kAdd: return Sum(part(0), part(1));
    case Kind::kSub: return Sum(part(0), Negated(part(1)));
    case Kind::kMul: return Product(part(0), part(1));
    case Kind::kDiv:
    case Kind::kCdiv:
      if (!symbolic::IsInt(scalar->args[1], &by) || by <= 0) {  // no further from zero than what is divided
        const IntRange value = part(0), negated = Negated(value);
        if (are_non_negative()) return {0, value.hi};
        return {std::min(value.lo, negated.lo), std::max(value.hi, negated.hi)};
      }
      return scalar->kind == Kind::kDiv ? Quotient(part(0), by) : Negated(Quotient(Negated(part(0)), by));
    case Kind::kMod: {
      if (!symbolic::IsInt(scalar->args[1], &by) || by <= 0) {  // of the sign of what divides, and nearer to zero; x % 0 is x
        const IntRange divisor = part(1), range{std::min(divisor.lo, int64_t{0}), std::max(divisor.hi, int64_t{0})};
        return divisor.lo > 0 || divisor.hi < 0 ? range : Either(range, part(0));
      }
      if (Divisor(scalar->args[0]) % by == 0) return {0, 0};
      const IntRange value = part(0);
      return value.lo >= 0 && value.hi < by ? value : IntRange{0, by - 1};
    }
    case Kind::kMin: return {std::min(part(0).lo, part(1).lo), std::min(part(0).hi, part(1).hi)};
    case Kind::kMax: return {std::max(part(0).lo, part(1).lo), std::max(part(0).hi, part(1).hi)};
    case Kind::kSelect: return Either(part(1), part(2));
    case Kind::kCall: {
      const std::string& name = scalar->name;
      if (name == "abs") {
        const IntRange value = part(0), negated = Negated(value);
        return {std::max({int64_t{0}, value.lo, negated.lo}), std::max(value.hi, negated.hi)};
      }
      if (const auto fact = facts_.find(name); fact != facts_.end()) return fact->second.range;
      if (name == "cluster::rank") return {0, kMostBlocksOfCluster - 1};
      return name == "block::index" || name == "chiplet_order" ? kNonNegative : IntRange{};
    }
    case Kind::kElement: return OfType(scalar->dtype);
    case Kind::kConvert: {  // an integer that its new type may not hold wraps
      const IntRange value = part(0), type = OfType(scalar->dtype);
      return value.lo >= type.lo && value.hi <= type.hi ? value : type;
    }
    default: return {};
  }
}

KnownRanges KnownAtLaunch(const ir::Kernel& kernel) {
  KnownRanges known;
  for (const std::string& dim : kernel.dims) known.Learn(dim, {0, kMost});
  if (kernel.when) known.Assume(kernel.when);
  for (const Scalar& require : kernel.launch_requires) known.Assume(require);
  for (const ir::GridAxis& axis : kernel.axes) known.DefineSteps(axis.name, axis.lo, axis.step);
  return known;
}

}  // namespace tkc::passes

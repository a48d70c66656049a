// SPDX-License-Identifier: MIT
#include "compiler/passes/known_ranges.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/symbolic/polynomial.h"
#include "compiler/target/cluster.h"

namespace tkc::passes {
namespace {

using symbolic::Kind;
using symbolic::Scalar;

constexpr int64_t kLeast = IntRange::kLeast, kMost = IntRange::kMost;
constexpr IntRange kNonNegative{0, kMost};

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

bool KnownRanges::IsOneStepAtMost(const ir::Op& loop) const {
  const Scalar &first = loop.scalars[0], &end = loop.scalars[1];
  const std::optional<int64_t> most = symbolic::MostDifference(end, first);
  return (most && *most <= loop.number) || Of(symbolic::Sub(end, first)).hi <= loop.number;
}

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
  const auto of_atom = [&](const Scalar& atom) -> IntRange {
    if (atom->kind == Kind::kElement) return symbolic::RangeOfElement(atom->dtype);
    if (const auto fact = facts_.find(atom->name); fact != facts_.end()) return fact->second.range;
    if (atom->kind == Kind::kName) return {};
    if (atom->name == "cluster::rank") return {0, kMostBlocksOfCluster - 1};
    return atom->name == "block::index" || atom->name == "chiplet_order" ? kNonNegative : IntRange{};
  };
  return symbolic::RangeOf(scalar, of_atom, [&](const Scalar& divided) { return Divisor(divided); });
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

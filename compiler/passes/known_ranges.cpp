// SPDX-License-Identifier: MIT
#include "compiler/passes/known_ranges.h"

#include <algorithm>
#include <numeric>
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

void KnownRanges::EnterLoop(const ir::Op& loop) {
  DefineSteps(loop.symbol, loop.scalars[0], loop.Step());
  loops_.push_back({symbolic::Name(loop.symbol), loop.scalars[1]});
}

void KnownRanges::LeaveLoop() { loops_.pop_back(); }

IntRange KnownRanges::Difference(const Scalar& a, const Scalar& b) const {
  const auto is_choice = [](const Scalar& scalar) { return scalar->kind == Kind::kMin || scalar->kind == Kind::kMax; };
  if (a->dtype == DType::kI64 && is_choice(a))
    return symbolic::Chosen(a->kind, Difference(a->args[0], b), Difference(a->args[1], b));
  if (b->dtype == DType::kI64 && is_choice(b)) return symbolic::Difference({0, 0}, Difference(b, a));
  const Scalar difference = symbolic::Sub(a, b), other = symbolic::Sub(b, a);
  IntRange range = Of(difference);
  for (const auto& [index, end] : loops_) {
    const Scalar below = symbolic::Sub(index, end);  // at most -1
    if (const auto beyond = symbolic::ConstantDifference(difference, below)) range.hi = std::min(range.hi, *beyond - 1);
    if (const auto beyond = symbolic::ConstantDifference(other, below)) range.lo = std::max(range.lo, 1 - *beyond);
  }
  return range;
}

bool KnownRanges::IsOneStepAtMost(const ir::Op& loop) const {
  return Difference(loop.scalars[1], loop.scalars[0]).hi <= loop.Step();
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
  for (const ir::GridAxis& axis : kernel.axes) {
    known.DefineSteps(axis.name, axis.lo, axis.step);
    // The last blocks of clusters may have no tile: then no axis says where they are.
    if (kernel.cluster == 1) known.loops_.push_back({symbolic::Name(axis.name), axis.hi});
  }
  return known;
}

}  // namespace tkc::passes

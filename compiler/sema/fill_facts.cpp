// SPDX-License-Identifier: MIT
// What requirements of the launch and conditions around a statement say of where elements may be missing (fill_sources.h).
#include <algorithm>
#include <utility>

#include "compiler/sema/fill_sources.h"
#include "compiler/symbolic/least.h"

namespace tkc::sema {

using symbolic::Scalar;
using typed::Expr;

std::vector<Scalar> ArgumentsOf(const Scalar& scalar, symbolic::Kind kind) {
  using symbolic::Kind;
  constexpr size_t kMost = 16;  // sums of minima have many
  std::vector<Scalar> arguments;
  if (scalar->kind == kind) {
    for (const Scalar& arg : scalar->args) {
      const std::vector<Scalar> inner = ArgumentsOf(arg, kind);
      arguments.insert(arguments.end(), inner.begin(), inner.end());
    }
    return arguments;
  }
  if (scalar->kind != Kind::kAdd && scalar->kind != Kind::kSub) return {scalar};
  const bool adds = scalar->kind == Kind::kAdd;
  const Kind opposite = kind == Kind::kMin ? Kind::kMax : Kind::kMin;
  const std::vector<Scalar> left = ArgumentsOf(scalar->args[0], kind);
  const std::vector<Scalar> right = ArgumentsOf(scalar->args[1], adds ? kind : opposite);
  if (left.size() * right.size() > kMost) return {scalar};
  for (const Scalar& a : left) {
    for (const Scalar& b : right) arguments.push_back(adds ? symbolic::Add(a, b) : symbolic::Sub(a, b));
  }
  return arguments;
}

/// Whether the value may be another one further below.
bool FillSources::IsOfMutable(const Expr& expr) const {
  if (expr.kind == typed::ExprKind::kVar && kernel_.vars[expr.id].kind == typed::VarKind::kMutable) return true;
  return std::any_of(expr.args.begin(), expr.args.end(), [&](const typed::ExprPtr& arg) { return IsOfMutable(*arg); });
}

void FillSources::Assume(const Expr& requirement) {
  if (requirement.kind != typed::ExprKind::kBinary) return;
  using typed::Op;
  if (requirement.op == Op::kAnd) {
    for (const typed::ExprPtr& each : requirement.args) Assume(*each);
    return;
  }
  const bool is_comparison = requirement.op >= Op::kEq && requirement.op <= Op::kGe && requirement.op != Op::kNe;
  if (!is_comparison || requirement.type.is_tile || IsFloat(requirement.args[0]->type.dtype) || IsOfMutable(requirement)) return;
  const Scalar a = table_->Of(*requirement.args[0]), b = table_->Of(*requirement.args[1]);
  const bool is_strict = requirement.op == Op::kLt || requirement.op == Op::kGt;
  const bool is_equal = requirement.op == Op::kEq;
  if (is_equal || requirement.op == Op::kGt || requirement.op == Op::kGe) AssumeAbove(a, b, is_strict);
  if (is_equal || requirement.op == Op::kLt || requirement.op == Op::kLe) AssumeAbove(b, a, is_strict);
  if (!is_equal) return;
  const Scalar difference = symbolic::Sub(a, b);
  int64_t divisor = 0;
  if (difference->kind == symbolic::Kind::kMod && symbolic::IsInt(difference->args[1], &divisor) && divisor > 0)
    facts_.push_back({difference->args[0], divisor});
}

void FillSources::AssumeAbove(const Scalar& a, const Scalar& b, bool is_strict) {
  for (const Scalar& above : ArgumentsOf(a, symbolic::Kind::kMin)) {
    for (const Scalar& below : ArgumentsOf(b, symbolic::Kind::kMax)) {
      const Scalar difference = symbolic::Sub(above, below);
      facts_.push_back({is_strict ? symbolic::Sub(difference, symbolic::Int(1)) : difference});
    }
  }
}

/// By its form, as a fact says, or as facts say which number it is.
bool FillSources::IsMultiple(const Scalar& scalar, int64_t divisor) const {
  if (symbolic::KnownDivisor(scalar) % divisor == 0) return true;
  return std::any_of(facts_.begin(), facts_.end(), [&](const Fact& fact) {
    if (fact.divisor > 0) return fact.divisor % divisor == 0 && symbolic::Equal(fact.scalar, scalar);
    const auto number = symbolic::ConstantDifference(scalar, fact.scalar);  // at least this
    return number && *number % divisor == 0 && IsAbove(symbolic::Int(*number), scalar, 0);
  });
}

bool FillSources::IsAbove(const Scalar& a, const Scalar& b, int64_t least) const {
  const Scalar difference = symbolic::Sub(a, b);
  const auto is_least = [&](const Scalar& rest) {
    const auto known = symbolic::LeastOf(rest, [&](const Scalar& atom) { return IsCount(atom); });
    return known && *known >= least;
  };
  return is_least(difference) || std::any_of(facts_.begin(), facts_.end(), [&](const Fact& fact) {
           return fact.divisor == 0 && is_least(symbolic::Sub(difference, fact.scalar));
         });
}

}  // namespace tkc::sema

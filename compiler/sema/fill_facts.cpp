// SPDX-License-Identifier: MIT
// What requirements of the launch and conditions around a statement say of where elements may be missing (fill_sources.h).
#include <algorithm>
#include <numeric>

#include "compiler/sema/fill_sources.h"
#include "compiler/symbolic/cases.h"
#include "compiler/symbolic/least.h"

namespace tkc::sema {

using symbolic::Scalar;
using typed::Expr;
using typed::VarId;

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
  return typed::Contains(expr, [&](const Expr& node) {
    return node.kind == typed::ExprKind::kVar && kernel_.vars[node.id].kind == typed::VarKind::kMutable;
  });
}

void FillSources::Assume(const Expr& requirement, bool holds) {
  using typed::Op;
  if (requirement.kind == typed::ExprKind::kUnary && requirement.op == Op::kNot) return Assume(*requirement.args[0], !holds);
  if (requirement.kind != typed::ExprKind::kBinary) return;
  if (requirement.op == (holds ? Op::kAnd : Op::kOr)) {
    for (const typed::ExprPtr& each : requirement.args) Assume(*each, holds);
    return;
  }
  const bool is_comparison = requirement.op >= Op::kEq && requirement.op <= Op::kGe;
  if (!is_comparison || requirement.type.is_tile || IsFloat(requirement.args[0]->type.dtype) || IsOfMutable(requirement)) return;
  std::vector<Scalar> not_negative;
  symbolic::AddNotNegative(table_->Of(requirement), holds, not_negative);
  for (const Scalar& difference : not_negative) {
    // Of a minimum no argument is below.
    for (const Scalar& each : ArgumentsOf(AsRequired(difference), symbolic::Kind::kMin)) {
      facts_.push_back({each});
      AssumeOfBlocks(each);
    }
  }
  if (requirement.op != (holds ? Op::kEq : Op::kNe)) return;
  const Scalar difference = symbolic::Sub(table_->Of(*requirement.args[0]), table_->Of(*requirement.args[1]));
  int64_t divisor = 0;
  if (difference->kind == symbolic::Kind::kMod && symbolic::IsInt(difference->args[1], &divisor) && divisor > 0)
    facts_.push_back({AsRequired(difference->args[0]), divisor});
}

/// What is said of the number of a block, `n.number <= k`, says of its first element `n.start <= k * 64`.
void FillSources::AssumeOfBlocks(const Scalar& not_negative) {
  for (const VarId var : around_) {
    const Range& range = ranges_.at(NameOf(var));
    if (range.step == 1) continue;
    const Scalar distance = symbolic::Sub(symbolic::Name(NameOf(var)), AsRequired(range.lo)), step = symbolic::Int(range.step);
    const Scalar number = symbolic::Make(symbolic::Kind::kDiv, DType::kI64, {distance, step});
    for (const int64_t sign : {1, -1}) {
      const Scalar rest = symbolic::Sub(not_negative, symbolic::Mul(number, symbolic::Int(sign)));
      if (!symbolic::Equal(rest, symbolic::Substitute(rest, NameOf(var), symbolic::Int(0)))) continue;
      facts_.push_back({symbolic::Add(symbolic::Mul(rest, step), symbolic::Mul(distance, symbolic::Int(sign)))});
    }
  }
}

/// By its form, as a fact says, or as facts say which number it is.
bool FillSources::IsMultiple(const Scalar& formula, int64_t divisor) const {
  const Scalar scalar = AsRequired(formula);
  if (symbolic::KnownDivisor(scalar) % divisor == 0) return true;
  return std::any_of(facts_.begin(), facts_.end(), [&](const Fact& fact) {
    if (fact.divisor > 0) return fact.divisor % divisor == 0 && symbolic::Equal(fact.scalar, scalar);
    const auto number = symbolic::ConstantDifference(scalar, fact.scalar);  // at least this
    return number && *number % divisor == 0 && IsAbove(symbolic::Int(*number), scalar, 0);
  });
}

bool FillSources::IsAbove(const Scalar& a, const Scalar& b, int64_t least) const {
  const Scalar difference = AsRequired(symbolic::Sub(a, b));
  const auto is_least = [&](const Scalar& rest) {
    const auto known = symbolic::LeastOf(rest, [&](const Scalar& atom) { return IsCount(atom); });
    return known && *known >= least;
  };
  if (is_least(difference)) return true;
  std::vector<Scalar> beside_one;  // a fact
  for (const Fact& fact : facts_) {
    if (fact.divisor != 0) continue;
    beside_one.push_back(symbolic::Sub(difference, fact.scalar));
    if (is_least(beside_one.back())) return true;
  }
  constexpr size_t kMostOfPairs = 16;
  const bool is_of_pair =
      beside_one.size() <= kMostOfPairs && std::any_of(facts_.begin(), facts_.end(), [&](const Fact& fact) {
        const auto is_beside_both = [&](const Scalar& rest) { return is_least(symbolic::Sub(rest, fact.scalar)); };
        return fact.divisor == 0 && std::any_of(beside_one.begin(), beside_one.end(), is_beside_both);
      });
  return is_of_pair || IsAboveInAllCases(difference, least);
}

bool FillSources::IsAboveInAllCases(const Scalar& difference, int64_t least) const {
  if (!symbolic::HasCases(difference)) return false;
  symbolic::Known known;
  for (const Fact& fact : facts_) {
    if (fact.divisor == 0) known.not_negative.push_back(fact.scalar);
  }
  for (const VarId var : around_) {
    const Range& range = ranges_.at(NameOf(var));
    const Scalar index = symbolic::Name(NameOf(var));
    const bool divides = IsMultiple(symbolic::Sub(range.hi, range.lo), range.step);
    known.not_negative.push_back(
        AsRequired(symbolic::Sub(symbolic::Sub(range.hi, index), symbolic::Int(divides ? range.step : 1))));
    known.not_negative.push_back(AsRequired(symbolic::Sub(index, range.lo)));
  }
  known.is_count = [&](const Scalar& atom) { return IsCount(atom); };
  known.divisor_of = [&](const Scalar& scalar) {
    int64_t divisor = symbolic::KnownDivisor(scalar);
    for (const Fact& fact : facts_) {
      if (fact.divisor > 0 && symbolic::Equal(fact.scalar, scalar)) divisor = symbolic::KnownMultiple(divisor, fact.divisor);
    }
    return divisor;
  };
  return symbolic::IsAtLeast(difference, least, known);
}

symbolic::IntRange FillSources::RangeOf(const Scalar& scalar) const {
  return symbolic::RangeOf(scalar, [&](const Scalar& atom) -> symbolic::IntRange {
    if (atom->kind == symbolic::Kind::kCall) return {};
    // Scalars of a launch and elements lose their width in formulas.
    for (const typed::Param& param : kernel_.params) {
      if (atom->name == SymbolicTable::NameOfParam(param.name)) return symbolic::RangeOfElement(param.dtype);
    }
    if (atom->kind != symbolic::Kind::kName) return {};
    if (SymbolicTable::IsCount(atom->name)) return {0, typed::kLargestExtent};
    if (instance_ != typed::kNone && table_->NameOf(instance_) == atom->name) return {0, instances_ - 1};
    const auto range = ranges_.find(atom->name);
    return range == ranges_.end() ? symbolic::IntRange{}
                                  : symbolic::IntRange{RangeOf(range->second.lo).lo, RangeOf(range->second.hi).hi};
  });
}

bool FillSources::IsEndInSight(const Scalar& scalar) const {
  return std::any_of(around_.begin(), around_.end(), [&](const VarId var) {
    const Range& range = ranges_.at(NameOf(var));
    return symbolic::Equal(range.lo, scalar) || symbolic::Equal(range.hi, scalar);
  });
}

}  // namespace tkc::sema

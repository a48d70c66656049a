// SPDX-License-Identifier: MIT
// A name that is d * q is replaced by that product, and the divisor of the expression read off its terms.
#include "compiler/passes/index_facts.h"

#include <algorithm>
#include <numeric>

#include "compiler/passes/walk.h"
#include "compiler/symbolic/polynomial.h"

namespace tkc::passes {

using symbolic::Kind;

IndexFacts::IndexFacts(const ir::Kernel& kernel) {
  for (const std::string& dim : kernel.dims) facts_[dim] = {1, true};
  Learn(kernel.lets);
  for (const ir::GridAxis& axis : kernel.axes) LearnSteps(axis.name, axis.lo, axis.step);
  for (const ir::Worker& worker : kernel.workers) {
    if (!worker.instance_name.empty()) facts_[worker.instance_name] = {1, true};
    Learn(worker.body);
  }
}

void IndexFacts::Learn(const ir::Region& region) {
  ForEachOp(region, [&](const ir::Op& op) {
    if (op.code == ir::OpCode::kFor) LearnSteps(op.symbol, op.scalars[0], op.number);
    if (op.code == ir::OpCode::kUnroll) facts_[op.symbol] = {1, true};
    if (op.code == ir::OpCode::kLet && op.scalars[0]->dtype == DType::kI64)
      facts_[op.symbol] = {Divisor(op.scalars[0]), IsNonNegative(op.scalars[0])};
  });
}

void IndexFacts::LearnSteps(const std::string& name, const ir::Scalar& first, int64_t step) {
  facts_[name] = {std::gcd(Divisor(first), step), IsNonNegative(first)};
}

int64_t IndexFacts::Divisor(const ir::Scalar& scalar) const {
  ir::Scalar expanded = scalar;
  for (const auto& [name, fact] : facts_) {
    if (fact.divisor == 1 || !symbolic::Mentions(expanded, name)) continue;
    expanded = symbolic::Substitute(expanded, name, symbolic::Mul(symbolic::Int(fact.divisor), symbolic::Name(name + "'")));
  }
  return symbolic::KnownDivisor(expanded);
}

bool IndexFacts::IsNonNegative(const ir::Scalar& scalar) const {
  const auto holds = [&](const ir::Scalar& part) { return IsNonNegative(part); };
  switch (scalar->kind) {
    case Kind::kInt: return scalar->int_value >= 0;
    case Kind::kName: {
      const auto fact = facts_.find(scalar->name);
      return fact != facts_.end() && fact->second.is_non_negative;
    }
    case Kind::kCall: return scalar->name == "cluster::rank" || scalar->name == "block::index";
    case Kind::kMax: return std::any_of(scalar->args.begin(), scalar->args.end(), holds);
    case Kind::kSelect: return holds(scalar->args[1]) && holds(scalar->args[2]);
    case Kind::kAdd:
    case Kind::kMul:
    case Kind::kDiv:
    case Kind::kMod:
    case Kind::kMin:
    case Kind::kCdiv:
    case Kind::kConvert: return std::all_of(scalar->args.begin(), scalar->args.end(), holds);
    default: return false;
  }
}

}  // namespace tkc::passes

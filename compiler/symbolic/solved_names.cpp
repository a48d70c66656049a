// SPDX-License-Identifier: MIT
#include "compiler/symbolic/solved_names.h"

#include <utility>

#include "compiler/symbolic/evaluate.h"
#include "compiler/symbolic/polynomial.h"

namespace tkc::symbolic {

SolvedNames::SolvedNames(const std::vector<Scalar>& requirements, std::function<bool(std::string_view)> is_count)
    : is_count_(std::move(is_count)) {
  std::vector<Scalar> conjuncts;
  for (const Scalar& requirement : requirements) AddConjuncts(requirement, conjuncts);
  for (const Scalar& conjunct : conjuncts) SolveEqual(conjunct);
  for (const Scalar& conjunct : conjuncts) SolveMultiple(conjunct);
}

Scalar SolvedNames::PutIn(Scalar scalar) const {
  for (const auto& [name, value] : values_) scalar = Substitute(scalar, name, value);
  return scalar;
}

bool SolvedNames::IsCount(const Scalar& scalar) const {
  return scalar->kind == Kind::kName && is_count_(scalar->name) && !IsQuotient(scalar->name);
}

void SolvedNames::Add(const std::string& name, const Scalar& value) {
  for (auto& [other, of_other] : values_) of_other = Substitute(of_other, name, value);
  values_.emplace_back(name, value);
}

void SolvedNames::SolveEqual(const Scalar& requirement) {
  if (requirement->kind != Kind::kEq) return;
  for (const size_t i : {0, 1}) {
    const Scalar name = PutIn(requirement->args[i]), value = PutIn(requirement->args[1 - i]);
    if (SolveProduct(name, value)) return;
    const bool is_solution = IsCount(name) && value->dtype == DType::kI64 && !Mentions(value, name->name);
    if (is_solution && IsNonNegative(value, is_count_)) return Add(name->name, value);
  }
}

/// `K * 8 == G * 64`: K is G * 8.
bool SolvedNames::SolveProduct(const Scalar& product, const Scalar& value) {
  int64_t factor = 0;
  if (product->kind != Kind::kMul || !IsInt(product->args[1], &factor) || factor <= 1 || !IsCount(product->args[0])) return false;
  const std::string& name = product->args[0]->name;
  const bool divides = value->dtype == DType::kI64 && DivisorOfTerms(value) % factor == 0;
  if (!divides || Mentions(value, name) || !IsNonNegative(value, is_count_)) return false;
  Add(name, Make(Kind::kDiv, DType::kI64, {value, Int(factor)}));
  return true;
}

void SolvedNames::SolveMultiple(const Scalar& requirement) {
  int64_t divisor = 0, zero = -1;
  if (requirement->kind != Kind::kEq) return;
  for (const size_t i : {0, 1}) {
    const Scalar& remainder = requirement->args[i];
    const bool is_zero = IsInt(requirement->args[1 - i], &zero) && zero == 0;
    if (!is_zero || remainder->kind != Kind::kMod || !IsInt(remainder->args[1], &divisor) || divisor <= 1) continue;
    const Scalar name = PutIn(remainder->args[0]);
    if (IsCount(name)) return Add(name->name, Mul(Name(name->name + std::string(kQuotient)), Int(divisor)));
  }
}

}  // namespace tkc::symbolic

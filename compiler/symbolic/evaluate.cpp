// SPDX-License-Identifier: MIT
// Every operation on literals folds, so evaluating is substituting literals from the leaves up.
#include "compiler/symbolic/evaluate.h"

#include <vector>

namespace tkc::symbolic {
namespace {

Scalar Fold(const Scalar& scalar, const Environment& environment) {
  if (scalar->kind == Kind::kInt || scalar->kind == Kind::kBool) return scalar;
  if (scalar->kind == Kind::kName) {
    const std::optional<int64_t> value = environment(scalar->name);
    if (!value) return nullptr;
    return scalar->dtype == DType::kBool ? Bool(*value != 0) : Convert(Int(*value), scalar->dtype);
  }
  if (scalar->kind == Kind::kFloat || scalar->kind == Kind::kElement || scalar->kind == Kind::kCall) return nullptr;
  std::vector<Scalar> args;
  for (const Scalar& arg : scalar->args) {
    args.push_back(Fold(arg, environment));
    if (!args.back() || args.back()->args.size()) return nullptr;
  }
  return scalar->kind == Kind::kConvert ? Convert(args[0], scalar->dtype) : Make(scalar->kind, scalar->dtype, std::move(args));
}

}  // namespace

std::optional<int64_t> Evaluate(const Scalar& scalar, const Environment& environment) {
  const Scalar folded = scalar ? Fold(scalar, environment) : nullptr;
  if (!folded || (folded->kind != Kind::kInt && folded->kind != Kind::kBool)) return std::nullopt;
  return folded->int_value;
}

}  // namespace tkc::symbolic

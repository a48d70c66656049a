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
  return WithArgs(scalar, std::move(args));
}

}  // namespace

std::optional<int64_t> Evaluate(const Scalar& scalar, const Environment& environment) {
  const Scalar folded = scalar ? Fold(scalar, environment) : nullptr;
  if (!folded || (folded->kind != Kind::kInt && folded->kind != Kind::kBool)) return std::nullopt;
  return folded->int_value;
}

namespace {

bool IsNonNegative(const Scalar& scalar, const std::function<bool(const Scalar&)>& is_count, int depth) {
  constexpr int kDeepest = 16;
  if (depth > kDeepest) return false;
  const auto is = [&](size_t i) { return IsNonNegative(scalar->args[i], is_count, depth + 1); };
  int64_t divisor = 0;
  switch (scalar->kind) {
    case Kind::kInt: return scalar->int_value >= 0;
    case Kind::kName:
    case Kind::kElement: return is_count(scalar);
    case Kind::kAdd:
    case Kind::kMul:
    case Kind::kMin: return is(0) && is(1);
    case Kind::kMax: return is(0) || is(1);
    case Kind::kSelect: return is(1) && is(2);
    case Kind::kDiv:
    case Kind::kCdiv: return is(0) && IsInt(scalar->args[1], &divisor) && divisor > 0;
    case Kind::kMod: return IsInt(scalar->args[1], &divisor) && divisor > 0;
    default: return false;
  }
}

}  // namespace

bool IsNonNegative(const Scalar& scalar, const std::function<bool(std::string_view)>& is_count) {
  return IsNonNegativeOf(scalar, [&](const Scalar& atom) { return atom->kind == Kind::kName && is_count(atom->name); });
}

bool IsNonNegativeOf(const Scalar& scalar, const std::function<bool(const Scalar&)>& is_count) {
  return IsNonNegative(scalar, is_count, 0);
}

}  // namespace tkc::symbolic

// SPDX-License-Identifier: MIT
// When two conditions are the same, or each the negation of the other: `a != b` of `a == b`, `a >= b` of `a < b`, `not (p or q)` of
// `p or q`.
#pragma once

#include <string>

#include "compiler/symbolic/scalar.h"

namespace tkc::symbolic {

/// Conditions that share their text are equal, or where only one of them is negated, exclude one another.
struct Condition {
  std::string text;  // for comparison only, not for reading
  bool is_negated = false;
};

Condition ConditionOf(const Scalar& scalar);

}  // namespace tkc::symbolic

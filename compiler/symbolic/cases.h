// SPDX-License-Identifier: MIT
// How small an integer can be that minima, maxima, choices, remainders and quotients are in: case by case, each of which knows what
// it is the case of, and by facts that follow from each other.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "compiler/symbolic/scalar.h"

namespace tkc::symbolic {

struct Known {
  std::vector<Scalar> not_negative;
  std::function<bool(const Scalar& atom)> is_count;           // whether what is no sum can't be negative
  std::function<int64_t(const Scalar& scalar)> divisor_of{};  // KnownDivisor, or more
};

/// Adds what is not negative where the condition holds, or does not.
void AddNotNegative(const Scalar& condition, bool holds, std::vector<Scalar>& not_negative);

/// Adds to what counts the names in what is not negative that this shows not to be: in products their sign matters.
void AddCounts(Known& known);

/// Whether there is more in the integer than sums and products.
bool HasCases(const Scalar& scalar);

/// Whether the integer is never below `least`.
bool IsAtLeast(const Scalar& sum, int64_t least, const Known& known);

}  // namespace tkc::symbolic

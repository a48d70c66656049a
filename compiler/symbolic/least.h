// SPDX-License-Identifier: MIT
// How small an integer can be, as far as its form shows it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "compiler/symbolic/scalar.h"

namespace tkc::symbolic {

/// A number that the sum is never below: `N - N / 64 * 64` is none of those below zero, `cdiv(N, 64) * 64 - N` neither. `is_count`:
/// whether what is no sum can't be negative.
std::optional<int64_t> LeastOf(const Scalar& sum, const std::function<bool(const Scalar& atom)>& is_count);

}  // namespace tkc::symbolic

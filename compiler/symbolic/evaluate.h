// SPDX-License-Identifier: MIT
// The value of an integer or boolean scalar once its names have numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "compiler/symbolic/scalar.h"

namespace tkc::symbolic {

using Environment = std::function<std::optional<int64_t>(std::string_view name)>;

/// Nothing if a name has no number, on overflow, and for floats, elements and calls.
std::optional<int64_t> Evaluate(const Scalar& scalar, const Environment& environment);

/// Whether the integer can't be negative, as far as its form shows it, where names are not of which `is_count` says so.
bool IsNonNegative(const Scalar& scalar, const std::function<bool(std::string_view name)>& is_count);

/// The same, where `is_count` is asked about elements of tensors, too.
bool IsNonNegativeOf(const Scalar& scalar, const std::function<bool(const Scalar& atom)>& is_count);

}  // namespace tkc::symbolic

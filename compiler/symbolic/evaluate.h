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

/// Nothing if a name has no number, on overflow or division by zero, and for floats, elements and calls.
std::optional<int64_t> Evaluate(const Scalar& scalar, const Environment& environment);

}  // namespace tkc::symbolic

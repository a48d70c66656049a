// SPDX-License-Identifier: MIT
// Integer division that rounds down, and what is made of division that rounds up.
#pragma once

#include <cstdint>

namespace tkc {

/// a / b, rounded down; b is not 0.
constexpr int64_t FloorDiv(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

/// The least multiple of `unit` that is not below `extent`, which is not negative.
constexpr int64_t RoundUp(int64_t extent, int64_t unit) { return (extent + unit - 1) / unit * unit; }

}  // namespace tkc

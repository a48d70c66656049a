// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace tkc {

/// a / b, rounded down; b is not 0.
constexpr int64_t FloorDiv(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

}  // namespace tkc

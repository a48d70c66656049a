// SPDX-License-Identifier: MIT
// How tensors lie in memory when they are given to a compiled kernel: dense, or with gaps between rows and elements and away from
// the start of their allocation. The interpreter's own are dense; a condition of a schedule set may ask (`aligned`).
#pragma once

#include <cstdint>

namespace tkc::interp {

struct Placement {
  int64_t pad = 0;     // elements between the rows (of the last axis)
  int64_t offset = 0;  // elements before the first
  int64_t step = 1;    // elements from one element of a row to the next

  bool operator==(const Placement&) const = default;
  bool is_dense() const { return *this == Placement{}; }
};

/// What bytes hold that nobody has written: in floats a NaN, and nothing that a kernel might have computed.
inline constexpr uint8_t kUnwritten = 0xff;

}  // namespace tkc::interp

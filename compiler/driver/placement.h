// SPDX-License-Identifier: MIT
// How a tensor lies in memory when it is given to a compiled kernel: dense, or with gaps between rows and elements and away from
// the start of its allocation. The bytes that belong to no element hold a pattern, so that writes there show.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/interp/launch.h"
#include "compiler/interp/tensor.h"
#include "compiler/support/diagnostic.h"

namespace tkc {

struct Placement {
  int64_t pad = 0;     // elements between the rows (of the last axis)
  int64_t offset = 0;  // elements before the first
  int64_t step = 1;    // elements from one element of a row to the next

  bool operator==(const Placement&) const = default;
  bool is_dense() const { return *this == Placement{}; }
  interp::Lie lie() const { return {pad, offset, step}; }
};

/// `pad=8,offset=1,step=1`, as the option --place takes it.
std::string ToString(const Placement& placement);
Result<Placement> ParsePlacement(const std::vector<std::pair<std::string, std::string>>& pairs, Diagnostics& diagnostics);

inline constexpr uint8_t kUnwritten = 0xff;  // in floats a NaN
inline constexpr int64_t kGuardBytes = 256;  // on either side; keeps the alignment that allocations have

/// `dense` as `placement` says, with guards of kGuardBytes. With `contents` false no element is written: they hold kUnwritten.
interp::Tensor Place(const interp::Tensor& dense, const Placement& placement, bool contents);

/// The elements of `placed`, row-major and without gaps.
interp::Tensor Gather(const interp::Tensor& placed);

/// Bytes of `image` that differ from `before` though no element of it is there.
int64_t Trespassed(const interp::Tensor& before, const std::vector<uint8_t>& image);

}  // namespace tkc

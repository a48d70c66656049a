// SPDX-License-Identifier: MIT
// Tensors placed in memory for a compiled kernel (interp/placement.h). The bytes that belong to no element hold a pattern, so that
// writes there show.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/interp/placement.h"
#include "compiler/interp/tensor.h"
#include "compiler/support/diagnostic.h"

namespace tkc {

using interp::kUnwritten;
using interp::Placement;

/// `pad=8,offset=1,step=1`, as the option --place takes it.
std::string ToString(const Placement& placement);
Result<Placement> ParsePlacement(const std::vector<std::pair<std::string, std::string>>& pairs, Diagnostics& diagnostics);

inline constexpr int64_t kGuardBytes = 256;  // on either side; keeps the alignment that allocations have

/// `dense` as `placement` says, with guards of kGuardBytes. With `contents` false no element is written: they hold kUnwritten.
interp::Tensor Place(const interp::Tensor& dense, const Placement& placement, bool contents);

/// The elements of `placed`, row-major and without gaps.
interp::Tensor Gather(const interp::Tensor& placed);

/// Bytes of `image` that differ from `before` though no element of it is there.
int64_t Trespassed(const interp::Tensor& before, const std::vector<uint8_t>& image);

}  // namespace tkc

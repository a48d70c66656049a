// SPDX-License-Identifier: MIT
// The operands of a warp's matrix instructions out of shared memory, and their cost in bank cycles: the addresses of
// runtime/include/tk/ops/fragment_load.h.
#pragma once

#include "compiler/certify/shared_moves.h"

namespace tkc::certify {

/// warpgroup::load_left of [rows, K] and warpgroup::load_right of [K, columns], by the four warps of an instance.
MoveCost LeftMove(const ir::RegisterLayout& registers, const Window& window);
MoveCost RightMove(const ir::RegisterLayout& registers, const Window& window);

}  // namespace tkc::certify

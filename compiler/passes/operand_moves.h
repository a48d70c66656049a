// SPDX-License-Identifier: MIT
// The operands of a warp's matrix instructions out of shared memory, and their cost in bank cycles: the addresses of
// runtime/include/tk/ops/fragment_load.h.
#pragma once

#include <set>

#include "compiler/passes/shared_moves.h"
#include "compiler/target/target.h"

namespace tkc::passes {

/// warpgroup::load_left of [rows, K] and warpgroup::load_right of [K, columns], by the four warps of an instance.
MoveCost LeftMove(const ir::RegisterLayout& registers, const Window& window);
MoveCost RightMove(const ir::RegisterLayout& registers, const Window& window);

/// The same on waves of 64 lanes (runtime/include/tk/hip/fragment_load.h). `is_alone`: the other operand is in registers already.
MoveCost WaveOperandMove(const ir::RegisterLayout& registers, const Target& target, const Window& window, bool is_left,
                         bool is_alone);
/// The right operands of products whose left operand is in registers already.
std::set<ir::ValueId> RightsBesideRegisters(const ir::Kernel& kernel, const ir::Worker& worker);
/// copy_async on these: the lanes of a wave write one behind the other.
MoveCost WaveCopyMove(const Target& target, const Window& window);

}  // namespace tkc::passes

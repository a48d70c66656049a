// SPDX-License-Identifier: MIT
// Atomics without a result on the simulator: one atomic access each. f32 additions flush subnormals (not measured), 16-bit ones do not.
#pragma once

#include "tk/sim/sm90/reduce_global.h"

namespace tk::gfx9 {

using sm80::compare_and_swap_b16;
using sm80::load_relaxed_b16;
using sm80::red_add_f16;
using sm80::red_add_f32;
using sm80::red_add_s32;
using sm80::red_add_u32;
using sm80::red_add_u64;
using sm80::red_max_s32;
using sm80::red_max_s64;
using sm80::red_max_u32;
using sm80::red_max_u64;
using sm80::red_min_s32;
using sm80::red_min_s64;
using sm80::red_min_u32;
using sm80::red_min_u64;
using sm90::red_add_bf16;

}  // namespace tk::gfx9

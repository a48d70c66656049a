// SPDX-License-Identifier: MIT
// Blocks whose warps have different work: one lane that issues copies, warpgroups that trade registers.
#pragma once

#include "tk/cuda/sm90/elect.h"
#include "tk/cuda/sm90/registers.h"

namespace tk {

namespace warp {
/// True in one lane.
TK_DEVICE bool elect() { return sm90::elect(); }
}  // namespace warp

namespace warpgroup {
/// Takes registers until each thread may use N (a multiple of 8); waits until the block has them free.
template <int N>
TK_DEVICE void increase_registers() { sm90::set_max_registers_increase<N>(); }
/// Gives registers back: each thread keeps N.
template <int N>
TK_DEVICE void decrease_registers() { sm90::set_max_registers_decrease<N>(); }
}  // namespace warpgroup

}  // namespace tk

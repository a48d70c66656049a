// SPDX-License-Identifier: MIT
// gfx950's exchanges between rows of lanes on the simulator.
#pragma once

#include "tk/sim/gfx9/warp.h"

namespace tk::gfx950 {

TK_DEVICE void swap_rows_16(uint32_t& x, uint32_t& y) {
    const int lane = gfx9::detail::lane(), other = lane ^ 16;
    const uint32_t from_y = gfx9::detail::exchange("v_permlane16_swap_b32", y, other);
    const uint32_t from_x = gfx9::detail::exchange("v_permlane16_swap_b32", x, other);
    if (lane & 16) x = from_y;
    else y = from_x;
}

TK_DEVICE void swap_rows_32(uint32_t& x, uint32_t& y) {
    const int lane = gfx9::detail::lane(), other = lane ^ 32;
    const uint32_t from_y = gfx9::detail::exchange("v_permlane32_swap_b32", y, other);
    const uint32_t from_x = gfx9::detail::exchange("v_permlane32_swap_b32", x, other);
    if (lane & 32) x = from_y;
    else y = from_x;
}

}  // namespace tk::gfx950

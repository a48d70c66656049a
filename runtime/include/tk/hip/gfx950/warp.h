// SPDX-License-Identifier: MIT
// gfx950's exchanges between rows of lanes without shared memory's crossbar.
#pragma once

#include "tk/platform.h"

#ifdef TK_SIM
#include "tk/sim/gfx950/warp.h"
#else

namespace tk::gfx950 {

/// v_permlane16_swap_b32: exchanges the odd rows of 16 lanes of x with the even ones of y.
TK_DEVICE void swap_rows_16(uint32_t& x, uint32_t& y) {
    const auto both = __builtin_amdgcn_permlane16_swap(x, y, false, false);
    x = both[0], y = both[1];
}

/// v_permlane32_swap_b32: exchanges the upper 32 lanes of x with the lower 32 of y.
TK_DEVICE void swap_rows_32(uint32_t& x, uint32_t& y) {
    const auto both = __builtin_amdgcn_permlane32_swap(x, y, false, false);
    x = both[0], y = both[1];
}

}  // namespace tk::gfx950

#endif

// SPDX-License-Identifier: MIT
// Warp-wide instructions. All 32 lanes take part.
#pragma once

#include "tk/platform.h"
#ifdef TK_SIM
#include "tk/sim/sm80/warp.h"
#else

namespace tk::sm80 {

/// The value of lane `lane ^ mask`.
TK_DEVICE uint32_t shuffle_xor(uint32_t value, int mask) {
    uint32_t result;
    TK_PTX("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(result) : "r"(value), "r"(mask));
    return result;
}

/// The value of lane `lane`; ptxas then knows that the result is the same in the whole warp.
TK_DEVICE uint32_t shuffle_from(uint32_t value, int lane) {
    uint32_t result;
    TK_PTX("shfl.sync.idx.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(result) : "r"(value), "r"(lane));
    return result;
}

}  // namespace tk::sm80

#endif

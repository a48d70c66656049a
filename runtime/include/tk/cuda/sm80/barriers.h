// SPDX-License-Identifier: MIT
// Barriers of warp and block.
#pragma once

#include "tk/platform.h"
#ifdef TK_SIM
#include "tk/sim/sm80/barriers.h"
#else

namespace tk::sm80 {

/// bar.sync: `threads` (a multiple of 32) meet at barrier `id` (0 to 15) of the block.
TK_DEVICE void named_barrier_sync(int id, int threads) {
    TK_PTX("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// bar.arrive: counts towards barrier `id` without waiting.
TK_DEVICE void named_barrier_arrive(int id, int threads) {
    TK_PTX("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// barrier.sync 0: all threads of the block.
TK_DEVICE void block_sync() { TK_PTX("barrier.sync 0;" ::: "memory"); }

/// bar.warp.sync of all 32 lanes.
TK_DEVICE void warp_sync() { TK_PTX("bar.warp.sync 0xffffffff;" ::: "memory"); }

}  // namespace tk::sm80

#endif

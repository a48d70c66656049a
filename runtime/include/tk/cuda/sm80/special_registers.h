// SPDX-License-Identifier: MIT
// Where a thread is: indices in the block and the grid.
#pragma once

#include "tk/platform.h"
#ifdef TK_SIM
#include "tk/sim/sm80/special_registers.h"
#else

namespace tk::sm80 {

/// Of a warp.
inline constexpr int lanes = 32;

TK_DEVICE int thread_index() { return int(threadIdx.x); }
TK_DEVICE int block_index() { return int(blockIdx.x); }
TK_DEVICE int block_count() { return int(gridDim.x); }

/// Cycles of the multiprocessor's clock.
TK_DEVICE uint64_t clock() {
    uint64_t cycles;
    TK_PTX("mov.u64 %0, %%clock64;" : "=l"(cycles));
    return cycles;
}

}  // namespace tk::sm80

#endif

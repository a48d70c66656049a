// SPDX-License-Identifier: MIT
// Where a thread is: indices in the block, the grid and the cluster.
#pragma once

#include "tk/platform.h"
#ifdef TK_SIM
#include "tk/sim/sm90/special_registers.h"
#else

namespace tk::sm90 {

TK_DEVICE int thread_index() { return int(threadIdx.x); }
TK_DEVICE int block_index() { return int(blockIdx.x); }
TK_DEVICE int block_count() { return int(gridDim.x); }

TK_DEVICE uint32_t cluster_block_rank() {
    uint32_t rank;
    TK_PTX_PURE("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

TK_DEVICE uint32_t cluster_index() {
    uint32_t index;
    TK_PTX_PURE("mov.u32 %0, %%clusterid.x;" : "=r"(index));
    return index;
}

TK_DEVICE uint32_t cluster_count() {
    uint32_t count;
    TK_PTX_PURE("mov.u32 %0, %%nclusterid.x;" : "=r"(count));
    return count;
}

}  // namespace tk::sm90

#endif

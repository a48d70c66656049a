// SPDX-License-Identifier: MIT
// Where a thread is: indices in the block, the grid and the cluster.
#pragma once

#include "tk/platform.h"
#ifdef TK_SIM
#pragma GCC system_header
#endif

namespace tk::sm90 {

#ifdef TK_SIM
TK_DEVICE int thread_index() { __builtin_trap(); }
TK_DEVICE int block_index() { __builtin_trap(); }
TK_DEVICE int block_count() { __builtin_trap(); }
#else
TK_DEVICE int thread_index() { return int(threadIdx.x); }
TK_DEVICE int block_index() { return int(blockIdx.x); }
TK_DEVICE int block_count() { return int(gridDim.x); }
#endif

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

// SPDX-License-Identifier: MIT
// A cluster of blocks: who is who, its barrier, and the shared memory of the others.
#pragma once

#include "tk/platform.h"

#ifdef TK_SIM
#include "tk/sim/sm90/cluster.h"
#else

namespace tk::sm90 {

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

/// All threads of the cluster; what they wrote before is visible to the others behind the wait.
TK_DEVICE void cluster_arrive() { TK_PTX("barrier.cluster.arrive.release;" ::: "memory"); }
TK_DEVICE void cluster_wait() { TK_PTX("barrier.cluster.wait.acquire;" ::: "memory"); }

/// The same without making writes visible, but for barriers initialised before a fence_mbarrier_init: a release would wait for all
/// that the thread has written.
TK_DEVICE void cluster_arrive_relaxed() { TK_PTX("barrier.cluster.arrive.relaxed;" ::: "memory"); }

/// mapa: the address of the same place in the block `rank` of this cluster.
TK_DEVICE uint32_t map_to_block(uint32_t address, uint32_t rank) {
    uint32_t remote;
    TK_PTX_PURE("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(address), "r"(rank));
    return remote;
}

/// st.async: four bytes to an address of map_to_block, which complete as bytes on a barrier of the same block, as those of a copy do.
TK_DEVICE void store_async_b32(uint32_t address, uint32_t word, uint32_t barrier) {
    TK_PTX("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(address), "r"(word), "r"(barrier) : "memory");
}
/// The same with 16 bytes.
TK_DEVICE void store_async_f32x4(uint32_t address, const float (&v)[4], uint32_t barrier) {
    TK_PTX("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(address), "f"(v[0]), "f"(v[1]),
           "f"(v[2]), "f"(v[3]), "r"(barrier)
           : "memory");
}

}  // namespace tk::sm90

#endif

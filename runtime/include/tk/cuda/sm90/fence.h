// SPDX-License-Identifier: MIT
// Fences and barriers of the whole block or cluster.
#pragma once

#include "tk/platform.h"
#ifdef TK_SIM
#include "tk/sim/sm90/fence.h"
#else

namespace tk::sm90 {

/// Makes mbarrier initialisation visible to the cluster; a block or cluster barrier must follow.
TK_DEVICE void fence_mbarrier_init() { TK_PTX("fence.mbarrier_init.release.cluster;" ::: "memory"); }

/// Orders this thread's ordinary shared-memory accesses with those of the copy engine and tensor core.
TK_DEVICE void fence_proxy_async_shared() { TK_PTX("fence.proxy.async.shared::cta;" ::: "memory"); }

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

/// All threads of the cluster; what they wrote before is visible to the others behind the wait.
TK_DEVICE void cluster_arrive() { TK_PTX("barrier.cluster.arrive.release;" ::: "memory"); }
TK_DEVICE void cluster_wait() { TK_PTX("barrier.cluster.wait.acquire;" ::: "memory"); }

/// bar.warp.sync of all 32 lanes.
TK_DEVICE void warp_sync() { TK_PTX("bar.warp.sync 0xffffffff;" ::: "memory"); }

}  // namespace tk::sm90

#endif

// SPDX-License-Identifier: MIT
// Fences and barriers of the whole block or cluster on the simulator.
#pragma once

#include "tk/platform.h"
#include "tk/sim/engine.h"

namespace tk::sm90 {

TK_DEVICE void fence_mbarrier_init() { sim::barrier_init_fence(); }
TK_DEVICE void fence_proxy_async_shared() { sim::fence_proxy_async(); }
TK_DEVICE void named_barrier_sync(int id, int threads) { sim::sync_named(id, threads); }
TK_DEVICE void named_barrier_arrive(int id, int threads) { sim::arrive_named(id, threads); }
TK_DEVICE void block_sync() { sim::sync_block(); }
TK_DEVICE void cluster_arrive() { sim::cluster_arrive(); }
TK_DEVICE void cluster_wait() { sim::cluster_wait(); }
TK_DEVICE void warp_sync() { sim::sync_warp(); }

}  // namespace tk::sm90

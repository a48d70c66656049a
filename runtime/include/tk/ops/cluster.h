// SPDX-License-Identifier: MIT
// Blocks that are launched together and reach into each other's shared memory.
#pragma once

#include "tk/cuda/sm90/cluster.h"

namespace tk {

namespace cluster {
/// This block's rank in its cluster.
TK_DEVICE int rank() { return int(sm90::cluster_block_rank()); }
TK_DEVICE int index() { return int(sm90::cluster_index()); }
/// Clusters in the grid.
TK_DEVICE int count() { return int(sm90::cluster_count()); }
/// All threads of all blocks of the cluster.
TK_DEVICE void sync() {
    sm90::cluster_arrive();
    sm90::cluster_wait();
}
/// The two halves of a meeting at which blocks tell each other that their barriers stand (fence_barrier_init): who has waited may use
/// those of all blocks.
TK_DEVICE void arrive() { sm90::cluster_arrive_relaxed(); }
TK_DEVICE void wait() { sm90::cluster_wait(); }
}  // namespace cluster

}  // namespace tk

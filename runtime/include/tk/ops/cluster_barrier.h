// SPDX-License-Identifier: MIT
// Barriers that copies and other blocks of a cluster complete as well: `full` by the producer's arrival and the bytes it announced.
#pragma once

#include "tk/cuda/sm90/cluster.h"
#include "tk/cuda/sm90/mbarrier.h"
#include "tk/ops/barrier.h"

namespace tk {

/// One arrival at the same barrier of block `rank` of the cluster (this block's own rank included).
TK_DEVICE void arrive_remote(barrier& b, int rank) {
    sm90::mbarrier_arrive_cluster(sm90::map_to_block(arch::shared_address(&b), uint32_t(rank)));
}
/// One arrival, announcing that asynchronous copies will bring `bytes`.
TK_DEVICE void expect_bytes(barrier& b, int bytes) {
    sm90::mbarrier_arrive_expect_tx(arch::shared_address(&b), uint32_t(bytes));
}

namespace warp {
/// One arrival for the warp at the same barrier of block `rank` of the cluster.
TK_DEVICE void arrive_remote(barrier& b, int rank) {
    sync();
    if (lane() == 0) tk::arrive_remote(b, rank);
}
/// One arrival for the warp at this barrier of each of the cluster's `blocks` blocks.
TK_DEVICE void arrive_cluster(barrier& b, int blocks) {
    sync();
    if (lane() < blocks) tk::arrive_remote(b, lane());
}
}  // namespace warp

}  // namespace tk

// SPDX-License-Identifier: MIT
// Barriers in shared memory that count arrivals and copied bytes.
//
// A slot of a pipe has two barriers: `full`, completed by the producer's arrival and the bytes it announced,
// and `empty`, completed by its consumers' arrivals. On lap n of the ring, consumers wait for full with
// parity n & 1, the producer for empty with the other parity: on lap 0 that phase counts as over already.
#pragma once

#include "tk/cuda/sm90/cluster.h"
#include "tk/cuda/sm90/fence.h"
#include "tk/cuda/sm90/mbarrier.h"
#include "tk/ops/scope.h"

namespace tk {

/// An mbarrier. Written by `init` only.
struct alignas(8) barrier {
    uint64_t state;
};

/// By one thread; then fence_barrier_init and a block (or cluster) barrier before any use.
TK_DEVICE void init(barrier& b, int arrivals) { sm90::mbarrier_init(arch::shared_address(&b), uint32_t(arrivals)); }
TK_DEVICE void fence_barrier_init() { sm90::fence_mbarrier_init(); }

/// One arrival by this thread.
TK_DEVICE void arrive(barrier& b) { sm90::mbarrier_arrive(arch::shared_address(&b)); }
/// One arrival at the same barrier of block `rank` of the cluster (this block's own rank included).
TK_DEVICE void arrive_remote(barrier& b, int rank) {
    sm90::mbarrier_arrive_cluster(sm90::map_to_block(arch::shared_address(&b), uint32_t(rank)));
}
/// One arrival, announcing that asynchronous copies will bring `bytes`.
TK_DEVICE void expect_bytes(barrier& b, int bytes) {
    sm90::mbarrier_arrive_expect_tx(arch::shared_address(&b), uint32_t(bytes));
}

/// Returns once the phase of `parity` is over.
TK_DEVICE void wait(barrier& b, uint32_t parity) {
    const uint32_t address = arch::shared_address(&b);
    while (!sm90::mbarrier_try_wait(address, parity)) {
    }
}
/// The same where other blocks of the cluster arrive to hand back a slot. They publish no stores, so nothing is
/// acquired from them: `.acquire.cluster` would empty the L1 cache each time.
TK_DEVICE void wait_cluster(barrier& b, uint32_t parity) { wait(b, parity); }

/// The same where they arrive to publish what they wrote into shared memory (warp::publish_cluster): it may be read from here on.
TK_DEVICE void wait_published(barrier& b, uint32_t parity) {
    const uint32_t address = arch::shared_address(&b);
    while (!sm90::mbarrier_try_wait_acquire_cluster(address, parity)) {
    }
}

namespace warp {
/// One arrival for the whole warp, after all its lanes came here.
TK_DEVICE void arrive(barrier& b) {
    sync();
    if (lane() == 0) tk::arrive(b);
}
/// One arrival for the warp at this barrier of each of the cluster's `blocks` blocks.
TK_DEVICE void arrive_cluster(barrier& b, int blocks) {
    sync();
    if (lane() < blocks) tk::arrive_remote(b, lane());
}
/// The same, publishing what the warp has written into its block's shared memory to whoever waits with wait_published.
TK_DEVICE void publish_cluster(barrier& b, int blocks) {
    sync();
    if (lane() < blocks) sm90::mbarrier_arrive_release_cluster(sm90::map_to_block(arch::shared_address(&b), uint32_t(lane())));
}
}  // namespace warp

}  // namespace tk

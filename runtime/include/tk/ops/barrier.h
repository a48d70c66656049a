// SPDX-License-Identifier: MIT
// Barriers in shared memory that count arrivals.
//
// A slot of a pipe has two barriers: `full`, completed by its producers' arrivals, and `empty`, completed by its consumers'. On lap
// n of the ring, consumers wait for full with parity n & 1, producers for empty with the other parity: on lap 0 that phase counts
// as over already.
#pragma once

#include "tk/cuda/sm80/mbarrier.h"
#include "tk/ops/scope.h"
#if TK_HAS_SM90
#include "tk/cuda/sm90/fence.h"
#include "tk/cuda/sm90/mbarrier.h"
#endif

namespace tk {

/// An mbarrier. Written by `init` only.
struct alignas(8) barrier {
    uint64_t state;
};

/// By one thread; then fence_barrier_init and a block (or cluster) barrier before any use.
TK_DEVICE void init(barrier& b, int arrivals) { arch::mbarrier_init(arch::shared_address(&b), uint32_t(arrivals)); }
/// Where nothing but threads of the block uses them, the block's barrier is enough.
TK_DEVICE void fence_barrier_init() {
#if TK_HAS_SM90
    sm90::fence_mbarrier_init();
#endif
}

/// One arrival by this thread.
TK_DEVICE void arrive(barrier& b) { arch::mbarrier_arrive(arch::shared_address(&b)); }

/// Returns once the phase of `parity` is over. Also where other blocks of a cluster arrive to hand back a slot: they publish no stores, so
/// nothing is acquired from them, and `.acquire.cluster` would empty the L1 cache each time.
TK_DEVICE void wait(barrier& b, uint32_t parity) {
    const uint32_t address = arch::shared_address(&b);
#if TK_HAS_SM90
    while (!sm90::mbarrier_try_wait(address, parity)) {
    }
#else
    while (!arch::mbarrier_test_wait(address, parity)) {
    }
#endif
}

namespace warp {
/// One arrival for the whole warp, after all its lanes came here. It may overtake their loads from shared memory that are still under
/// way: where the copy engine is to overwrite what they read, each lane executes fence_async_proxy before.
TK_DEVICE void arrive(barrier& b) {
    sync();
    if (lane() == 0) tk::arrive(b);
}
}  // namespace warp

}  // namespace tk

// SPDX-License-Identifier: MIT
// What came to mbarriers with sm_90, on the simulator.
#pragma once

#include "tk/platform.h"
#include "tk/sim/engine.h"

namespace tk::sm90 {

TK_DEVICE void mbarrier_arrive_cluster(uint32_t barrier) { sim::barrier_arrive(barrier, sim::order::cluster_relaxed); }
TK_DEVICE void mbarrier_arrive_release_cluster(uint32_t barrier) { sim::barrier_arrive(barrier, sim::order::cluster); }
TK_DEVICE void mbarrier_arrive_expect_tx(uint32_t barrier, uint32_t bytes) { sim::barrier_arrive_expect(barrier, bytes); }
TK_DEVICE void mbarrier_complete_tx(uint32_t barrier, uint32_t bytes) { sim::barrier_complete(barrier, bytes, true); }
TK_DEVICE void mbarrier_complete_tx_cluster(uint32_t barrier, uint32_t bytes) { sim::barrier_complete(barrier, bytes, false); }
TK_DEVICE bool mbarrier_try_wait(uint32_t barrier, uint32_t parity) { return sim::barrier_try_wait(barrier, parity, sim::order::block); }
TK_DEVICE bool mbarrier_try_wait_acquire_cluster(uint32_t barrier, uint32_t parity) {
    return sim::barrier_try_wait(barrier, parity, sim::order::cluster);
}

}  // namespace tk::sm90

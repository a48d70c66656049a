// SPDX-License-Identifier: MIT
// What came to mbarriers with sm_90, on the simulator.
#pragma once

#include "tk/platform.h"
#include "tk/sim/engine.h"

namespace tk::sm90 {

TK_DEVICE void mbarrier_arrive_cluster(uint32_t barrier) { sim::barrier_arrive(barrier); }
TK_DEVICE void mbarrier_arrive_expect_tx(uint32_t barrier, uint32_t bytes) { sim::barrier_arrive_expect(barrier, bytes); }
TK_DEVICE void mbarrier_complete_tx(uint32_t barrier, uint32_t bytes) { sim::barrier_complete(barrier, bytes, true); }
TK_DEVICE void mbarrier_complete_tx_cluster(uint32_t barrier, uint32_t bytes) { sim::barrier_complete(barrier, bytes, false); }
TK_DEVICE bool mbarrier_try_wait(uint32_t barrier, uint32_t parity) { return sim::barrier_try_wait(barrier, parity); }

}  // namespace tk::sm90

// SPDX-License-Identifier: MIT
// What came to mbarriers with sm_90: they count copied bytes, too, and a phase ends when both are complete; waits that sleep; arrivals
// from other blocks of a cluster. The rest is in sm80/mbarrier.h.
#pragma once

#include "tk/platform.h"
#ifdef TK_SIM
#include "tk/sim/sm90/mbarrier.h"
#else

namespace tk::sm90 {

/// One arrival at a barrier of another block; `barrier` is an address from map_to_block. It hands back a slot whose
/// reads are complete, so it releases no writes: `.release.cluster` would cost a fence of the whole GPU each time.
TK_DEVICE void mbarrier_arrive_cluster(uint32_t barrier) {
    TK_PTX("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/// Adds `bytes` to what the phase waits for, then arrives once.
TK_DEVICE void mbarrier_arrive_expect_tx(uint32_t barrier, uint32_t bytes) {
    TK_PTX("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

/// As if a copy had completed `bytes` on this block's barrier.
TK_DEVICE void mbarrier_complete_tx(uint32_t barrier, uint32_t bytes) {
    TK_PTX("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

/// The same on a barrier of any block of the cluster; `barrier` is an address from map_to_block.
TK_DEVICE void mbarrier_complete_tx_cluster(uint32_t barrier, uint32_t bytes) {
    TK_PTX("mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

/// True when the phase of `parity` is over. May sleep for a bounded time first.
TK_DEVICE bool mbarrier_try_wait(uint32_t barrier, uint32_t parity) {
    uint32_t done;
    TK_PTX("{\n.reg .pred p;\n"
           "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
           "selp.u32 %0, 1, 0, p;\n}"
           : "=r"(done)
           : "r"(barrier), "r"(parity)
           : "memory");
    return done != 0;
}

}  // namespace tk::sm90

#endif

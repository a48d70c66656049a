// SPDX-License-Identifier: MIT
// mbarrier: counts arrivals; a phase ends when all it expects have come, then its parity flips. A fresh barrier answers parity 1
// as already past. Bytes of copies, waits that sleep and arrivals in other blocks came with sm_90.
#pragma once

#include "tk/platform.h"
#ifdef TK_SIM
#include "tk/sim/sm80/mbarrier.h"
#else

namespace tk::sm80 {

TK_DEVICE void mbarrier_init(uint32_t barrier, uint32_t arrivals) {
    TK_PTX("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

/// One arrival, ordered after this thread's earlier accesses (release).
TK_DEVICE void mbarrier_arrive(uint32_t barrier) {
    TK_PTX("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/// True when the phase of `parity` is over. Does not wait.
TK_DEVICE bool mbarrier_test_wait(uint32_t barrier, uint32_t parity) {
    uint32_t done;
    TK_PTX("{\n.reg .pred p;\n"
           "mbarrier.test_wait.parity.shared.b64 p, [%1], %2;\n"
           "selp.u32 %0, 1, 0, p;\n}"
           : "=r"(done)
           : "r"(barrier), "r"(parity)
           : "memory");
    return done != 0;
}

}  // namespace tk::sm80

#endif

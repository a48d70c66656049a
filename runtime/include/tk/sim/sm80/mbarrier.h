// SPDX-License-Identifier: MIT
// mbarrier on the simulator, as far as sm_80 has it.
#pragma once

#include "tk/arch.h"
#include "tk/sim/engine.h"

namespace tk::sm80 {

/// With copy engines and clusters around, others see the barrier behind a fence only.
TK_DEVICE void mbarrier_init(uint32_t barrier, uint32_t arrivals) { sim::barrier_init(barrier, arrivals, TK_HAS_SM90); }
TK_DEVICE void mbarrier_arrive(uint32_t barrier) { sim::barrier_arrive(barrier); }
TK_DEVICE bool mbarrier_test_wait(uint32_t barrier, uint32_t parity) { return sim::barrier_test_wait(barrier, parity); }

}  // namespace tk::sm80

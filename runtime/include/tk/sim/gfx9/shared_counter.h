// SPDX-License-Identifier: MIT
// Counters in shared memory on the simulator.
#pragma once

#include "tk/platform.h"
#include "tk/sim/engine.h"

namespace tk::gfx9 {

TK_DEVICE void counter_start(uint32_t counter, uint32_t last) { sim::counter_start(counter, last); }
TK_DEVICE void counter_step(uint32_t counter, uint32_t last) { sim::counter_step(counter, last); }
TK_DEVICE uint32_t counter_read(uint32_t counter) { return sim::counter_read(counter); }
TK_DEVICE uint32_t counter_last(uint32_t counter) { return sim::counter_last(counter); }
template <int N>
TK_DEVICE void sleep() {
    static_assert(N > 0 && N < 128);
    sim::sleep();
}

}  // namespace tk::gfx9

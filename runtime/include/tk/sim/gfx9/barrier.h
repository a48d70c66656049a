// SPDX-License-Identifier: MIT
// The barrier of a workgroup and the counters, on the simulator.
#pragma once

#include "tk/platform.h"
#include "tk/sim/engine.h"

namespace tk::gfx9 {

TK_DEVICE void barrier() { sim::barrier_of_waves(); }

template <int N>
TK_DEVICE void wait_vector_memory() {
    static_assert(N >= 0 && N < 64, "the counter has six bits");
    sim::lane_copies_wait(N);
}
template <int N>
TK_DEVICE void wait_shared_memory() {
    static_assert(N >= 0 && N < 16, "the counter has four bits");
    sim::wait_shared(N);
}

template <int N>
TK_DEVICE void set_priority() {
    static_assert(N >= 0 && N < 4);
}
TK_DEVICE void schedule_barrier() {}

enum class scheduled { scalars, products, shared_loads };
template <scheduled Kind, int N>
TK_DEVICE void schedule_group() {}

}  // namespace tk::gfx9

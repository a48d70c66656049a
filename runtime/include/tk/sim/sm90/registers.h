// SPDX-License-Identifier: MIT
// setmaxnreg on the simulator.
#pragma once

#include "tk/platform.h"
#include "tk/sim/engine.h"

namespace tk::sm90 {

template <int N>
TK_DEVICE void set_max_registers_increase() {
    static_assert(N >= 24 && N <= 256 && N % 8 == 0);
    sim::set_registers(N, true);
}

template <int N>
TK_DEVICE void set_max_registers_decrease() {
    static_assert(N >= 24 && N <= 256 && N % 8 == 0);
    sim::set_registers(N, false);
}

}  // namespace tk::sm90

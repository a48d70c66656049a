// SPDX-License-Identifier: MIT
// setmaxnreg: a warpgroup gives registers back or takes more. All four warps execute it with the same N,
// a multiple of 8 from 24 to 256. The sum over the block's warpgroups must fit what the block was launched
// with (168 a thread for three warpgroups, 128 for four), else increase blocks forever.
#pragma once

#include "tk/platform.h"
#ifdef TK_SIM
#include "tk/sim/sm90/registers.h"
#else

namespace tk::sm90 {

template <int N>
TK_DEVICE void set_max_registers_increase() {
    static_assert(N >= 24 && N <= 256 && N % 8 == 0);
    TK_PTX("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N));
}

template <int N>
TK_DEVICE void set_max_registers_decrease() {
    static_assert(N >= 24 && N <= 256 && N % 8 == 0);
    TK_PTX("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N));
}

}  // namespace tk::sm90

#endif

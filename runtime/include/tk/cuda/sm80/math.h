// SPDX-License-Identifier: MIT
// Approximate f32 functions of the special function unit: within 2 units in the last place (2^-22 of the value). Subnormal arguments and results count as zero of their sign. test/conformance holds GPUs to it.
#pragma once

#include "tk/platform.h"

#ifdef TK_SIM
#include "tk/sim/sm80/math.h"
#else

namespace tk::sm80 {

TK_DEVICE float ex2_approx(float x) {
    float y;
    TK_PTX_PURE("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

TK_DEVICE float rcp_approx(float x) {
    float y;
    TK_PTX_PURE("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/// The product rounded towards minus infinity.
TK_DEVICE float mul_down(float x, float y) {
    float z;
    TK_PTX_PURE("mul.rm.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
    return z;
}

}  // namespace tk::sm80

#endif

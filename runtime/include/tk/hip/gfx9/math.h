// SPDX-License-Identifier: MIT
// Approximate f32 functions of the transcendental unit: within 1 unit in the last place by AMD's documents, not measured
// here. Subnormal arguments and results of exp count as zero of their sign.
#pragma once

#include "tk/platform.h"

#ifdef TK_SIM
#include "tk/sim/gfx9/math.h"
#else

namespace tk::gfx9 {

/// v_exp_f32: 2^x
TK_DEVICE float ex2_approx(float x) { return __builtin_amdgcn_exp2f(x); }

/// v_rcp_f32
TK_DEVICE float rcp_approx(float x) { return __builtin_amdgcn_rcpf(x); }

/// The product rounded towards minus infinity. The rounding mode is a state of the wave here and not of an instruction: the
/// exact error of the product says whether the next float below is meant.
TK_DEVICE float mul_down(float x, float y) {
    const float z = x * y;
    if (!(__builtin_fmaf(x, y, -z) < 0.0f)) return z;
    const int bits = __builtin_bit_cast(int, z);
    return __builtin_bit_cast(float, bits + (bits < 0 ? 1 : -1));
}

}  // namespace tk::gfx9

#endif

// SPDX-License-Identifier: MIT
// The functions of tk/cuda/sm80/math.h on the host: the exact value rounded once to f32, which lies within the
// hardware's error. Subnormal arguments count as zero of their sign, subnormal results become zero of their sign, as
// with `.ftz`.
#pragma once

#include <cmath>

#include "tk/platform.h"

namespace tk::sim {

inline float flush_subnormal(float x) {
    const uint32_t bits = __builtin_bit_cast(uint32_t, x);
    return bits & 0x7f800000u ? x : __builtin_bit_cast(float, bits & 0x80000000u);
}

}  // namespace tk::sim

namespace tk::sm80 {

TK_DEVICE float ex2_approx(float x) { return sim::flush_subnormal(float(std::exp2(double(sim::flush_subnormal(x))))); }

TK_DEVICE float rcp_approx(float x) { return sim::flush_subnormal(float(1.0 / double(sim::flush_subnormal(x)))); }

TK_DEVICE float mul_down(float x, float y) {
    const double exact = double(x) * double(y);  // 48 bits at most
    const float nearest = float(exact);
    return double(nearest) > exact ? std::nextafterf(nearest, -HUGE_VALF) : nearest;
}

}  // namespace tk::sm80

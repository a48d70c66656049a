// SPDX-License-Identifier: MIT
// The functions of tk/hip/gfx9/math.h on the host: the exact value rounded once to f32, which lies within the hardware's
// error.
#pragma once

#include "tk/sim/sm80/math.h"

namespace tk::gfx9 {

TK_DEVICE float ex2_approx(float x) { return sim::flush_subnormal(float(std::exp2(double(sim::flush_subnormal(x))))); }

TK_DEVICE float rcp_approx(float x) { return sim::flush_subnormal(float(1.0 / double(sim::flush_subnormal(x)))); }

TK_DEVICE float mul_down(float x, float y) {
    const double exact = double(x) * double(y);  // 48 bits at most
    const float nearest = float(exact);
    return double(nearest) > exact ? std::nextafterf(nearest, -HUGE_VALF) : nearest;
}

}  // namespace tk::gfx9

// SPDX-License-Identifier: MIT
// Conversions between f32 and the 16-bit floats. Round to nearest even.
#pragma once

#include "tk/platform.h"

#ifdef TK_SIM
#include "tk/sim/sm80/convert.h"
#else

namespace tk::sm80 {

/// cvt.rn.bf16x2.f32: the PTX operand order is high, low.
TK_DEVICE uint32_t pack_bf16(float low, float high) {
    uint32_t pair;
    TK_PTX_PURE("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}

/// cvt.rn.f16x2.f32
TK_DEVICE uint32_t pack_f16(float low, float high) {
    uint32_t pair;
    TK_PTX_PURE("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}

/// cvt.f32.f16
TK_DEVICE float f16_to_f32(uint16_t bits) {
    float value;
    TK_PTX_PURE("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}

}  // namespace tk::sm80

#endif

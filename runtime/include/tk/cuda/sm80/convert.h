// SPDX-License-Identifier: MIT
// Conversions between f32 and the 16-bit floats, rounding to nearest even, and from f32 to integers, towards zero.
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

/// cvt.rzi.s32.f32 and .u32: beyond the type's range its end, a NaN 0. The intrinsics are these instructions, but nvcc converts constants.
TK_DEVICE int f32_to_s32(float value) { return __float2int_rz(value); }
TK_DEVICE uint32_t f32_to_u32(float value) { return __float2uint_rz(value); }

/// cvt.rzi.s64.f32 and .u64: the same, but a NaN 2^63.
TK_DEVICE int64_t f32_to_s64(float value) { return __float2ll_rz(value); }
TK_DEVICE uint64_t f32_to_u64(float value) { return __float2ull_rz(value); }

}  // namespace tk::sm80

#endif

// SPDX-License-Identifier: MIT
// Conversions between f32 and the 8-bit floats, two at a time. The instructions came with sm_89: TK_HAS_FLOAT8 says whether the code
// at hand may use them. Round to nearest even, stay at the largest number; the PTX operand order is high, low.
#pragma once

#include "tk/arch.h"

#if defined(TK_SIM) && TK_HAS_SM90
#define TK_HAS_FLOAT8 1
#include "tk/sim/sm80/convert_float8.h"
#elif !defined(TK_SIM) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
#define TK_HAS_FLOAT8 1

namespace tk::sm80 {

/// cvt.rn.satfinite.e4m3x2.f32
TK_DEVICE uint16_t pack_e4m3(float low, float high) {
    uint16_t pair;
    TK_PTX_PURE("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(high), "f"(low));
    return pair;
}

/// cvt.rn.satfinite.e5m2x2.f32
TK_DEVICE uint16_t pack_e5m2(float low, float high) {
    uint16_t pair;
    TK_PTX_PURE("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(high), "f"(low));
    return pair;
}

/// cvt.rn.f16x2.e4m3x2: exact
TK_DEVICE uint32_t e4m3_to_f16(uint16_t pair) {
    uint32_t halves;
    TK_PTX_PURE("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(pair));
    return halves;
}

/// cvt.rn.f16x2.e5m2x2: exact
TK_DEVICE uint32_t e5m2_to_f16(uint16_t pair) {
    uint32_t halves;
    TK_PTX_PURE("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(halves) : "h"(pair));
    return halves;
}

}  // namespace tk::sm80

#else
#define TK_HAS_FLOAT8 0
#endif

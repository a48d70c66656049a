// SPDX-License-Identifier: MIT
// Conversions between f32 and the 16-bit floats. Round to nearest even.
#pragma once

#include "tk/platform.h"

#ifdef TK_SIM
#include "tk/sim/gfx9/convert.h"
#else

namespace tk::gfx9 {

namespace detail {
using f32x2 = float __attribute__((ext_vector_type(2)));
using bf16x2 = __bf16 __attribute__((ext_vector_type(2)));
using f16x2 = _Float16 __attribute__((ext_vector_type(2)));
}  // namespace detail

/// v_cvt_pk_bf16_f32 on gfx950; gfx942 has none, the compiler rounds with integer instructions.
TK_DEVICE uint32_t pack_bf16(float low, float high) {
    return __builtin_bit_cast(uint32_t, __builtin_convertvector((detail::f32x2{low, high}), detail::bf16x2));
}

/// Two v_cvt_f16_f32: v_cvt_pkrtz_f16_f32 would round towards zero.
TK_DEVICE uint32_t pack_f16(float low, float high) {
    return __builtin_bit_cast(uint32_t, __builtin_convertvector((detail::f32x2{low, high}), detail::f16x2));
}

/// Two halves as one register: loads of a half to either end of it are instructions.
TK_DEVICE uint32_t pack_halves(uint16_t low, uint16_t high) {
    using pair = uint16_t __attribute__((ext_vector_type(2)));
    return __builtin_bit_cast(uint32_t, pair{low, high});
}

/// v_cvt_f32_f16
TK_DEVICE float f16_to_f32(uint16_t bits) { return float(__builtin_bit_cast(_Float16, bits)); }

}  // namespace tk::gfx9

#endif

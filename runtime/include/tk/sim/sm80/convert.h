// SPDX-License-Identifier: MIT
// The conversions of tk/cuda/sm80/convert.h on the host: to floats round to nearest even, subnormals kept, NaN becomes the
// canonical NaN of the target type. Pure functions; the engine knows nothing of them.
#pragma once

#include "tk/platform.h"

namespace tk::sim {

inline uint16_t round_to_bf16(float value) {
    const uint32_t bits = __builtin_bit_cast(uint32_t, value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
    return uint16_t((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

inline uint16_t round_to_f16(float value) {
    const uint32_t bits = __builtin_bit_cast(uint32_t, value), magnitude = bits & 0x7fffffffu;
    const uint16_t sign = uint16_t(bits >> 16 & 0x8000u);
    if (magnitude > 0x7f800000u) return 0x7fff;
    if (magnitude >= 0x477ff000u) return uint16_t(sign | 0x7c00);  // from 65520 on: infinity
    if (magnitude < 0x38800000u) {  // below 2^-14: adding 0.5 rounds to multiples of 2^-24
        const float shifted = __builtin_bit_cast(float, magnitude) + 0.5f;
        return uint16_t(sign | (__builtin_bit_cast(uint32_t, shifted) - 0x3f000000u));
    }
    return uint16_t(sign | ((magnitude + 0xfffu + (magnitude >> 13 & 1) - 0x38000000u) >> 13));
}

inline float widen_f16(uint16_t bits) {
    const uint32_t sign = uint32_t(bits & 0x8000u) << 16, exponent = bits >> 10 & 31u, fraction = bits & 0x3ffu;
    if (exponent == 31 && fraction != 0) return __builtin_bit_cast(float, 0x7fffffffu);
    if (exponent == 0) {
        const float magnitude = float(fraction) * 0x1p-24f;
        return sign ? -magnitude : magnitude;
    }
    return __builtin_bit_cast(float, sign | (exponent == 31 ? 255u : exponent + 112u) << 23 | fraction << 13);
}

/// Towards zero; beyond the type's range its end, and of a NaN `of_nan`.
template <class To>
To truncate(float value, To of_nan) {
    if (value != value) return of_nan;
    const double end = double(~uint64_t(0) >> (64 - 8 * sizeof(To))) + 1, least = To(-1) < To(0) ? -end / 2 : 0, beyond = To(-1) < To(0) ? end / 2 : end;
    const To least_value = To(-1) < To(0) ? To(uint64_t(1) << (8 * sizeof(To) - 1)) : To(0);
    if (double(value) <= least) return least_value;
    return double(value) >= beyond ? To(~least_value) : To(value);
}

}  // namespace tk::sim

namespace tk::sm80 {

/// cvt.rn.bf16x2.f32
TK_DEVICE uint32_t pack_bf16(float low, float high) {
    return sim::round_to_bf16(low) | uint32_t(sim::round_to_bf16(high)) << 16;
}

/// cvt.rn.f16x2.f32
TK_DEVICE uint32_t pack_f16(float low, float high) {
    return sim::round_to_f16(low) | uint32_t(sim::round_to_f16(high)) << 16;
}

/// cvt.f32.f16
TK_DEVICE float f16_to_f32(uint16_t bits) { return sim::widen_f16(bits); }

/// cvt.rzi.s32.f32, .u32, .s64, .u64
TK_DEVICE int f32_to_s32(float value) { return sim::truncate<int>(value, 0); }
TK_DEVICE uint32_t f32_to_u32(float value) { return sim::truncate<uint32_t>(value, 0); }
TK_DEVICE int64_t f32_to_s64(float value) { return sim::truncate<int64_t>(value, int64_t(uint64_t(1) << 63)); }
TK_DEVICE uint64_t f32_to_u64(float value) { return sim::truncate<uint64_t>(value, uint64_t(1) << 63); }

}  // namespace tk::sm80

// SPDX-License-Identifier: MIT
// Element types. bf16 and f16 are two plain bytes: they carry values, arithmetic happens in f32.
// Conversions round to nearest even; NaN stays NaN. On the device each is one instruction.
#pragma once

#include "tk/arch.h"
#include "tk/types/float8.h"
#include "tk/types/integer.h"

namespace tk {

/// IEEE binary32 with the low 16 bits of the significand cut off.
struct bf16 {
    uint16_t bits;
    bf16() = default;
    TK_HOST_DEVICE explicit bf16(float value);
    TK_HOST_DEVICE explicit operator float() const { return __builtin_bit_cast(float, uint32_t(bits) << 16); }
};

/// IEEE binary16.
struct f16 {
    uint16_t bits;
    f16() = default;
    TK_HOST_DEVICE explicit f16(float value);
    TK_HOST_DEVICE explicit operator float() const;
};

template <class T>
inline constexpr bool is_half = std::is_same_v<T, bf16> || std::is_same_v<T, f16>;

namespace detail {

inline uint16_t round_to_bf16(float value) {
    uint32_t bits = __builtin_bit_cast(uint32_t, value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff;  // NaN
    return uint16_t((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16);
}

inline uint16_t round_to_f16(float value) {
    uint32_t bits = __builtin_bit_cast(uint32_t, value);
    uint16_t sign = uint16_t((bits >> 16) & 0x8000u);
    bits &= 0x7fffffffu;
    if (bits > 0x7f800000u) return uint16_t(sign | 0x7fff);   // NaN
    if (bits >= 0x477ff000u) return uint16_t(sign | 0x7c00);  // 65520 and above round to infinity
    if (bits < 0x38800000u) {                                 // below 2^-14: adding 0.5 rounds at 2^-24
        float shifted = __builtin_bit_cast(float, bits) + 0.5f;
        return uint16_t(sign | (__builtin_bit_cast(uint32_t, shifted) - 0x3f000000u));
    }
    bits += 0xfffu + ((bits >> 13) & 1);
    return uint16_t(sign | ((bits - 0x38000000u) >> 13));
}

inline float f16_to_float(uint16_t half) {
    uint32_t sign = uint32_t(half & 0x8000u) << 16, exponent = (half >> 10) & 31u, fraction = half & 0x3ffu;
    if (exponent == 0) {  // zero or subnormal: fraction * 2^-24
        float magnitude = float(fraction) * 5.9604644775390625e-8f;
        return sign ? -magnitude : magnitude;
    }
    uint32_t biased = exponent == 31 ? 255u : exponent + 112u;
    return __builtin_bit_cast(float, sign | biased << 23 | fraction << 13);
}

}  // namespace detail

TK_HOST_DEVICE bf16::bf16(float value) {
#ifdef TK_ON_DEVICE
    bits = uint16_t(arch::pack_bf16(value, 0.0f));
#else
    bits = detail::round_to_bf16(value);
#endif
}

TK_HOST_DEVICE f16::f16(float value) {
#ifdef TK_ON_DEVICE
    bits = uint16_t(arch::pack_f16(value, 0.0f));
#else
    bits = detail::round_to_f16(value);
#endif
}

TK_HOST_DEVICE f16::operator float() const {
#ifdef TK_ON_DEVICE
    return arch::f16_to_f32(bits);
#else
    return detail::f16_to_float(bits);
#endif
}

/// Two neighbouring 16-bit values as the 32-bit register the matrix instructions take: first value low.
template <class T>
    requires is_half<T>
TK_HOST_DEVICE uint32_t pack(T low, T high) { return uint32_t(low.bits) | uint32_t(high.bits) << 16; }

/// Two neighbours of an array as their pair. Read and written whole, a tile of 16-bit values stays in 32-bit registers.
template <class T>
    requires is_half<T>
TK_HOST_DEVICE uint32_t load_pair(const T* at) {
    uint32_t pair;
    __builtin_memcpy(&pair, at, sizeof pair);
    return pair;
}
template <class T>
    requires is_half<T>
TK_HOST_DEVICE void store_pair(T* at, uint32_t pair) { __builtin_memcpy(at, &pair, sizeof pair); }

/// Rounds two f32 to one packed pair, in one instruction on the device.
template <class T>
    requires is_half<T>
TK_HOST_DEVICE uint32_t round_pair(float low, float high) {
#ifdef TK_ON_DEVICE
    if constexpr (std::is_same_v<T, bf16>) return arch::pack_bf16(low, high);
    else return arch::pack_f16(low, high);
#else
    return pack(T(low), T(high));
#endif
}

namespace detail {

/// Towards zero, staying in range; a NaN gives 0.
template <class To>
TK_HOST_DEVICE To saturate(float value) {
    if constexpr (sizeof(To) == 1) {
        constexpr int least = std::is_signed_v<To> ? -128 : 0, most = least + 255;
        const int whole = saturate<int>(value);
        return To(whole < least ? least : whole > most ? most : whole);
    }
#if !defined(TK_GFX) && (defined(TK_ON_DEVICE) || defined(TK_SIM))
    // Instructions that stay in range by themselves.
    if constexpr (sizeof(To) == 4) return std::is_signed_v<To> ? To(arch::f32_to_s32(value)) : To(arch::f32_to_u32(value));
    else if (value == value) return std::is_signed_v<To> ? To(arch::f32_to_s64(value)) : To(arch::f32_to_u64(value));
    else return 0;
#else
    constexpr To largest = To(~uint64_t(0) >> (64 - 8 * sizeof(To) + std::is_signed_v<To>)), smallest = std::is_signed_v<To> ? To(-largest - 1) : To(0);
    if (!(value == value)) return 0;
    // Both bounds of a type are powers of two as f32, the upper one a step beyond it.
    if (value >= float(largest)) return largest;
    return value <= float(smallest) ? smallest : To(value);
#endif
}

/// The f32 to round an integer by way of: the nearest towards zero, but odd in its last place where that is not the integer itself. Half a
/// step of a narrower type stays apart from what is beside it.
template <class From>
TK_HOST_DEVICE float odd_float(From value) {
    const bool negative = value < From(0);
    const uint64_t magnitude = negative ? 0 - uint64_t(value) : uint64_t(value);
    if (magnitude >> 24 == 0) return float(value);
    int dropped = 0;  // so that 24 bits or fewer stay, but more than any narrower type has
    TK_UNROLL
    for (int step = 32; step > 0; step /= 2)
        if (magnitude >> dropped >> step >> 23 != 0) dropped += step;
    const uint32_t kept = uint32_t(magnitude >> dropped) | uint32_t((magnitude & ((uint64_t(1) << dropped) - 1)) != 0);
    const float rounded = float(kept) * __builtin_bit_cast(float, uint32_t(127 + dropped) << 23);
    return negative ? -rounded : rounded;
}

}  // namespace detail

template <class T>
inline constexpr bool is_integer8 = std::is_same_v<T, int8_t> || std::is_same_v<T, uint8_t>;

namespace detail {

/// Four integers of a byte as f32: no conversion, of which nvidia's multiprocessors do few at a time, but the byte below the exponent of
/// 2^23, which an addition takes off again. Signed ones are counted from -128 before that.
template <class T>
TK_DEVICE void widen_bytes(uint32_t word, float* to) {
    constexpr float least = std::is_signed_v<T> ? -128.0f : 0.0f;
    if constexpr (std::is_signed_v<T>) word ^= 0x80808080u;
    TK_UNROLL
    for (int i = 0; i < 4; ++i) {
        const uint32_t byte = word >> 8 * i & 0xffu;
#ifdef TK_GFX
        to[i] = float(byte) + least;  // an instruction for each of the four
#else
        to[i] = __builtin_bit_cast(float, byte | 0x4b000000u) + (least - 8388608.0f);
#endif
    }
}

}  // namespace detail

/// Scalar conversion: small floats go through f32, f32 to integers saturates, the rest as C++ converts. (Of the types narrower than f32
/// only bf16 has room for integers that are no f32.)
template <class To, class From>
    requires(std::is_arithmetic_v<From> || is_half<From> || is_float8<From>)
TK_HOST_DEVICE To convert(From value) {
    if constexpr (std::is_same_v<To, From>) return value;
    else if constexpr (!std::is_arithmetic_v<From> && !std::is_same_v<To, float>) return convert<To>(float(value));
    else if constexpr (std::is_same_v<To, bf16> && std::is_integral_v<From> && sizeof(From) >= 4) return To(detail::odd_float(value));
    else if constexpr (!std::is_arithmetic_v<To> || !std::is_arithmetic_v<From>) return To(float(value));
    else if constexpr (std::is_same_v<From, float> && std::is_integral_v<To> && !std::is_same_v<To, bool>) return detail::saturate<To>(value);
    else return To(value);
}

/// `inf` and `nan` of the language.
TK_HOST_DEVICE constexpr float infinity() { return __builtin_huge_valf(); }
TK_HOST_DEVICE constexpr float not_a_number() { return __builtin_nanf(""); }
/// The largest number of f32.
TK_HOST_DEVICE constexpr float largest_float() { return __FLT_MAX__; }

}  // namespace tk

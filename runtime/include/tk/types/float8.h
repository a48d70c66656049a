// SPDX-License-Identifier: MIT
// The 8-bit floats of the OCP specification (OFP8, revision 1.0): e4m3 has one NaN and no infinity, e5m2 is the upper half of an f16.
// They carry values; arithmetic happens in f32. Conversions to them round to nearest even and stay at the largest number, infinities
// too; a NaN stays one. Two at a time are one instruction where the target has it (TK_HAS_FLOAT8).
#pragma once

#include <type_traits>

#include "tk/arch.h"
#include "tk/cuda/sm80/convert_float8.h"

namespace tk {

struct e4m3;
struct e5m2;

template <class T>
inline constexpr bool is_float8 = std::is_same_v<T, e4m3> || std::is_same_v<T, e5m2>;

namespace detail {

/// A format of `Fraction` stored bits below an exponent of 7 - Fraction bits.
template <int Fraction>
struct float8_format {
    static constexpr int bias = Fraction == 3 ? 7 : 15;
    static constexpr uint8_t largest = Fraction == 3 ? 0x7e : 0x7b;                          // 448, 57344
    static constexpr uint32_t largest_f32 = Fraction == 3 ? 0x43e00000u : 0x47600000u;       // the same as f32
    static constexpr uint32_t smallest_f32 = uint32_t(128 - bias) << 23;                     // smallest normal number: 2^(1 - bias)
    static constexpr uint32_t magic_f32 = uint32_t(128 - bias - Fraction + 23) << 23;        // its last place is a subnormal's unit
    static constexpr int dropped = 23 - Fraction;
};

template <int Fraction>
TK_HOST_DEVICE uint8_t round_to_float8(float value) {
    using format = float8_format<Fraction>;
    const uint32_t bits = __builtin_bit_cast(uint32_t, value), magnitude = bits & 0x7fffffffu;
    const uint8_t sign = uint8_t(bits >> 24 & 0x80u);
    if (magnitude > 0x7f800000u) return 0x7f;
    if (magnitude >= format::largest_f32) return uint8_t(sign | format::largest);
    if (magnitude < format::smallest_f32) {  // the addition rounds at the unit of subnormals
        const float shifted = __builtin_bit_cast(float, magnitude) + __builtin_bit_cast(float, format::magic_f32);
        return uint8_t(sign | (__builtin_bit_cast(uint32_t, shifted) - format::magic_f32));
    }
    const uint32_t half = (1u << (format::dropped - 1)) - 1, odd = magnitude >> format::dropped & 1;
    return uint8_t(sign | (((magnitude + half + odd) >> format::dropped) - (uint32_t(127 - format::bias) << Fraction)));
}

template <int Fraction>
TK_HOST_DEVICE float widen_float8(uint8_t bits) {
    using format = float8_format<Fraction>;
    const uint32_t sign = uint32_t(bits & 0x80u) << 24, magnitude = bits & 0x7fu, exponent = magnitude >> Fraction;
    const bool special = Fraction == 3 ? magnitude == 0x7f : exponent == 31;  // NaN, or of e5m2 an infinity
    if (special) return __builtin_bit_cast(float, sign | (magnitude == 0x7cu && Fraction == 2 ? 0x7f800000u : 0x7fffffffu));
    if (exponent == 0) {  // the unit is 2^(1 - bias - Fraction)
        const float value = float(magnitude) * __builtin_bit_cast(float, uint32_t(128 - format::bias - Fraction) << 23);
        return sign ? -value : value;
    }
    return __builtin_bit_cast(float, sign | ((magnitude << format::dropped) + (uint32_t(127 - format::bias) << 23)));
}

}  // namespace detail

/// 1 sign, 4 exponent, 3 fraction bits: up to 448.
struct e4m3 {
    static constexpr int fraction = 3;
    uint8_t bits;
    e4m3() = default;
    TK_HOST_DEVICE explicit e4m3(float value);
    TK_HOST_DEVICE explicit operator float() const;
};

/// 1 sign, 5 exponent, 2 fraction bits: up to 57344.
struct e5m2 {
    static constexpr int fraction = 2;
    uint8_t bits;
    e5m2() = default;
    TK_HOST_DEVICE explicit e5m2(float value);
    TK_HOST_DEVICE explicit operator float() const;
};

/// Two neighbours, the first in the low byte.
template <class T>
    requires is_float8<T>
TK_HOST_DEVICE uint16_t round_float8_pair(float low, float high) {
#if TK_HAS_FLOAT8
    if constexpr (std::is_same_v<T, e4m3>) return sm80::pack_e4m3(low, high);
    else return sm80::pack_e5m2(low, high);
#else
    return uint16_t(detail::round_to_float8<T::fraction>(low) | detail::round_to_float8<T::fraction>(high) << 8);
#endif
}

template <class T>
    requires is_float8<T>
TK_HOST_DEVICE void widen_float8_pair(uint16_t pair, float& low, float& high) {
#if TK_HAS_FLOAT8
    const uint32_t halves = std::is_same_v<T, e4m3> ? sm80::e4m3_to_f16(pair) : sm80::e5m2_to_f16(pair);
    low = sm80::f16_to_f32(uint16_t(halves));
    high = sm80::f16_to_f32(uint16_t(halves >> 16));
#else
    low = detail::widen_float8<T::fraction>(uint8_t(pair));
    high = detail::widen_float8<T::fraction>(uint8_t(pair >> 8));
#endif
}

namespace detail {

/// Two or four neighbours in one register. nvcc would keep the pairs of four apart, and put them together on each way to memory.
template <class T, int N>
TK_DEVICE auto round_float8_word(const float* x) {
    if constexpr (N == 2) {
        return round_float8_pair<T>(x[0], x[1]);
    } else {
        static_assert(N == 4);
        uint32_t word = round_float8_pair<T>(x[0], x[1]) | uint32_t(round_float8_pair<T>(x[2], x[3])) << 16;
        TK_TIE_VALUE("+" TK_REGISTER(word));
        return word;
    }
}

template <class T>
TK_HOST_DEVICE float widen_one(uint8_t bits) {
    float low, high;
    widen_float8_pair<T>(bits, low, high);
    return low;
}

}  // namespace detail

TK_HOST_DEVICE e4m3::e4m3(float value) : bits(uint8_t(round_float8_pair<e4m3>(value, 0.0f))) {}
TK_HOST_DEVICE e4m3::operator float() const { return detail::widen_one<e4m3>(bits); }
TK_HOST_DEVICE e5m2::e5m2(float value) : bits(uint8_t(round_float8_pair<e5m2>(value, 0.0f))) {}
TK_HOST_DEVICE e5m2::operator float() const { return detail::widen_one<e5m2>(bits); }

}  // namespace tk

// SPDX-License-Identifier: MIT
// The conversions of tk/cuda/sm80/convert_float8.h on the host, from the formats' definition: significant bits, smallest exponent,
// largest number. Round to nearest even, stay at the largest number; a NaN becomes 0x7f.
#pragma once

#include <cmath>

#include "tk/sim/sm80/convert.h"

namespace tk::sim {

inline uint16_t to_float8(float value, int fraction, int lowest, float largest) {
    if (std::isnan(value)) return 0x7f;
    const double magnitude = std::fmin(std::fabs(double(value)), double(largest));
    const int exponent = magnitude == 0 ? lowest : std::max(std::ilogb(magnitude), lowest);
    // In units of the last place; a carry goes into the exponent by itself.
    const auto units = uint32_t(std::nearbyint(std::ldexp(magnitude, fraction - exponent)));
    return uint16_t((std::signbit(value) ? 0x80u : 0u) + (uint32_t(exponent - lowest) << fraction) + units);
}

inline uint16_t to_e4m3(float value) { return to_float8(value, 3, -6, 448.0f); }
inline uint16_t to_e5m2(float value) { return to_float8(value, 2, -14, 57344.0f); }

/// e5m2 is the upper half of an f16; e4m3 has other exponents, and one NaN.
inline uint16_t e4m3_as_f16(uint32_t bits) {
    const uint32_t sign = (bits & 0x80u) << 8, magnitude = bits & 0x7fu;
    if (magnitude == 0x7f) return 0x7fff;
    if (magnitude >= 8) return uint16_t(sign | ((magnitude << 7) + (8u << 10)));
    return uint16_t(sign | round_to_f16(float(magnitude) * 0x1p-9f));
}

inline uint16_t e5m2_as_f16(uint32_t bits) { return (bits & 0x7fu) > 0x7cu ? 0x7fff : uint16_t((bits & 0xffu) << 8); }

}  // namespace tk::sim

namespace tk::sm80 {

TK_DEVICE uint16_t pack_e4m3(float low, float high) { return uint16_t(sim::to_e4m3(low) | sim::to_e4m3(high) << 8); }
TK_DEVICE uint16_t pack_e5m2(float low, float high) { return uint16_t(sim::to_e5m2(low) | sim::to_e5m2(high) << 8); }
TK_DEVICE uint32_t e4m3_to_f16(uint16_t pair) { return sim::e4m3_as_f16(pair & 0xffu) | uint32_t(sim::e4m3_as_f16(pair >> 8)) << 16; }
TK_DEVICE uint32_t e5m2_to_f16(uint16_t pair) { return sim::e5m2_as_f16(pair & 0xffu) | uint32_t(sim::e5m2_as_f16(pair >> 8)) << 16; }

}  // namespace tk::sm80

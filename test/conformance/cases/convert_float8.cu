// SPDX-License-Identifier: MIT
// Conversions of 8-bit floats: all patterns to f16; to them random values, ties, subnormals, what is too large, infinities and NaN.
#include <cmath>

#include "test/conformance/case.h"

namespace conformance {
namespace {

/// Random bits with the exponent near those of 8-bit floats, and hard values in between.
TK_HOST_DEVICE float hard_value8(uint32_t word, int i) {
    const uint32_t hard[] = {0x7fc00000u, 0xffc00001u, 0x7f800000u, 0xff800000u, 0u,          0x80000000u, 0x00000001u, 0x43e00000u,
                             0x43e7ffffu, 0x43e80000u, 0x43f00000u, 0xc7600000u, 0x477fffffu, 0x47680000u, 0x7f7fffffu, 0x3c800000u,
                             0x3c7fffffu, 0x3a800000u, 0x3a800001u, 0x3b400000u, 0x37800000u, 0x37000000u, 0x37000001u, 0x3f880000u};
    if (i < 24) return as_float(hard[i]);
    if (i % 3 == 0) return as_float(word);
    return as_float((word & 0x807fffffu) | (106 + word / 7 % 40) << 23);
}

/// From the definition: the nearest of all finite numbers of the format, an even one where two are as near.
uint32_t expected_float8(float x, int fraction, int bias) {
    if (std::isnan(x)) return 0x7f;
    const uint32_t largest = fraction == 3 ? 0x7e : 0x7b;
    uint32_t best = 0;
    double least = HUGE_VAL;
    for (uint32_t bits = 0; bits <= largest; ++bits) {
        const int exponent = int(bits >> fraction), low = int(bits & ((1u << fraction) - 1));
        const double value = exponent == 0 ? std::ldexp(low, 1 - bias - fraction) : std::ldexp(low | 1 << fraction, exponent - bias - fraction);
        const double away = std::fabs(std::fmin(std::fabs(double(x)), 1e6) - value);
        if (away < least || (away == least && bits % 2 == 0)) best = bits, least = away;
    }
    return best | (std::signbit(x) ? 0x80 : 0);
}

uint32_t expected_f16_of(uint32_t bits, int fraction, int bias) {
    const uint32_t sign = (bits & 0x80) << 8, magnitude = bits & 0x7f;
    const int exponent = int(magnitude >> fraction), low = int(magnitude & ((1u << fraction) - 1));
    if (fraction == 3 ? magnitude == 0x7f : magnitude > 0x7c) return 0x7fff;
    if (fraction == 2 && magnitude == 0x7c) return sign | 0x7c00;
    const double value = exponent == 0 ? std::ldexp(low, 1 - bias - fraction) : std::ldexp(low | 1 << fraction, exponent - bias - fraction);
    if (value < 0x1p-14) return sign | uint32_t(value * 0x1p24);
    const int power = std::ilogb(value);
    return sign | uint32_t(power + 15) << 10 | uint32_t(std::ldexp(value, 10 - power) - 1024);
}

TK_KERNEL(128) pack_float8_kernel(const uint32_t* in, uint32_t* out) {
    sm90::grid_dependency_wait();
    const int t = sm80::thread_index();
    const float low = hard_value8(get(in, 2 * t), 2 * t), high = hard_value8(get(in, 2 * t + 1), 2 * t + 1);
#if TK_HAS_FLOAT8  // the host's pass over this file has no such instructions
    put(out, t, sm80::pack_e4m3(low, high) | uint32_t(sm80::pack_e5m2(low, high)) << 16);
#endif
}

TK_KERNEL(128) float8_to_f16_kernel(uint32_t* out) {
    sm90::grid_dependency_wait();
    const int t = sm80::thread_index();
    const uint16_t pair = uint16_t(2 * t | (2 * t + 1) << 8);
#if TK_HAS_FLOAT8
    put(out, t, sm80::e4m3_to_f16(pair));
    put(out, 128 + t, sm80::e5m2_to_f16(pair));
#endif
}

}  // namespace
}  // namespace conformance

using namespace conformance;

// case: pack_float8 in 256 out 128 exact covers pack_e4m3, pack_e5m2
CASE(pack_float8) { return start<pack_float8_kernel>(stream, 1, 128, 0, input(in), output(out)); }
EXPECTED(pack_float8) {
    for (int t = 0; t < 128; ++t) {
        const float low = hard_value8(in[2 * t], 2 * t), high = hard_value8(in[2 * t + 1], 2 * t + 1);
        out[t] = expected_float8(low, 3, 7) | expected_float8(high, 3, 7) << 8 | expected_float8(low, 2, 15) << 16 | expected_float8(high, 2, 15) << 24;
    }
}

// case: float8_to_f16 in 1 out 256 exact covers e4m3_to_f16, e5m2_to_f16
CASE(float8_to_f16) { return start<float8_to_f16_kernel>(stream, 1, 128, 0, output(out)); }
EXPECTED(float8_to_f16) {
    for (uint32_t t = 0; t < 128; ++t) {
        out[t] = expected_f16_of(2 * t, 3, 7) | expected_f16_of(2 * t + 1, 3, 7) << 16;
        out[128 + t] = expected_f16_of(2 * t, 2, 15) | expected_f16_of(2 * t + 1, 2, 15) << 16;
    }
}

// SPDX-License-Identifier: MIT
// Float additions in memory at the edges of a type: 16 elements, each with each, and host code for any sum.
#pragma once

#include <cmath>

#include "test/conformance/case.h"

namespace conformance {

/// Zeros, ones, subnormals and the smallest normal numbers, the largest, infinities, NaNs, half a unit of 1.
TK_HOST_DEVICE uint32_t edge_element(int dtype, int n) {
    constexpr uint32_t f32[] = {0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x00000001, 0x80000001,
                                0x007fffff, 0x00800000, 0x80800000, 0x807fffff, 0x7f7fffff, 0x7f800000,
                                0xff800000, 0xffc12345, 0x7f812345, 0x33800000};
    constexpr uint16_t bf16[] = {0x0000, 0x8000, 0x3f80, 0xbf80, 0x0001, 0x8001, 0x007f, 0x0080,
                                 0x8080, 0x807f, 0x7f7f, 0x7f80, 0xff80, 0xffc1, 0x7f81, 0x3b80};
    constexpr uint16_t f16[] = {0x0000, 0x8000, 0x3c00, 0xbc00, 0x0001, 0x8001, 0x03ff, 0x0400,
                                0x8400, 0x83ff, 0x7bff, 0x7c00, 0xfc00, 0xfe01, 0x7c01, 0x1000};
    return dtype == TK_F32 ? f32[n] : dtype == TK_BF16 ? bf16[n] : f16[n];
}

/// Word i of 256 elements of a type: element e is edge_element(e / part % 16).
TK_HOST_DEVICE uint32_t edge_word(int dtype, int i, int part) {
    if (dtype == TK_F32) return edge_element(dtype, i / part % 16);
    return edge_element(dtype, 2 * i / part % 16) | edge_element(dtype, (2 * i + 1) / part % 16) << 16;
}

/// x + y rounded once: f32 flushes subnormals to zero of their sign, 16-bit types keep them; NaNs have no payload. Sums of 16-bit elements are rounded to f32 first, to odd, which changes nothing.
inline uint32_t add_any_element(int dtype, uint32_t x, uint32_t y) {
    const auto flushed = [&](uint32_t bits) { return bits & 0x7f800000u ? bits : bits & 0x80000000u; };
    if (dtype == TK_F32) {
        const float sum = as_float(flushed(x)) + as_float(flushed(y));
        return std::isnan(sum) ? 0x7fffffffu : flushed(as_bits(sum));
    }
    tk::f16 a, b;
    a.bits = uint16_t(x), b.bits = uint16_t(y);
    const double p = dtype == TK_BF16 ? as_float(x << 16) : float(a),
                 q = dtype == TK_BF16 ? as_float(y << 16) : float(b);
    float sum = float(p + q);
    if (std::isnan(sum)) return 0x7fff;
    if (std::isfinite(sum) && double(sum) != p + q) {  // to odd: the neighbour with an odd significand
        const bool away = std::fabs(double(sum)) < std::fabs(p + q);
        if (as_bits(sum) % 2 == 0) sum = as_float(as_bits(sum) + (away ? 1 : -1));
    }
    return dtype == TK_BF16 ? tk::bf16(sum).bits : tk::f16(sum).bits;
}

/// The same for a word of one or two elements.
inline uint32_t add_any(int dtype, uint32_t x, uint32_t y) {
    if (dtype == TK_F32) return add_any_element(dtype, x, y);
    return add_any_element(dtype, x & 0xffff, y & 0xffff) | add_any_element(dtype, x >> 16, y >> 16) << 16;
}

inline void expect_edges(uint32_t* out, int dtype) {
    for (int i = 0; i < (dtype == TK_F32 ? 256 : 128); ++i)
        out[i] = add_any(dtype, edge_word(dtype, i, 1), edge_word(dtype, i, 16));
}

}  // namespace conformance

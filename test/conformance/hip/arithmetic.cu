// SPDX-License-Identifier: MIT
// CDNA: conversions, approximate functions, the matrix unit.
#define CASES_FOR "tk/gfx942.h"
#include <cmath>

#include "test/conformance/case.h"

#include "tk/hip/gfx9/matrix.h"

namespace conformance {
namespace {

TK_KERNEL(64) convert_kernel(const uint32_t* in, uint32_t* out) {
    const int t = gfx9::thread_index();
    const float x = as_float(get(in, t)), y = as_float(get(in, 64 + t));
    put(out, t, gfx9::pack_bf16(x, y));
    // Of a size that f16 has: random words are mostly none.
    const float small_x = as_float((get(in, t) & 0x87ffffffu) | 0x38000000u), small_y = as_float((get(in, 64 + t) & 0x87ffffffu) | 0x30000000u);
    put(out, 64 + t, gfx9::pack_f16(small_x, small_y));
    put(out, 128 + t, as_bits(gfx9::f16_to_f32(uint16_t(get(in, t)))));
    put(out, 192 + t, gfx9::pack_halves(uint16_t(get(in, t)), uint16_t(get(in, 64 + t))));
}

/// -16 .. 16, with 20 bits behind the point.
TK_HOST_DEVICE float around_zero(uint32_t word) { return float(int32_t(word) >> 7) * (16.0f / (1 << 24)); }
/// 2^-16 .. 2^16
TK_HOST_DEVICE float positive(uint32_t word) { return as_float((word & 0x0fffffffu) | 0x38000000u); }

TK_KERNEL(64) math_kernel(const uint32_t* in, uint32_t* out) {
    const int t = gfx9::thread_index();
    put(out, t, as_bits(gfx9::ex2_approx(around_zero(get(in, t)))));
    put(out, 64 + t, as_bits(gfx9::rcp_approx(positive(get(in, t)))));
}

TK_KERNEL(64) mul_down_kernel(const uint32_t* in, uint32_t* out) {
    const int t = gfx9::thread_index();
    put(out, t, as_bits(gfx9::mul_down(around_zero(get(in, t)), positive(get(in, 64 + t)))));
}

/// Element (i, j) of operand `which`, whole numbers so that every order of the sum gives the same.
TK_HOST_DEVICE int whole(const uint32_t* in, int which, int i, int j) { return small(in[which * 256 + i * 16 + j]); }

template <bool BF16>
TK_KERNEL(64) mfma_kernel(const uint32_t* in, uint32_t* out) {
    const int l = gfx9::thread_index(), i = l % 16, g = l / 16;
    uint32_t a[2], b[2];
    float d[4];
    for (int n = 0; n < 2; ++n) {
        uint32_t left[2], right[2];
        for (int e = 0; e < 2; ++e) {
            const int k = 4 * g + 2 * n + e;
            left[e] = half_bits(small(get(in, i * 16 + k)), BF16);
            right[e] = half_bits(small(get(in, 256 + k * 16 + i)), BF16);
        }
        a[n] = left[0] | left[1] << 16;
        b[n] = right[0] | right[1] << 16;
    }
    for (int e = 0; e < 4; ++e) d[e] = float(small(get(in, 512 + (4 * g + e) * 16 + i)));
    gfx9::sums4 sums = {d[0], d[1], d[2], d[3]};
    if (BF16) gfx9::mfma_16x16x16_bf16(sums, gfx9::words2{a[0], a[1]}, gfx9::words2{b[0], b[1]});
    else gfx9::mfma_16x16x16_f16(sums, gfx9::words2{a[0], a[1]}, gfx9::words2{b[0], b[1]});
    for (int e = 0; e < 4; ++e) put(out, (4 * g + e) * 16 + i, as_bits(sums[e]));
}

[[maybe_unused]] void expected_product(const uint32_t* in, uint32_t* out) {
    for (int i = 0; i < 16; ++i)
        for (int j = 0; j < 16; ++j) {
            int sum = whole(in, 2, i, j);
            for (int k = 0; k < 16; ++k) sum += whole(in, 0, i, k) * whole(in, 1, k, j);
            out[i * 16 + j] = as_bits(float(sum));
        }
}

/// Nearest even, in integers.
[[maybe_unused]] uint32_t rounded(uint32_t word, int drop) {
    const uint32_t half = (1u << (drop - 1)) - 1 + (word >> drop & 1);
    return (word + half) >> drop;
}

}  // namespace

// case: gfx9_convert in 128 out 256 exact covers pack_bf16, pack_f16, f16_to_f32, pack_halves
CASE(gfx9_convert) { return start<convert_kernel>(stream, 1, 64, 0, input(in), output(out)); }
EXPECTED(gfx9_convert) {
    const auto bf16 = [](uint32_t word) { return (word & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : rounded(word, 16); };
    // The numbers are normal in f16: 2^-15 and more would be subnormal below 2^-14, so the exponents are 112 to 127.
    const auto f16 = [](uint32_t word) {
        const uint32_t magnitude = word & 0x7fffffffu, exponent = magnitude >> 23;
        const uint32_t bits = exponent >= 113 ? rounded(magnitude - 0x38000000u, 13) : rounded((magnitude & 0x7fffffu) | 0x800000u, int(126 - exponent));
        return (word >> 16 & 0x8000u) | bits;
    };
    for (int t = 0; t < 64; ++t) {
        out[t] = bf16(in[t]) | bf16(in[64 + t]) << 16;
        const uint32_t y = (in[64 + t] & 0x87ffffffu) | 0x30000000u;
        const bool vanishes = (y & 0x7fffffffu) < 0x33000001u;  // up to 2^-25: the half of the least subnormal goes to even
        out[64 + t] = f16((in[t] & 0x87ffffffu) | 0x38000000u) | (vanishes ? y >> 16 & 0x8000u : f16(y)) << 16;
        const uint32_t h = in[t] & 0xffffu, sign = (h & 0x8000u) << 16, exponent = h >> 10 & 31, fraction = h & 0x3ffu;
        out[128 + t] = exponent == 31 ? (fraction ? 0x7fffffffu : sign | 0x7f800000u)
                       : exponent > 0 ? sign | (exponent + 112) << 23 | fraction << 13
                                      : sign | as_bits(std::ldexp(float(fraction), -24));
        out[192 + t] = (in[t] & 0xffffu) | in[64 + t] << 16;
    }
}

// case: gfx9_math in 64 out 128 within 2^-21 covers ex2_approx, rcp_approx
CASE(gfx9_math) { return start<math_kernel>(stream, 1, 64, 0, input(in), output(out)); }
EXPECTED(gfx9_math) {
    for (int t = 0; t < 64; ++t) {
        out[t] = as_bits(float(std::exp2(double(around_zero(in[t])))));
        out[64 + t] = as_bits(float(1 / double(positive(in[t]))));
    }
}

// case: gfx9_mul_down in 128 out 64 exact covers mul_down
CASE(gfx9_mul_down) { return start<mul_down_kernel>(stream, 1, 64, 0, input(in), output(out)); }
EXPECTED(gfx9_mul_down) {
    for (int t = 0; t < 64; ++t) {
        // The product in 48 bits; whoever lies above it is replaced by its neighbour below.
        const double exact = double(around_zero(in[t])) * double(positive(in[64 + t]));
        float nearest = float(exact);
        if (double(nearest) > exact) nearest = std::nextafter(nearest, -HUGE_VALF);
        out[t] = as_bits(nearest);
    }
}

// case: mfma_bf16 in 768 out 256 exact covers mfma_16x16x16_bf16
CASE(mfma_bf16) { return start<mfma_kernel<true>>(stream, 1, 64, 0, input(in), output(out)); }
EXPECTED(mfma_bf16) { expected_product(in, out); }

// case: mfma_f16 in 768 out 256 exact covers mfma_16x16x16_f16
CASE(mfma_f16) { return start<mfma_kernel<false>>(stream, 1, 64, 0, input(in), output(out)); }
EXPECTED(mfma_f16) { expected_product(in, out); }

}  // namespace conformance

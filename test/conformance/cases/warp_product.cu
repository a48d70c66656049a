// SPDX-License-Identifier: MIT
// mma.sync m16n8k16: whole numbers against integer sums; random values against the sum that was measured for wgmma, which
// other units than Hopper's do not share: shown, never failed.
#include <algorithm>
#include <cmath>

#include "test/conformance/case.h"

namespace conformance {
namespace {

// Words of the input: A [16][16], B [16][8], C [16][8] of each of four warps.
constexpr int kWarps = 4, kInB = 256, kInC = kInB + 128, kWords = kInC + 128;

/// The 16 bits of an operand. Random ones have any fraction and exponents 2^-6 .. 2^1.
TK_HOST_DEVICE uint16_t element_bits(bool whole, bool bf16, uint32_t word) {
    if (whole) return half_bits(small(word), bf16);
    const uint32_t exponent = word >> 20 & 7, sign = word & 0x8000u;
    return uint16_t(bf16 ? sign | (121 + exponent) << 7 | (word >> 3 & 127) : sign | (9 + exponent) << 10 | (word >> 3 & 1023));
}
TK_HOST_DEVICE float sum_value(bool whole, uint32_t word) {
    return whole ? float(small(word) * 1000) : as_float((word & 0x807fffffu) | (122 + (word >> 25) % 8) << 23);
}

template <bool Whole, bool Bf16>
TK_KERNEL(32 * kWarps)
product_kernel(const uint32_t* all, uint32_t* out) {
    sm90::grid_dependency_wait();
    const int warp = sm80::thread_index() / 32, lane = sm80::thread_index() % 32;
    const uint32_t* in = all + warp * kWords;
    const auto pair = [&](int first, int second) {
        return element_bits(Whole, Bf16, get(in, first)) | uint32_t(element_bits(Whole, Bf16, get(in, second))) << 16;
    };
    uint32_t a[4], b[2];
    float c[4], d[4];
    TK_UNROLL
    for (int r = 0; r < 4; ++r) {
        const int at = (lane / 4 + 8 * (r & 1)) * 16 + 2 * (lane % 4) + 8 * (r >> 1);
        a[r] = pair(at, at + 1);
    }
    TK_UNROLL
    for (int r = 0; r < 2; ++r) {
        const int k = 2 * (lane % 4) + 8 * r;
        b[r] = pair(kInB + k * 8 + lane / 4, kInB + (k + 1) * 8 + lane / 4);
    }
    const auto place = [&](int n) { return (lane / 4 + 8 * (n >> 1)) * 8 + 2 * (lane % 4) + n % 2; };
    TK_UNROLL
    for (int n = 0; n < 4; ++n) c[n] = sum_value(Whole, get(in, kInC + place(n)));
    if constexpr (Bf16) {
        sm80::mma_16x8x16_bf16(d, a, b, c);
        sm80::mma_16x8x16_bf16(d, a, b, d);
    } else {
        sm80::mma_16x8x16_f16(d, a, b, c);
        sm80::mma_16x8x16_f16(d, a, b, d);
    }
    TK_UNROLL
    for (int n = 0; n < 4; ++n) put(out, warp * 128 + place(n), as_bits(d[n]));
}

float value_of(uint16_t bits, bool bf16) {
    if (bf16) return as_float(uint32_t(bits) << 16);
    const uint32_t exponent = bits >> 10 & 31, fraction = bits & 1023;
    const float magnitude = exponent == 0 ? std::ldexp(float(fraction), -24) : std::ldexp(1.0f + float(fraction) / 1024, int(exponent) - 15);
    return bits & 0x8000 ? -magnitude : magnitude;
}

/// Addends truncated 25 bits below the largest exponent, the sum truncated to f32; normal numbers only.
float truncated_sum(const float* a, const float* b, float c) {
    int emax = -1000;
    for (int k = 0; k < 16; ++k)
        if (a[k] * b[k] != 0) emax = std::max(emax, std::ilogb(a[k]) + std::ilogb(b[k]));
    if (c != 0) emax = std::max(emax, std::ilogb(c));
    double sum = std::trunc(std::ldexp(double(c), 25 - emax));
    for (int k = 0; k < 16; ++k) sum += std::trunc(std::ldexp(double(a[k]) * double(b[k]), 25 - emax));
    if (sum == 0) return 0;
    const int unit = std::max(0, std::ilogb(sum) - 23);
    return float(std::ldexp(std::trunc(std::ldexp(sum, -unit)), unit + emax - 25));
}

void expect_product(const uint32_t* all, uint32_t* out, bool whole, bool bf16) {
    for (int warp = 0; warp < kWarps; ++warp)
        for (int r = 0; r < 16; ++r)
            for (int n = 0; n < 8; ++n) {
                const uint32_t* in = all + warp * kWords;
                float a[16], b[16], sum = sum_value(whole, in[kInC + r * 8 + n]);
                for (int k = 0; k < 16; ++k) {
                    a[k] = value_of(element_bits(whole, bf16, in[r * 16 + k]), bf16);
                    b[k] = value_of(element_bits(whole, bf16, in[kInB + k * 8 + n]), bf16);
                }
                for (int twice = 0; twice < 2; ++twice) {
                    if (whole)
                        for (int k = 0; k < 16; ++k) sum += a[k] * b[k];  // whole numbers below 2^24: exact
                    else
                        sum = truncated_sum(a, b, sum);
                }
                out[warp * 128 + r * 8 + n] = as_bits(sum);
            }
}

}  // namespace
}  // namespace conformance

using namespace conformance;

// case: mma_bf16 in 2048 out 512 exact covers mma_16x8x16_bf16
CASE(mma_bf16) { return start<product_kernel<true, true>>(stream, 1, 32 * kWarps, 0, input(in), output(out)); }
EXPECTED(mma_bf16) { expect_product(in, out, true, true); }

// case: mma_f16 in 2048 out 512 exact covers mma_16x8x16_f16
CASE(mma_f16) { return start<product_kernel<true, false>>(stream, 1, 32 * kWarps, 0, input(in), output(out)); }
EXPECTED(mma_f16) { expect_product(in, out, true, false); }

// case: open_mma_random_bf16 in 2048 out 512 print covers mma_16x8x16_bf16
CASE(open_mma_random_bf16) { return start<product_kernel<false, true>>(stream, 1, 32 * kWarps, 0, input(in), output(out)); }
EXPECTED(open_mma_random_bf16) { expect_product(in, out, false, true); }

// case: open_mma_random_f16 in 2048 out 512 print covers mma_16x8x16_f16
CASE(open_mma_random_f16) { return start<product_kernel<false, false>>(stream, 1, 32 * kWarps, 0, input(in), output(out)); }
EXPECTED(open_mma_random_f16) { expect_product(in, out, false, false); }

// SPDX-License-Identifier: MIT
// Products of the tensor core: both majors, all swizzles, both types, A from registers, signs, groups in flight; whole
// numbers against integer sums, random values against the simulator's sum.
#include <algorithm>
#include <cmath>

#include "test/conformance/product.h"

namespace conformance {
namespace {

enum class data { whole, random };

/// The 16 bits of operand element number n. Random ones have any fraction, exponents 2^-6 .. 2^1, now and then 0.
TK_HOST_DEVICE uint16_t element_bits(data kind, bool bf16, uint32_t word) {
    if (kind == data::whole) return half_bits(small(word), bf16);
    if (word % 16 == 5) return 0;
    const uint32_t exponent = word >> 20 & 7, sign = word & 0x8000u;
    return uint16_t(bf16 ? sign | (121 + exponent) << 7 | (word >> 3 & 127)
                         : sign | (9 + exponent) << 10 | (word >> 3 & 1023));
}
TK_HOST_DEVICE float accumulator_value(data kind, uint32_t word) {
    return kind == data::whole ? float(small(word) * 100)
                               : as_float((word & 0x807fffffu) | (122 + (word >> 25) % 8) << 23);
}

// Words of the input: A [64][kDepth], B [256][kDepth], D [64][256].
constexpr int kInB = 64 * kDepth, kInD = kInB + 256 * kDepth;

template <bool Bf16, data Kind>
TK_DEVICE void fill_operand(const uint32_t* in, uint32_t base, const operand& o) {
    for (int n = sm80::thread_index(); n < o.extent * kDepth; n += 128) {
        const int mn = n / kDepth, k = n % kDepth;
        sm80::store_shared(base + o.swizzled(o.offset(mn, k)), element_bits(Kind, Bf16, get(in, n)));
    }
}

template <int N, bool Bf16, data Kind, int Width, bool AMn, bool BMn, int Sign, bool Registers, bool Accumulate>
TK_KERNEL(128)
product_kernel(const uint32_t* in, uint32_t* out) {
    sm90::grid_dependency_wait();
    const int t = sm80::thread_index();
    const uint32_t base = shared_base();
    constexpr operand a_at{64, Width, AMn}, b_at{N, Width, BMn};
    fill_operand<Bf16, Kind>(in, base, a_at);
    fill_operand<Bf16, Kind>(in + kInB, base + kBAt, b_at);
    sm90::fence_proxy_async_shared();
    sm80::block_sync();
    float d[N / 2];
    TK_UNROLL
    for (int n = 0; n < N / 2; ++n)
        d[n] = accumulator_value(Kind, get(in, kInD + row_of(t, n) * 256 + column_of(t, n)));
    uint32_t a[kDepth / 16][4];
    TK_UNROLL
    for (int r = 0; r < kDepth / 16 * 4; ++r) {
        const int row = 16 * (t / 32) + t % 32 / 4 + 8 * (r & 1), k = r / 4 * 16 + 2 * (t % 4) + 8 * (r >> 1 & 1);
        const uint32_t low = element_bits(Kind, Bf16, get(in, row * kDepth + k)),
                       high = element_bits(Kind, Bf16, get(in, row * kDepth + k + 1));
        a[r / 4][r % 4] = low | high << 16;
    }
    tie(d);
    sm90::wgmma_fence();
    TK_UNROLL
    for (int k = 0; k < kDepth; k += 16) {
        const int accumulate = Accumulate || k > 0;
        if constexpr (Registers) {
            sm90::wgmma<N>::template registers<Bf16, Sign, BMn>(d, a[k / 16], b_at.descriptor(base + kBAt, k),
                                                                accumulate);
        } else {
            sm90::wgmma<N>::template shared<Bf16, Sign, AMn, BMn>(d, a_at.descriptor(base, k),
                                                                  b_at.descriptor(base + kBAt, k), accumulate);
        }
    }
    sm90::wgmma_commit_group();
    sm90::wgmma_wait_group<0>();
    tie(d);
    TK_UNROLL
    for (int n = 0; n < N / 2; ++n) put(out, row_of(t, n) * N + column_of(t, n), as_bits(d[n]));
}

float value_of(uint16_t bits, bool bf16) {
    if (bf16) return as_float(uint32_t(bits) << 16);
    const uint32_t exponent = bits >> 10 & 31, fraction = bits & 1023;
    const float magnitude = exponent == 0 ? std::ldexp(float(fraction), -24)
                                          : std::ldexp(1.0f + float(fraction) / 1024, int(exponent) - 15);
    return bits & 0x8000 ? -magnitude : magnitude;
}

/// The sum of 16 products and c as the hardware makes it: addends truncated 25 bits below the largest exponent, the sum
/// truncated to f32. Normal numbers only; a product's exponent is the sum of its factors'.
float tensor_core_sum(const float* a, const float* b, float c) {
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

void expect_product(const uint32_t* in, uint32_t* out, int columns, bool bf16, data kind, int sign, bool accumulate) {
    for (int r = 0; r < 64; ++r)
        for (int c = 0; c < columns; ++c) {
            float sum = accumulate ? accumulator_value(kind, in[kInD + r * 256 + c]) : 0.0f;
            for (int k0 = 0; k0 < kDepth; k0 += 16) {
                float a[16], b[16];
                for (int k = 0; k < 16; ++k) {
                    a[k] = float(sign) * value_of(element_bits(kind, bf16, in[r * kDepth + k0 + k]), bf16);
                    b[k] = value_of(element_bits(kind, bf16, in[kInB + c * kDepth + k0 + k]), bf16);
                }
                if (kind == data::random) {
                    sum = tensor_core_sum(a, b, sum);
                } else {
                    for (int k = 0; k < 16; ++k) sum += a[k] * b[k];  // whole numbers below 2^24: exact
                }
            }
            out[r * columns + c] = as_bits(sum);
        }
}

/// Two groups in flight into accumulators of their own; the first is read while the second runs.
TK_KERNEL(128) groups_kernel(const uint32_t* in, uint32_t* out) {
    sm90::grid_dependency_wait();
    const int t = sm80::thread_index();
    const uint32_t base = shared_base();
    constexpr operand a_at{64, 128, false}, b_at{16, 128, false};
    fill_operand<true, data::whole>(in, base, a_at);
    fill_operand<true, data::whole>(in + kInB, base + kBAt, b_at);
    sm90::fence_proxy_async_shared();
    sm80::block_sync();
    float first[8], second[8];
    TK_UNROLL
    for (int n = 0; n < 8; ++n) first[n] = second[n] = 0;
    tie(first);
    tie(second);
    sm90::wgmma_fence();
    sm90::wgmma<16>::shared<true, 1, 0, 0>(first, a_at.descriptor(base, 0), b_at.descriptor(base + kBAt, 0), 1);
    sm90::wgmma_commit_group();
    sm90::wgmma<16>::shared<true, 1, 0, 0>(second, a_at.descriptor(base, 16), b_at.descriptor(base + kBAt, 16), 1);
    sm90::wgmma_commit_group();
    sm90::wgmma_wait_group<1>();
    tie(first);
    TK_UNROLL
    for (int n = 0; n < 8; ++n) put(out, row_of(t, n) * 16 + column_of(t, n), as_bits(first[n]));
    sm90::wgmma_wait_group<0>();
    tie(second);
    TK_UNROLL
    for (int n = 0; n < 8; ++n) put(out, 1024 + row_of(t, n) * 16 + column_of(t, n), as_bits(second[n]));
}

}  // namespace
}  // namespace conformance

using namespace conformance;

#define PRODUCT_CASE(NAME, N, BF16, KIND, WIDTH, AMN, BMN, SIGN, REGISTERS, ACCUMULATE)            \
    CASE(NAME) {                                                                                   \
        return start<product_kernel<N, BF16, KIND, WIDTH, AMN, BMN, SIGN, REGISTERS, ACCUMULATE>>( \
            stream, 1, 128, kSharedBytes, input(in), output(out));                                 \
    }                                                                                              \
    EXPECTED(NAME) { expect_product(in, out, N, BF16, KIND, SIGN, ACCUMULATE); }

// case: wgmma_128 in 26624 out 4096 exact covers wgmma::shared, wgmma_fence, wgmma_commit_group, wgmma_wait_group
PRODUCT_CASE(wgmma_128, 64, true, data::whole, 128, false, false, 1, false, true)
// case: wgmma_64 in 26624 out 4096 exact covers wgmma::shared
PRODUCT_CASE(wgmma_64, 64, false, data::whole, 64, false, false, 1, false, true)
// case: wgmma_32 in 26624 out 4096 exact covers wgmma::shared
PRODUCT_CASE(wgmma_32, 64, true, data::whole, 32, false, false, 1, false, true)
// case: wgmma_unswizzled in 26624 out 4096 exact covers wgmma::shared
PRODUCT_CASE(wgmma_unswizzled, 64, false, data::whole, 0, false, false, 1, false, true)
// case: wgmma_a_turned_128 in 26624 out 4096 exact covers wgmma::shared
PRODUCT_CASE(wgmma_a_turned_128, 64, true, data::whole, 128, true, false, 1, false, true)
// case: wgmma_b_turned_128 in 26624 out 16384 exact covers wgmma::shared
PRODUCT_CASE(wgmma_b_turned_128, 256, true, data::whole, 128, false, true, 1, false, true)
// case: wgmma_both_turned_64 in 26624 out 6144 exact covers wgmma::shared
PRODUCT_CASE(wgmma_both_turned_64, 96, false, data::whole, 64, true, true, 1, false, true)
// case: wgmma_both_turned_32 in 26624 out 1536 exact covers wgmma::shared
PRODUCT_CASE(wgmma_both_turned_32, 24, true, data::whole, 32, true, true, 1, false, true)
// case: wgmma_both_turned_unswizzled in 26624 out 2560 exact covers wgmma::shared
PRODUCT_CASE(wgmma_both_turned_unswizzled, 40, true, data::whole, 0, true, true, 1, false, true)
// case: wgmma_narrowest in 26624 out 512 exact covers wgmma::shared
PRODUCT_CASE(wgmma_narrowest, 8, true, data::whole, 128, false, false, 1, false, true)
// case: wgmma_widest in 26624 out 16384 exact covers wgmma::shared
PRODUCT_CASE(wgmma_widest, 256, false, data::whole, 128, false, false, 1, false, true)
// case: wgmma_subtract in 26624 out 4096 exact covers wgmma::shared
PRODUCT_CASE(wgmma_subtract, 64, true, data::whole, 128, false, false, -1, false, true)
// case: wgmma_overwrite in 26624 out 4096 exact covers wgmma::shared
PRODUCT_CASE(wgmma_overwrite, 64, true, data::whole, 128, false, true, 1, false, false)
// case: wgmma_registers in 26624 out 8192 exact covers wgmma::registers
PRODUCT_CASE(wgmma_registers, 128, true, data::whole, 128, false, true, 1, true, true)
// case: wgmma_registers_f16 in 26624 out 11264 exact covers wgmma::registers
PRODUCT_CASE(wgmma_registers_f16, 176, false, data::whole, 128, false, false, -1, true, true)
// case: wgmma_random_bf16 in 26624 out 16384 exact covers wgmma::shared
PRODUCT_CASE(wgmma_random_bf16, 256, true, data::random, 128, false, false, 1, false, true)
// case: wgmma_random_f16 in 26624 out 16384 exact covers wgmma::shared
PRODUCT_CASE(wgmma_random_f16, 256, false, data::random, 128, false, true, 1, false, true)
// case: wgmma_random_registers in 26624 out 8192 exact covers wgmma::registers
PRODUCT_CASE(wgmma_random_registers, 128, true, data::random, 128, false, true, 1, true, true)

// case: wgmma_groups in 26624 out 2048 exact covers wgmma_wait_group, wgmma_commit_group
CASE(wgmma_groups) { return start<groups_kernel>(stream, 1, 128, kSharedBytes, input(in), output(out)); }
EXPECTED(wgmma_groups) {
    for (int group = 0; group < 2; ++group)
        for (int r = 0; r < 64; ++r)
            for (int c = 0; c < 16; ++c) {
                int sum = 0;
                for (int k = 16 * group; k < 16 * group + 16; ++k)
                    sum += small(in[r * kDepth + k]) * small(in[kInB + c * kDepth + k]);
                out[group * 1024 + r * 16 + c] = as_bits(float(sum));
            }
}

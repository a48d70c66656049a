// SPDX-License-Identifier: MIT
// Products of the tensor core: both majors, all swizzles, both types, A from registers, signs, groups in flight; whole numbers
// against integer sums, random values against the sum that hardware.md describes, and probes of what it leaves open.
#include <algorithm>
#include <cmath>

#include "test/conformance/case.h"

namespace conformance {
namespace {

constexpr int kDepth = 32;               // K: two instructions
constexpr uint32_t kBAt = 32768;         // B behind A in shared memory
constexpr int kSharedBytes = 65536 + 1024;

/// How an operand [extent along M or N, kDepth] lies in shared memory.
struct operand {
    int extent, width;  // width: bytes of the swizzle, 0 for none
    bool mn_major;

    TK_HOST_DEVICE constexpr uint32_t swizzled(uint32_t offset) const { return offset ^ (width ? (offset >> 3 & uint32_t(width - 16)) : 0u); }
    /// Byte offset of element (mn, k) before the swizzle.
    TK_HOST_DEVICE constexpr uint32_t offset(int mn, int k) const {
        if (width == 0 && !mn_major) return uint32_t(mn / 8 * (kDepth / 8 * 128) + k / 8 * 128 + mn % 8 * 16 + k % 8 * 2);
        if (width == 0) return uint32_t(mn / 8 * (kDepth / 8 * 128) + k / 8 * 128 + k % 8 * 16 + mn % 8 * 2);
        const int panel = width / 2;
        if (!mn_major) return uint32_t(k / panel * extent * width + mn * width + k % panel * 2);
        return uint32_t(mn / panel * kDepth * width + k * width + mn % panel * 2);
    }
    TK_HOST_DEVICE constexpr uint32_t leading() const { return width == 0 ? 128u : mn_major ? uint32_t(kDepth * width) : 16u; }
    TK_HOST_DEVICE constexpr uint32_t stride() const { return width == 0 ? uint32_t(kDepth / 8 * 128) : uint32_t(8 * width); }
    TK_HOST_DEVICE constexpr uint64_t descriptor(uint32_t base, int k) const {
        const uint64_t mode = width == 128 ? 1 : width == 64 ? 2 : width == 32 ? 3 : 0;
        return uint64_t((base + offset(0, k)) >> 4 & 0x3fff) | uint64_t(leading() >> 4) << 16 | uint64_t(stride() >> 4) << 32 | mode << 62;
    }
};

enum class data { whole, random };

/// The 16 bits of operand element number n. Random ones have any fraction, exponents 2^-6 .. 2^1, now and then 0.
TK_HOST_DEVICE uint16_t element_bits(data kind, bool bf16, uint32_t word) {
    if (kind == data::whole) return half_bits(small(word), bf16);
    if (word % 16 == 5) return 0;
    const uint32_t exponent = word >> 20 & 7, sign = word & 0x8000u;
    return uint16_t(bf16 ? sign | (121 + exponent) << 7 | (word >> 3 & 127) : sign | (9 + exponent) << 10 | (word >> 3 & 1023));
}
TK_HOST_DEVICE float accumulator_value(data kind, uint32_t word) {
    return kind == data::whole ? float(small(word) * 100) : as_float((word & 0x807fffffu) | (122 + (word >> 25)  % 8) << 23);
}

// Words of the input: A [64][kDepth], B [256][kDepth], D [64][256].
constexpr int kInB = 64 * kDepth, kInD = kInB + 256 * kDepth;

TK_HOST_DEVICE int row_of(int t, int n) { return 16 * (t / 32) + t % 32 / 4 + 8 * (n / 2 % 2); }
TK_HOST_DEVICE int column_of(int t, int n) { return n / 4 * 8 + 2 * (t % 4) + n % 2; }

template <bool Bf16, data Kind>
TK_DEVICE void fill_operand(const uint32_t* in, uint32_t base, const operand& o) {
    for (int n = sm90::thread_index(); n < o.extent * kDepth; n += 128) {
        const int mn = n / kDepth, k = n % kDepth;
        sm90::store_shared(base + o.swizzled(o.offset(mn, k)), element_bits(Kind, Bf16, get(in, n)));
    }
}

/// Keeps ordinary uses of the registers on their side of the fence or wait here.
template <int N>
TK_DEVICE void tie([[maybe_unused]] float (&d)[N]) {
    TK_UNROLL
    for (int n = 0; n < N; ++n) TK_TIE("+f"(d[n]));
}

template <int N, bool Bf16, data Kind, int Width, bool AMn, bool BMn, int Sign, bool Registers, bool Accumulate>
TK_KERNEL(128) product_kernel(const uint32_t* in, uint32_t* out) {
    sm90::grid_dependency_wait();
    const int t = sm90::thread_index();
    const uint32_t base = shared_base();
    constexpr operand a_at{64, Width, AMn}, b_at{N, Width, BMn};
    fill_operand<Bf16, Kind>(in, base, a_at);
    fill_operand<Bf16, Kind>(in + kInB, base + kBAt, b_at);
    sm90::fence_proxy_async_shared();
    sm90::block_sync();
    float d[N / 2];
    TK_UNROLL
    for (int n = 0; n < N / 2; ++n) d[n] = accumulator_value(Kind, get(in, kInD + row_of(t, n) * 256 + column_of(t, n)));
    uint32_t a[kDepth / 16][4];
    TK_UNROLL
    for (int r = 0; r < kDepth / 16 * 4; ++r) {
        const int row = 16 * (t / 32) + t % 32 / 4 + 8 * (r & 1), k = r / 4 * 16 + 2 * (t % 4) + 8 * (r >> 1 & 1);
        const uint32_t low = element_bits(Kind, Bf16, get(in, row * kDepth + k)), high = element_bits(Kind, Bf16, get(in, row * kDepth + k + 1));
        a[r / 4][r % 4] = low | high << 16;
    }
    tie(d);
    sm90::wgmma_fence();
    TK_UNROLL
    for (int k = 0; k < kDepth; k += 16) {
        const int accumulate = Accumulate || k > 0;
        if constexpr (Registers) {
            sm90::wgmma<N>::template registers<Bf16, Sign, BMn>(d, a[k / 16], b_at.descriptor(base + kBAt, k), accumulate);
        } else {
            sm90::wgmma<N>::template shared<Bf16, Sign, AMn, BMn>(d, a_at.descriptor(base, k), b_at.descriptor(base + kBAt, k), accumulate);
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
    const float magnitude = exponent == 0 ? std::ldexp(float(fraction), -24) : std::ldexp(1.0f + float(fraction) / 1024, int(exponent) - 15);
    return bits & 0x8000 ? -magnitude : magnitude;
}

/// The sum of 16 products and c as the hardware makes it: addends truncated 25 bits below the largest exponent, the sum truncated
/// to f32. Normal numbers only; a product's exponent is the sum of its factors'.
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
    const int t = sm90::thread_index();
    const uint32_t base = shared_base();
    constexpr operand a_at{64, 128, false}, b_at{16, 128, false};
    fill_operand<true, data::whole>(in, base, a_at);
    fill_operand<true, data::whole>(in + kInB, base + kBAt, b_at);
    sm90::fence_proxy_async_shared();
    sm90::block_sync();
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

/// Probes: row r of A and its accumulator are those of probe r; column 0 of B is all ones but where the probe says.
struct probe {
    float c;
    float a[16], b[16];
};
constexpr int kProbes = 40;
TK_HOST_DEVICE probe probe_of(int r, bool bf16) {
    probe p{0, {}, {}};
    for (int k = 0; k < 16; ++k) p.a[k] = 0, p.b[k] = 1;
    const float infinity = __builtin_huge_valf();
    switch (r) {
        // Does the significand of a product, 1.5 * 1.5 = 2.25, move emax? If so, 2^-25 is lost.
        case 0: p.a[0] = 1.5f, p.b[0] = 1.5f, p.a[1] = -1.5f, p.b[1] = 1.5f, p.c = 0x1p-25f; break;
        case 1: p.a[0] = 1.5f, p.b[0] = 1.5f, p.a[1] = -1.5f, p.b[1] = 1.5f, p.c = 0x1p-24f; break;
        case 2: p.a[0] = 1.5f, p.b[0] = 1.5f, p.a[1] = -1.5f, p.b[1] = 1.5f, p.c = 0x1p-26f; break;
        case 3: p.a[0] = 1.0f, p.a[1] = -1.0f, p.c = 0x1p-25f; break;
        case 4: p.a[0] = 1.0f, p.a[1] = -1.0f, p.c = 0x1p-26f; break;
        // Does a zero times a large number count in emax? Its exponent would be 1 (bf16: -126 + 127; f16: -14 + 15).
        case 5: p.a[0] = 0, p.b[0] = bf16 ? 0x1p127f : 0x1p15f, p.a[1] = 1, p.a[2] = 0x1p-12f, p.b[2] = 0x1p-13f, p.c = -1.0f; break;
        case 6: p.a[0] = bf16 ? 0x1p127f : 0x1p15f, p.b[0] = 0, p.a[1] = 1, p.a[2] = 0x1p-12f, p.b[2] = 0x1p-13f, p.c = -1.0f; break;
        // Does the accumulator alone make emax?
        case 7: for (int k = 0; k < 4; ++k) p.a[k] = 0x1p-12f, p.b[k] = 0x1p-13f; p.c = 1.0f; break;
        case 8: for (int k = 0; k < 4; ++k) p.a[k] = 0x1p-13f, p.b[k] = 0x1p-13f; p.c = 1.0f; break;
        case 9: p.a[0] = -0x1p-12f, p.b[0] = 0x1p-13f, p.c = 1.0f; break;
        case 10: p.a[0] = 0x1p-12f, p.b[0] = 0x1p-13f, p.c = -1.0f; break;
        // Signs of zero.
        case 11: p.c = -0.0f; break;
        case 12: p.a[0] = -0.0f, p.c = -0.0f; break;
        case 13: p.a[0] = 1.0f, p.c = -1.0f; break;
        // Overflow, infinities, NaN.
        case 14: p.a[0] = bf16 ? 0x1p120f : 0x1p15f, p.b[0] = p.a[0]; break;
        case 15: p.a[0] = p.a[1] = p.a[2] = p.a[3] = bf16 ? 0x1p126f : 0x1p15f; break;
        case 16: p.a[0] = bf16 ? 0x1p126f : 0x1p15f, p.c = 0x1.fffffep127f; break;
        case 17: p.a[0] = infinity; break;
        case 18: p.a[0] = infinity, p.a[1] = -infinity; break;
        case 19: p.a[0] = infinity, p.b[0] = 0; break;
        case 20: p.c = __builtin_nanf(""); break;
        // Subnormals: of the operands, of the result, of the accumulator.
        case 21: p.a[0] = bf16 ? 0x1p-130f : 0x1p-24f; break;
        case 22: p.a[0] = bf16 ? 0x1p-100f : 0x1p-24f, p.b[0] = bf16 ? 0x1p-40f : 0x1p-24f; break;
        case 23: p.c = 0x1p-140f; break;
        // Is the exponent of a subnormal operand the smallest normal one, or that of its leading bit? Then the accumulator stays.
        case 24: p.a[0] = bf16 ? 0x1p-133f : 0x1p-24f, p.b[0] = 1, p.a[1] = -p.a[0], p.b[1] = 1, p.c = bf16 ? 0x1p-149f : 0x1p-40f; break;
        case 25: p.a[0] = bf16 ? 0x1p-133f : 0x1p-24f, p.b[0] = 0x1p10f, p.a[1] = -p.a[0], p.b[1] = 0x1p10f, p.c = bf16 ? 0x1p-142f : 0x1p-30f; break;
        // Are all 16 products and the accumulator one sum? In parts of 8 or 4 the small one stays where the large ones have cancelled.
        case 26: p.a[0] = 1, p.a[1] = -1, p.a[8] = 0x1p-13f, p.b[8] = 0x1p-13f; break;
        case 27: p.a[8] = 1, p.a[9] = -1, p.a[0] = 0x1p-13f, p.b[0] = 0x1p-13f; break;
        case 28: p.a[0] = 1, p.a[1] = -1, p.a[4] = 0x1p-13f, p.b[4] = 0x1p-13f; break;
        case 29: p.a[4] = 1, p.a[5] = -1, p.a[0] = 0x1p-13f, p.b[0] = 0x1p-13f; break;
        case 30: p.a[0] = 1, p.a[2] = -1, p.a[1] = 0x1p-13f, p.b[1] = 0x1p-13f; break;
        case 31: p.a[15] = 1, p.a[14] = -1, p.c = 0x1p-26f; break;
        // Bits of the accumulator below 2^(emax - 25), and how the sum is cut to 24 bits.
        case 32: p.a[0] = 8, p.c = 0x1.000002p0f; break;
        case 33: p.a[0] = -8, p.c = 0x1.fffffep0f; break;
        case 34: p.a[0] = 1, p.a[1] = 0x1p-12f, p.b[1] = 0x1p-12f, p.a[2] = 0x1p-12f, p.b[2] = 0x1p-13f; break;
        case 35: p.a[0] = -1, p.a[1] = 0x1p-12f, p.b[1] = 0x1p-13f; break;
        // Sixteen large products: the sum has four more bits.
        case 36: for (int k = 0; k < 16; ++k) p.a[k] = 1.9921875f, p.b[k] = 1.9921875f; break;
        case 37: for (int k = 0; k < 16; ++k) p.a[k] = 1.9921875f, p.b[k] = 1.9921875f; p.c = 0x1p-25f; break;
        case 38: for (int k = 0; k < 16; ++k) p.a[k] = 1, p.b[k] = k % 2 ? 0.9921875f : -1; p.c = 0x1p-24f; break;
        case 39: p.a[0] = 1.5f, p.b[0] = 1.5f, p.c = -2.25f + 0x1p-22f; break;
    }
    return p;
}

/// The 16 bits of a probe's value, which the type has exactly.
TK_HOST_DEVICE uint16_t probe_bits(float x, bool bf16) {
    const uint32_t bits = as_bits(x), magnitude = bits & 0x7fffffffu, sign = bits >> 16 & 0x8000u;
    if (bf16) return uint16_t(bits >> 16);
    if (magnitude >= 0x7f800000u) return uint16_t(sign | 0x7c00u);
    if (magnitude < 0x38800000u) return uint16_t(sign | uint32_t(as_float(magnitude) * 0x1p24f));
    return uint16_t(sign | (magnitude - 0x38000000u) >> 13);
}

/// B has a column of its own for each probe: element (r, r) of D is the answer.
template <bool Bf16>
TK_KERNEL(128) probe_kernel(uint32_t* out) {
    sm90::grid_dependency_wait();
    const int t = sm90::thread_index();
    const uint32_t base = shared_base();
    constexpr operand a_at{64, 128, false}, b_at{64, 128, false};
    for (int r = t; r < 64; r += 128) {
        const probe p = probe_of(r, Bf16);
        for (int k = 0; k < 16; ++k) {
            sm90::store_shared(base + a_at.swizzled(a_at.offset(r, k)), probe_bits(p.a[k], Bf16));
            sm90::store_shared(base + kBAt + b_at.swizzled(b_at.offset(r, k)), probe_bits(p.b[k], Bf16));
        }
    }
    sm90::fence_proxy_async_shared();
    sm90::block_sync();
    float d[32];
    TK_UNROLL
    for (int n = 0; n < 32; ++n) {
        const int r = row_of(t, n);
        d[n] = r == column_of(t, n) ? probe_of(r, Bf16).c : 0.0f;
    }
    tie(d);
    sm90::wgmma_fence();
    sm90::wgmma<64>::shared<Bf16, 1, 0, 0>(d, a_at.descriptor(base, 0), b_at.descriptor(base + kBAt, 0), 1);
    sm90::wgmma_commit_group();
    sm90::wgmma_wait_group<0>();
    tie(d);
    TK_UNROLL
    for (int n = 0; n < 32; ++n) {
        const int r = row_of(t, n);
        if (r == column_of(t, n) && r < kProbes) put(out, r, as_bits(d[n]));
    }
}

void expect_probes(uint32_t* out, bool bf16) {
    for (int r = 0; r < kProbes; ++r) {
        const probe p = probe_of(r, bf16);
        float sum = p.c;
        for (int k = 0; k < 16; ++k) sum += p.a[k] * p.b[k];
        out[r] = as_bits(sum);
    }
}

}  // namespace
}  // namespace conformance

using namespace conformance;

#define PRODUCT_CASE(NAME, N, BF16, KIND, WIDTH, AMN, BMN, SIGN, REGISTERS, ACCUMULATE)                                                          \
    CASE(NAME) {                                                                                                                                 \
        return start<product_kernel<N, BF16, KIND, WIDTH, AMN, BMN, SIGN, REGISTERS, ACCUMULATE>>(stream, 1, 128, kSharedBytes, input(in), output(out)); \
    }                                                                                                                                            \
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
                for (int k = 16 * group; k < 16 * group + 16; ++k) sum += small(in[r * kDepth + k]) * small(in[kInB + c * kDepth + k]);
                out[group * 1024 + r * 16 + c] = as_bits(float(sum));
            }
}

// case: open_wgmma_probes_bf16 in 1 out 40 print covers wgmma::shared
CASE(open_wgmma_probes_bf16) { return start<probe_kernel<true>>(stream, 1, 128, kSharedBytes, output(out)); }
EXPECTED(open_wgmma_probes_bf16) { expect_probes(out, true); }

// case: open_wgmma_probes_f16 in 1 out 40 print covers wgmma::shared
CASE(open_wgmma_probes_f16) { return start<probe_kernel<false>>(stream, 1, 128, kSharedBytes, output(out)); }
EXPECTED(open_wgmma_probes_f16) { expect_probes(out, false); }

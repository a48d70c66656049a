// SPDX-License-Identifier: MIT
// What documents leave open of the tensor core's sums, one row of a product for each question: shown, never failed.
#include "test/conformance/product.h"

namespace conformance {
namespace {

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
        case 5:
            p.a[0] = 0, p.b[0] = bf16 ? 0x1p127f : 0x1p15f, p.a[1] = 1, p.a[2] = 0x1p-12f, p.b[2] = 0x1p-13f,
            p.c = -1.0f;
            break;
        case 6:
            p.a[0] = bf16 ? 0x1p127f : 0x1p15f, p.b[0] = 0, p.a[1] = 1, p.a[2] = 0x1p-12f, p.b[2] = 0x1p-13f,
            p.c = -1.0f;
            break;
        // Does the accumulator alone make emax?
        case 7:
            for (int k = 0; k < 4; ++k) p.a[k] = 0x1p-12f, p.b[k] = 0x1p-13f;
            p.c = 1.0f;
            break;
        case 8:
            for (int k = 0; k < 4; ++k) p.a[k] = 0x1p-13f, p.b[k] = 0x1p-13f;
            p.c = 1.0f;
            break;
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
        // Is the exponent of a subnormal operand the smallest normal one, or that of its leading bit? Then the
        // accumulator stays.
        case 24:
            p.a[0] = bf16 ? 0x1p-133f : 0x1p-24f, p.b[0] = 1, p.a[1] = -p.a[0], p.b[1] = 1,
            p.c = bf16 ? 0x1p-149f : 0x1p-40f;
            break;
        case 25:
            p.a[0] = bf16 ? 0x1p-133f : 0x1p-24f, p.b[0] = 0x1p10f, p.a[1] = -p.a[0], p.b[1] = 0x1p10f,
            p.c = bf16 ? 0x1p-142f : 0x1p-30f;
            break;
        // Are all 16 products and the accumulator one sum? In parts of 8 or 4 the small one stays where the large ones
        // have cancelled.
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
        case 36:
            for (int k = 0; k < 16; ++k) p.a[k] = 1.9921875f, p.b[k] = 1.9921875f;
            break;
        case 37:
            for (int k = 0; k < 16; ++k) p.a[k] = 1.9921875f, p.b[k] = 1.9921875f;
            p.c = 0x1p-25f;
            break;
        case 38:
            for (int k = 0; k < 16; ++k) p.a[k] = 1, p.b[k] = k % 2 ? 0.9921875f : -1;
            p.c = 0x1p-24f;
            break;
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
TK_KERNEL(128)
probe_kernel(uint32_t* out) {
    sm90::grid_dependency_wait();
    const int t = sm80::thread_index();
    const uint32_t base = shared_base();
    constexpr operand a_at{64, 128, false}, b_at{64, 128, false};
    for (int r = t; r < 64; r += 128) {
        const probe p = probe_of(r, Bf16);
        for (int k = 0; k < 16; ++k) {
            sm80::store_shared(base + a_at.swizzled(a_at.offset(r, k)), probe_bits(p.a[k], Bf16));
            sm80::store_shared(base + kBAt + b_at.swizzled(b_at.offset(r, k)), probe_bits(p.b[k], Bf16));
        }
    }
    sm90::fence_proxy_async_shared();
    sm80::block_sync();
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

// case: open_wgmma_probes_bf16 in 1 out 40 print covers wgmma::shared
CASE(open_wgmma_probes_bf16) { return start<probe_kernel<true>>(stream, 1, 128, kSharedBytes, output(out)); }
EXPECTED(open_wgmma_probes_bf16) { expect_probes(out, true); }

// case: open_wgmma_probes_f16 in 1 out 40 print covers wgmma::shared
CASE(open_wgmma_probes_f16) { return start<probe_kernel<false>>(stream, 1, 128, kSharedBytes, output(out)); }
EXPECTED(open_wgmma_probes_f16) { expect_probes(out, false); }

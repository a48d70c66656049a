// SPDX-License-Identifier: MIT
// CDNA4: the wide copy, the transposing load, exchanges between rows of lanes, products 32 deep.
#define CASES_FOR "tk/gfx950.h"
#include "test/conformance/case.h"

namespace conformance {
namespace {

/// Two waves copy 1024 bytes each, past the buffer's end, which lies inside a piece.
TK_KERNEL(128) wide_copy_kernel(const uint32_t* in, uint32_t* out) {
    const int t = gfx9::thread_index();
    const uint32_t base = gfx9::shared_address(gfx9::dynamic_shared_memory());
    const gfx9::buffer from = gfx9::make_buffer(in, 4 * 450);
    gfx950::copy_buffer_to_shared_b128(base + uint32_t(t / 64 * 1024), from, uint32_t(16 * (t * 3 % 128)), 32);
    gfx9::wait_vector_memory<0>();
    gfx9::barrier();
    for (int i = 0; i < 4; ++i) put(out, i * 128 + t, gfx9::load_shared<uint32_t>(base + uint32_t(4 * (i * 128 + 127 - t))));
}

/// A matrix of 16 rows and 16 columns of halves: group g reads rows 4 g .. 4 g + 3.
TK_KERNEL(64) transposing_kernel(const uint32_t* in, uint32_t* out) {
    const int t = gfx9::thread_index();
    const uint32_t base = gfx9::shared_address(gfx9::dynamic_shared_memory());
    for (int i = 0; i < 2; ++i) gfx9::store_shared(base + uint32_t(4 * (i * 64 + t)), get(in, i * 64 + t));
    gfx9::wait_shared_memory<0>();
    gfx9::barrier();
    const auto x = gfx950::load_shared_transposed_b64(base + uint32_t(32 * (t / 16 * 4 + t % 16 / 4) + 8 * (t % 4)));
    put(out, 2 * t, x[0]);
    put(out, 2 * t + 1, x[1]);
}

TK_KERNEL(64) swap_kernel(const uint32_t* in, uint32_t* out) {
    const int t = gfx9::thread_index();
    uint32_t x = get(in, t), y = get(in, 64 + t), z = x, w = y;
    gfx950::swap_rows_16(x, y);
    gfx950::swap_rows_32(z, w);
    put(out, t, x);
    put(out, 64 + t, y);
    put(out, 128 + t, z);
    put(out, 192 + t, w);
}

template <bool BF16>
TK_KERNEL(64) deep_kernel(const uint32_t* in, uint32_t* out) {
    const int l = gfx9::thread_index(), i = l % 16, g = l / 16;
    uint32_t a[4] = {}, b[4] = {};
    for (int n = 0; n < 8; ++n) {
        const int k = 8 * g + n;
        a[n / 2] |= uint32_t(half_bits(small(get(in, i * 32 + k)), BF16)) << (n % 2 * 16);
        b[n / 2] |= uint32_t(half_bits(small(get(in, 512 + k * 16 + i)), BF16)) << (n % 2 * 16);
    }
    gfx9::sums4 sums = {1.0f, 2.0f, 3.0f, 4.0f};
    const gfx9::words4 left = {a[0], a[1], a[2], a[3]}, right = {b[0], b[1], b[2], b[3]};
    if (BF16) gfx950::mfma_16x16x32_bf16(sums, left, right);
    else gfx950::mfma_16x16x32_f16(sums, left, right);
    for (int e = 0; e < 4; ++e) put(out, (4 * g + e) * 16 + i, as_bits(sums[e]));
}

[[maybe_unused]] void expected_deep(const uint32_t* in, uint32_t* out) {
    for (int i = 0; i < 16; ++i)
        for (int j = 0; j < 16; ++j) {
            int sum = 1 + i % 4;
            for (int k = 0; k < 32; ++k) sum += small(in[i * 32 + k]) * small(in[512 + k * 16 + j]);
            out[i * 16 + j] = as_bits(float(sum));
        }
}

}  // namespace

// case: copy_b128 in 512 out 512 exact covers copy_buffer_to_shared_b128
CASE(copy_b128) { return start<wide_copy_kernel>(stream, 1, 128, 2048, input(in), output(out)); }
EXPECTED(copy_b128) {
    for (int i = 0; i < 4; ++i)
        for (int t = 0; t < 128; ++t) {
            const int word = i * 128 + 127 - t, from = word / 4 * 3 % 128 * 4 + word % 4 + 8;
            out[i * 128 + t] = from < 450 ? in[from] : 0;
        }
}

// case: transposing_load in 128 out 128 exact covers load_shared_transposed_b64
CASE(transposing_load) { return start<transposing_kernel>(stream, 1, 64, 1024, input(in), output(out)); }
EXPECTED(transposing_load) {
    const auto half = [&](int row, int col) { return in[(row * 16 + col) / 2] >> (col % 2 * 16) & 0xffff; };
    for (int t = 0; t < 64; ++t)
        for (int n = 0; n < 2; ++n) {
            const int row = t / 16 * 4 + 2 * n;
            out[2 * t + n] = half(row, t % 16) | half(row + 1, t % 16) << 16;
        }
}

// case: swap_rows in 128 out 256 exact covers swap_rows_16, swap_rows_32
CASE(swap_rows) { return start<swap_kernel>(stream, 1, 64, 0, input(in), output(out)); }
EXPECTED(swap_rows) {
    for (int t = 0; t < 64; ++t) {
        out[t] = t & 16 ? in[64 + t - 16] : in[t];
        out[64 + t] = t & 16 ? in[64 + t] : in[t + 16];
        out[128 + t] = t & 32 ? in[64 + t - 32] : in[t];
        out[192 + t] = t & 32 ? in[64 + t] : in[t + 32];
    }
}

// case: mfma_deep_bf16 in 1024 out 256 exact covers mfma_16x16x32_bf16
CASE(mfma_deep_bf16) { return start<deep_kernel<true>>(stream, 1, 64, 0, input(in), output(out)); }
EXPECTED(mfma_deep_bf16) { expected_deep(in, out); }

// case: mfma_deep_f16 in 1024 out 256 exact covers mfma_16x16x32_f16
CASE(mfma_deep_f16) { return start<deep_kernel<false>>(stream, 1, 64, 0, input(in), output(out)); }
EXPECTED(mfma_deep_f16) { expected_deep(in, out); }

}  // namespace conformance

// SPDX-License-Identifier: MIT
// CDNA: atomics on global memory. Whole numbers, so that every order gives the same.
#define CASES_FOR "tk/gfx942.h"
#include "test/conformance/case.h"

namespace conformance {
namespace {

TK_KERNEL(64) zero_kernel(uint32_t* out) {
    for (int i = gfx9::thread_index(); i < 128; i += 64) put(out, i, 0);
}

/// 256 threads on a handful of places; element 64 on keeps its sign of zero.
TK_KERNEL(64) atomics_kernel(const uint32_t* in, uint32_t* out) {
    const int at = gfx9::block_index() * 64 + gfx9::thread_index(), n = small(get(in, at));
    float* const f = reinterpret_cast<float*>(out);
    gfx9::red_add_f32(f, float(n));
    gfx9::red_add_s32(out + 8, n);
    gfx9::red_max_s32(out + 9, n);
    gfx9::red_min_s32(out + 10, n);
    gfx9::red_add_u32(out + 11, get(in, at));
    gfx9::red_max_u32(out + 12, get(in, at));
    gfx9::red_min_u32(out + 13, get(in, at));
    gfx9::red_add_u64(out + 16, uint64_t(get(in, at)) << 8);
    gfx9::red_max_s64(out + 18, int64_t(n) << 33);
    gfx9::red_min_s64(out + 20, int64_t(n) << 33);
    gfx9::red_max_u64(out + 22, uint64_t(get(in, at)) << 8);
    gfx9::red_min_u64(out + 24, uint64_t(get(in, at)) << 8);
    // Elements of 16 bits, in both ends of a word: up to 256 in magnitude, which bf16 still has.
    if (at < 32) {
        gfx9::red_add_bf16(reinterpret_cast<uint16_t*>(out + 32) + at % 2, half_bits(n, true));
        gfx9::red_add_f16(reinterpret_cast<uint16_t*>(out + 33) + at % 2, half_bits(n, false));
    }
    // A counter: each tries until nobody came between.
    uint16_t* const counter = reinterpret_cast<uint16_t*>(out + 40) + 1;
    uint16_t held = gfx9::load_relaxed_b16(counter);
    for (;;) {
        const uint16_t found = gfx9::compare_and_swap_b16(counter, held, uint16_t(held + 3));
        if (found == held) break;
        held = found;
    }
}

}  // namespace

// case: gfx9_atomics in 256 out 128 exact covers red_add_f32, red_add_bf16, red_add_f16, red_add_s32, red_max_s32, red_min_s32, red_add_u32, red_max_u32, red_min_u32, red_add_u64, red_max_s64, red_min_s64, red_max_u64, red_min_u64, load_relaxed_b16, compare_and_swap_b16
CASE(gfx9_atomics) {
    const tk_status zeroed = start<zero_kernel>(stream, 1, 64, 0, output(out));
    return zeroed.code == TK_OK ? start<atomics_kernel>(stream, 4, 64, 0, input(in), output(out)) : zeroed;
}
EXPECTED(gfx9_atomics) {
    for (int i = 0; i < 128; ++i) out[i] = 0;
    int sum = 0, most = 0, least = 0, halves[2] = {};
    uint32_t total = 0, largest = 0;
    uint64_t wide = 0;
    for (int i = 0; i < 256; ++i) {
        const int n = small(in[i]);
        sum += n, total += in[i], wide += uint64_t(in[i]) << 8;
        most = n > most ? n : most, least = n < least ? n : least, largest = in[i] > largest ? in[i] : largest;
        if (i < 32) halves[i % 2] += n;
    }
    out[0] = as_bits(float(sum));
    out[8] = uint32_t(sum), out[9] = uint32_t(most), out[10] = uint32_t(least), out[11] = total, out[12] = largest;
    const uint64_t longs[] = {wide, uint64_t(int64_t(most) << 33), uint64_t(int64_t(least) << 33), uint64_t(largest) << 8};
    for (int i = 0; i < 4; ++i) out[16 + 2 * i] = uint32_t(longs[i]), out[17 + 2 * i] = uint32_t(longs[i] >> 32);
    out[32] = half_bits(halves[0], true) | uint32_t(half_bits(halves[1], true)) << 16;
    out[33] = half_bits(halves[0], false) | uint32_t(half_bits(halves[1], false)) << 16;
    out[40] = 3u * 256 << 16;
}

}  // namespace conformance

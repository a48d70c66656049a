// SPDX-License-Identifier: MIT
// CDNA: where a lane is, exchanges between lanes, hints to the scheduler.
#define CASES_FOR "tk/gfx942.h"
#include "test/conformance/case.h"

namespace conformance {
namespace {

TK_KERNEL(192) position_kernel(uint32_t* out) {
    const int at = gfx9::block_index() * 192 + gfx9::thread_index();
    put(out, 2 * at, uint32_t(at));
    put(out, 2 * at + 1, uint32_t(gfx9::block_count()));
}

TK_KERNEL(128) shuffle_kernel(const uint32_t* in, uint32_t* out) {
    const int t = gfx9::thread_index();
    const uint32_t value = get(in, t);
    put(out, t, gfx9::shuffle_lane(value, (t * 7 + 3) % 64));
    put(out, 128 + t, gfx9::broadcast_first(value));
    put(out, 256 + t, gfx9::shuffle_from(value, 41));
    put(out, 384 + t, gfx9::swizzle_xor<4>(value));
    put(out, 512 + t, gfx9::swizzle_xor<16>(value));
    put(out, 640 + t, gfx9::swizzle_xor<31>(value));
    put(out, 768 + t, gfx9::move_dpp<0xb1>(value));
    put(out, 896 + t, gfx9::move_dpp<0x1b>(value));
    put(out, 1024 + t, gfx9::move_dpp<0x128>(value));
    put(out, 1152 + t, gfx9::move_dpp<0x123>(value));
    put(out, 1280 + t, gfx9::move_dpp<0x140>(value));
    put(out, 1408 + t, gfx9::move_dpp<0x141>(value));
}

/// What generic code calls: by other lanes' masks, through whichever instruction serves them.
TK_KERNEL(64) xor_kernel(const uint32_t* in, uint32_t* out) {
    const int t = gfx9::thread_index();
    const uint32_t value = get(in, t);
    put(out, t, gfx9::shuffle_xor(value, 1));
    put(out, 64 + t, gfx9::shuffle_xor(value, 2));
    put(out, 128 + t, gfx9::shuffle_xor(value, 4));
    put(out, 192 + t, gfx9::shuffle_xor(value, 8));
    put(out, 256 + t, gfx9::shuffle_xor(value, 16));
    put(out, 320 + t, gfx9::shuffle_xor(value, 32));
    put(out, 384 + t, gfx9::shuffle_xor(value, 37));
}

TK_KERNEL(64) hints_kernel(const uint32_t* in, uint32_t* out) {
    const int t = gfx9::thread_index();
    gfx9::set_priority<1>();
    const uint32_t value = get(in, t);
    gfx9::schedule_barrier();
    gfx9::schedule_group<gfx9::scheduled::scalars, 1>();
    gfx9::set_priority<0>();
    put(out, t, value);
}

}  // namespace

// case: gfx9_position in 1 out 1920 exact covers thread_index, block_index, block_count
CASE(gfx9_position) { return start<position_kernel>(stream, 5, 192, 0, output(out)); }
EXPECTED(gfx9_position) {
    for (uint32_t i = 0; i < 960; ++i) out[2 * i] = i, out[2 * i + 1] = 5;
}

// case: gfx9_shuffles in 128 out 1536 exact covers shuffle_lane, shuffle_from, broadcast_first, swizzle_xor, move_dpp
CASE(gfx9_shuffles) { return start<shuffle_kernel>(stream, 1, 128, 0, input(in), output(out)); }
EXPECTED(gfx9_shuffles) {
    for (int t = 0; t < 128; ++t) {
        const int wave = t / 64 * 64, row = t / 16 * 16, in_row = t % 16;
        const int from[] = {wave + (t * 7 + 3) % 64, wave,          wave + 41,  t ^ 4, t ^ 16, t ^ 31, t ^ 1, t / 4 * 4 + 3 - t % 4, row + (in_row + 8) % 16,
                            row + (in_row + 13) % 16, row + 15 - in_row, t / 8 * 8 + 7 - t % 8};
        for (int n = 0; n < 12; ++n) out[n * 128 + t] = in[from[n]];
    }
}

// case: gfx9_xor in 64 out 448 exact covers swizzle_xor, shuffle_lane
CASE(gfx9_xor) { return start<xor_kernel>(stream, 1, 64, 0, input(in), output(out)); }
EXPECTED(gfx9_xor) {
    const int masks[] = {1, 2, 4, 8, 16, 32, 37};
    for (int n = 0; n < 7; ++n)
        for (int t = 0; t < 64; ++t) out[n * 64 + t] = in[t ^ masks[n]];
}

// case: gfx9_hints in 64 out 64 exact covers set_priority, schedule_barrier, schedule_group
CASE(gfx9_hints) { return start<hints_kernel>(stream, 1, 64, 0, input(in), output(out)); }
EXPECTED(gfx9_hints) {
    for (int t = 0; t < 64; ++t) out[t] = in[t];
}

}  // namespace conformance

// SPDX-License-Identifier: MIT
// gfx950's transposing load on the simulator: each lane reads its 8 bytes, then groups of 16 lanes exchange halfwords.
#pragma once

#include "tk/hip/gfx9/word.h"
#include "tk/sim/engine.h"

namespace tk::gfx950 {

namespace detail {
struct transposed {
    uint16_t read[4], result[4];
};
}  // namespace detail

TK_DEVICE gfx9::words2 load_shared_transposed_b64(uint32_t address) {
    detail::transposed mine;
    sim::load_shared(address, mine.read, 8, sim::access::transposed);
    sim::meet_warp(
        "ds_read_b64_tr_b16",
        [](void* const* all) {
            for (int lane = 0; lane < 64; ++lane)
                for (int n = 0; n < 4; ++n) {
                    const int from = lane / 16 * 16 + lane / 4 % 4 + 4 * n;
                    static_cast<detail::transposed*>(all[lane])->result[n] = static_cast<const detail::transposed*>(all[from])->read[lane % 4];
                }
        },
        &mine);
    gfx9::words2 result;
    __builtin_memcpy(&result, mine.result, sizeof result);
    return result;
}

}  // namespace tk::gfx950

// SPDX-License-Identifier: MIT
// Exchanges between the lanes of a wave on the simulator.
#pragma once

#include "tk/platform.h"
#include "tk/sim/engine.h"

namespace tk::gfx9 {

namespace detail {
struct exchanged {
    uint32_t value, from, result;
};
/// The value of lane `from`.
inline uint32_t exchange(const char* what, uint32_t value, int from) {
    exchanged mine{value, uint32_t(from) % 64, 0};
    sim::meet_warp(
        what,
        [](void* const* all) {
            for (int lane = 0; lane < 64; ++lane) {
                exchanged* to = static_cast<exchanged*>(all[lane]);
                to->result = static_cast<const exchanged*>(all[to->from])->value;
            }
        },
        &mine);
    return mine.result;
}
inline int lane() { return sim::self().thread % 64; }
}  // namespace detail

TK_DEVICE uint32_t shuffle_lane(uint32_t value, int lane) { return detail::exchange("ds_bpermute_b32", value, lane); }

TK_DEVICE uint32_t shuffle_from(uint32_t value, int lane) {
    sim::same_in_warp("the lane of v_readlane_b32", uint64_t(lane));
    return detail::exchange("v_readlane_b32", value, lane);
}

TK_DEVICE uint32_t broadcast_first(uint32_t value) { return detail::exchange("v_readfirstlane_b32", value, 0); }

template <int Mask>
TK_DEVICE uint32_t swizzle_xor(uint32_t value) {
    return detail::exchange("ds_swizzle_b32", value, detail::lane() ^ Mask);
}

template <int Control>
TK_DEVICE uint32_t move_dpp(uint32_t value) {
    static_assert((Control >= 0 && Control <= 0xff) || (Control > 0x120 && Control < 0x130) || Control == 0x140 || Control == 0x141);
    const int row = detail::lane() & ~15, in_row = detail::lane() & 15;
    const int from = Control <= 0xff      ? (in_row & ~3) + (Control >> (2 * (in_row & 3)) & 3)
                     : Control == 0x140 ? 15 - in_row
                     : Control == 0x141 ? (in_row & 8) + 7 - (in_row & 7)
                                        : (in_row - (Control & 15)) & 15;  // row_ror: lane l gets that of l - n
    return detail::exchange("v_mov_b32 dpp", value, row + from);
}

}  // namespace tk::gfx9

// SPDX-License-Identifier: MIT
// Warp-wide instructions on the simulator.
#pragma once

#include "tk/platform.h"
#include "tk/sim/engine.h"

namespace tk::sm80 {

namespace detail {
struct shuffled {
    uint32_t value, from, result;
};
inline uint32_t shuffle(const char* what, uint32_t value, uint32_t from) {
    shuffled mine{value, from, 0};
    sim::meet_warp(
        what,
        [](void* const* all) {
            for (int lane = 0; lane < 32; ++lane) {
                shuffled* to = static_cast<shuffled*>(all[lane]);
                to->result = static_cast<const shuffled*>(all[to->from % 32])->value;
            }
        },
        &mine);
    return mine.result;
}
}  // namespace detail

TK_DEVICE uint32_t shuffle_xor(uint32_t value, int mask) {
    return detail::shuffle("shfl.sync.bfly", value, uint32_t(sim::self().thread % 32) ^ uint32_t(mask));
}
TK_DEVICE uint32_t shuffle_from(uint32_t value, int lane) { return detail::shuffle("shfl.sync.idx", value, uint32_t(lane)); }

}  // namespace tk::sm80

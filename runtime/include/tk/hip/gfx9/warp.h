// SPDX-License-Identifier: MIT
// Exchanges between the 64 lanes of a wave. All lanes take part.
#pragma once

#include "tk/platform.h"

#ifdef TK_SIM
#include "tk/sim/gfx9/warp.h"
#else

namespace tk::gfx9 {

/// ds_bpermute_b32: the value of lane `lane`.
TK_DEVICE uint32_t shuffle_lane(uint32_t value, int lane) {
    return uint32_t(__builtin_amdgcn_ds_bpermute(4 * lane, int(value)));
}

/// v_readlane_b32: the value of lane `lane`, which is the same in all lanes; the result is in a scalar register.
TK_DEVICE uint32_t shuffle_from(uint32_t value, int lane) { return uint32_t(__builtin_amdgcn_readlane(int(value), lane)); }

/// v_readfirstlane_b32: the value of the first active lane, in a scalar register.
TK_DEVICE uint32_t broadcast_first(uint32_t value) { return uint32_t(__builtin_amdgcn_readfirstlane(int(value))); }

/// ds_swizzle_b32, 32 lanes at a time: the value of lane `lane ^ Mask`, Mask below 32.
template <int Mask>
TK_DEVICE uint32_t swizzle_xor(uint32_t value) {
    return uint32_t(__builtin_amdgcn_ds_swizzle(int(value), Mask << 10 | 0x1f));
}

/// v_mov_b32 with a DPP control, rows of 16 lanes: quad_perm (0 .. 0xff), row_ror:n (0x120 + n), row_mirror (0x140),
/// row_half_mirror (0x141).
template <int Control>
TK_DEVICE uint32_t move_dpp(uint32_t value) {
    return uint32_t(__builtin_amdgcn_update_dpp(0, int(value), Control, 0xf, 0xf, true));
}

}  // namespace tk::gfx9

#endif

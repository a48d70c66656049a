// SPDX-License-Identifier: MIT
// Tiles drawn from a counter. A block (or a cluster of blocks that work together) takes the tile of its own number first, and draws those
// behind the last one's one by one: who is through early draws more. One thread draws, and hands the number to the others through shared
// memory.
#pragma once

#include "tk/cuda/sm80/reduce_global.h"
#include "tk/ops/scope.h"
#include "tk/types/global_tensor.h"
#include "tk/types/shared_tile.h"
#if TK_HAS_SM90
#include "tk/ops/roles.h"
#endif

namespace tk {

/// The next tile that nobody has, where the first `taken` are not drawn and `drawn` counts those that were. The number takes a way to L2
/// and back, which nobody waits for here. `draws`: whether this block does.
TK_DEVICE int draw_tile(const tensor<int, 1>& drawn, int taken, bool draws = true) {
    return draws ? taken + arch::fetch_add_s32(drawn.data, 1) : 0;
}

/// The number of a tile, into shared memory and from there.
TK_DEVICE void put_tile(shared_tile<int, 1, 1>& place, int number) { arch::store_shared(arch::shared_address(&place), number); }
TK_DEVICE int take_tile(const shared_tile<int, 1, 1>& place) { return arch::load_shared<int>(arch::shared_address(&place)); }

namespace warp {
#if TK_HAS_SM90
/// By the elected lane, which alone has the number.
TK_DEVICE int draw_tile(const tensor<int, 1>& drawn, int taken, bool draws = true) { return tk::draw_tile(drawn, taken, elect() && draws); }
#endif
/// By all lanes. Broadcast from lane 0, so that ptxas keeps what depends on it in uniform registers.
TK_DEVICE int take_tile(const shared_tile<int, 1, 1>& place) { return int(arch::shuffle_from(uint32_t(tk::take_tile(place)), 0)); }
}  // namespace warp

namespace warpgroup {
/// By thread 0, which alone has the number, if this warpgroup is the one that draws.
TK_DEVICE int draw_tile(const tensor<int, 1>& drawn, int taken, bool draws = true) {
    return tk::draw_tile(drawn, taken, draws && thread() == 0);
}
}  // namespace warpgroup

}  // namespace tk

// SPDX-License-Identifier: MIT
// What goes into the same place of every block of the cluster. Nobody waits here: `full` of each block counts the bytes that come to it,
// and who has waited there may read them.
#pragma once

#include "tk/ops/cluster_barrier.h"
#include "tk/ops/warpgroup_shared.h"

namespace tk {

/// The number of a tile, by one thread (draw.h).
template <int Blocks>
TK_DEVICE void put_tile_cluster(shared_tile<int, 1, 1>& place, int number, barrier& full) {
    const uint32_t address = arch::shared_address(&place), barrier_address = arch::shared_address(&full);
    TK_UNROLL
    for (int rank = 0; rank < Blocks; ++rank)
        sm90::store_async_b32(sm90::map_to_block(address, uint32_t(rank)), uint32_t(number),
                              sm90::map_to_block(barrier_address, uint32_t(rank)));
}

namespace warpgroup {
/// Stores the tile, of elements of four bytes, into this shared tile or view of each of the cluster's `Blocks` blocks.
template <int Blocks, class To, class T, int R, int C, class L>
TK_DEVICE void store_cluster(const To& to, const register_tile<T, R, C, L>& from, barrier& full) {
    const auto view = as_view(to);
    using View = std::remove_const_t<decltype(view)>;
    using from_tile = register_tile<T, R, C, L>;
    static_assert(std::is_same_v<T, typename View::value_type> && View::rows == R && View::cols == C && sizeof(T) == 4);
    static_assert(detail::turned_columns<from_tile, View>() == 0, "columns stay where the layout has them");
    if (!detail::stores<from_tile>()) return;
    const uint32_t barrier_address = arch::shared_address(&full);
    detail::for_each_shared_vector<1, from_tile>(position(), view, [&](int n, uint32_t address) {
        TK_UNROLL
        for (int rank = 0; rank < Blocks; ++rank)
            sm90::store_async_b32(sm90::map_to_block(address, uint32_t(rank)), __builtin_bit_cast(uint32_t, from.data[n]),
                                  sm90::map_to_block(barrier_address, uint32_t(rank)));
    });
}

}  // namespace warpgroup

}  // namespace tk

// SPDX-License-Identifier: MIT
// A sum over K split among the blocks of a cluster, which meet in each other's shared memory.
//
//     publish<n>(partial, acc, ready);           // this block's share of the sum, readable in the whole cluster
//     wait_published(ready, parity);             // all shares are there
//     const auto c = collect<n>(partial, rank);  // block `rank` finishes columns rank * C / n and on
//
// Each block adds up its own columns, so all of them read at the same time and none has the work of n. The order of
// addition is that of the ranks: the result does not depend on timing. `ready` counts 4 * n arrivals, from the four
// warps of a worker in every block. No block may leave, or publish again, before the others have collected.
#pragma once

#include "tk/ops/cluster_barrier.h"
#include "tk/ops/vector.h"
#include "tk/types/register_tile.h"

namespace tk {

/// Storage for an R x C accumulator as it lies in the registers: the 16 bytes that a thread holds of a 64 x 8 block
/// next to those of its neighbour. Moves without bank conflicts; no other access makes sense of it.
template <int R, int C>
struct alignas(128) fragment_buffer {
    using tile = register_tile<float, R, C, mma_layout>;
    static constexpr int bytes = R * C * int(sizeof(float));

    unsigned char storage[bytes];

    /// Where `thread` of the warpgroup keeps its four values of row block i, column block j.
    static TK_HOST_DEVICE constexpr int offset(int thread, int i, int j) { return ((i * tile::J + j) * 128 + thread) * 16; }
};

namespace split {

/// Writes the accumulator into this block's buffer and tells all `Blocks` blocks of the cluster.
template <int Blocks, int R, int C>
TK_DEVICE void publish(fragment_buffer<R, C>& to, const register_tile<float, R, C, mma_layout>& acc, barrier& ready) {
    const uint32_t base = arch::shared_address(to.storage);
    TK_UNROLL
    for (int i = 0; i < acc.I; ++i)
        TK_UNROLL
        for (int j = 0; j < acc.J; ++j) {
            const float* values = acc.data + acc.number_of({i, j, 0, 0});
            detail::store_shared_vector(base + to.offset(warpgroup::thread(), i, j),
                                        detail::vector<float, 4>{{values[0], values[1], values[2], values[3]}});
        }
    warp::publish_cluster(ready, Blocks);
}

/// The sum over the buffers of all blocks, of the columns part * C / Blocks to (part + 1) * C / Blocks.
template <int Blocks, int R, int C>
TK_DEVICE auto collect(const fragment_buffer<R, C>& from, int part) {
    static_assert(C % (Blocks * mma_layout::block_cols) == 0, "the columns are dealt to the blocks in eights");
    register_tile<float, R, C / Blocks, mma_layout> sum;
    const uint32_t base = arch::shared_address(from.storage) + from.offset(warpgroup::thread(), 0, part * sum.J);
    TK_UNROLL
    for (int rank = 0; rank < Blocks; ++rank) {
        const uint32_t share = sm90::map_to_block(base, uint32_t(rank));
        TK_UNROLL
        for (int i = 0; i < sum.I; ++i)
            TK_UNROLL
            for (int j = 0; j < sum.J; ++j) {
                float values[4];
                sm90::load_cluster_f32x4(values, share + from.offset(0, i, j));
                float* to = sum.data + sum.number_of({i, j, 0, 0});
                TK_UNROLL
                for (int e = 0; e < 4; ++e) to[e] = rank == 0 ? values[e] : to[e] + values[e];
            }
    }
    return sum;
}

}  // namespace split

}  // namespace tk

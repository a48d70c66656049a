// SPDX-License-Identifier: MIT
// A sum over K split among the blocks of a cluster, which meet in each other's shared memory.
//
//     publish<n>(shares, acc, rank, ready);         // what this block has of the others' columns, readable in the whole cluster
//     wait_published(ready, parity);                // all shares are there
//     const auto c = collect<n>(shares, acc, rank); // block `rank` finishes columns rank * C / n and on
//
// Each block adds up its own columns, so all of them read at the same time and none has the work of n; what it has of these
// itself stays in its registers. The order of addition is that of the ranks: the result does not depend on timing. `ready`
// counts 4 * n arrivals, from the four warps of a worker in every block. No block may leave, or publish again, before the
// others have collected.
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

/// Where in the buffer of block `owner` the columns of another block, `rank`, begin: those of all others follow each other, in blocks
/// of 8, `J` for each.
template <int J>
TK_DEVICE int place_of(int rank, int owner) {
    return (rank > owner ? rank - 1 : rank) * J;
}

/// Writes what block `rank` has of the columns of all others into its buffer and tells all `Blocks` blocks of the cluster.
template <int Blocks, int R, int Others, int C>
TK_DEVICE void publish(fragment_buffer<R, Others>& to, const register_tile<float, R, C, mma_layout>& acc, int rank, barrier& ready) {
    static_assert(C % (Blocks * mma_layout::block_cols) == 0, "the columns are dealt to the blocks in eights");
    static_assert(Others == C / Blocks * (Blocks - 1), "the buffer has room for the columns of all others");
    constexpr int J = C / Blocks / mma_layout::block_cols;
    const uint32_t base = arch::shared_address(to.storage);
    TK_UNROLL
    for (int other = 0; other < Blocks; ++other) {
        if (other == rank) continue;
        const uint32_t first = base + to.offset(warpgroup::thread(), 0, place_of<J>(other, rank));
        TK_UNROLL
        for (int i = 0; i < acc.I; ++i)
            TK_UNROLL
            for (int j = 0; j < J; ++j) {
                const float* values = acc.data + acc.number_of({i, other * J + j, 0, 0});
                detail::store_shared_vector(first + to.offset(0, i, j), detail::vector<float, 4>{{values[0], values[1], values[2], values[3]}});
            }
    }
    warp::publish_cluster(ready, Blocks);
}

/// The sum over all blocks of columns rank * C / Blocks to (rank + 1) * C / Blocks: of this block's accumulator, and of what the
/// others have published of theirs.
template <int Blocks, int R, int Others, int C>
TK_DEVICE auto collect(const fragment_buffer<R, Others>& from, const register_tile<float, R, C, mma_layout>& acc, int rank) {
    register_tile<float, R, C / Blocks, mma_layout> sum;
    const uint32_t base = arch::shared_address(from.storage);
    TK_UNROLL
    for (int owner = 0; owner < Blocks; ++owner) {
        const uint32_t share = sm90::map_to_block(base + from.offset(warpgroup::thread(), 0, place_of<sum.J>(rank, owner)), uint32_t(owner));
        TK_UNROLL
        for (int i = 0; i < sum.I; ++i)
            TK_UNROLL
            for (int j = 0; j < sum.J; ++j) {
                const float* own = acc.data + acc.number_of({i, owner * sum.J + j, 0, 0});
                float values[4] = {own[0], own[1], own[2], own[3]};
                if (owner != rank) sm90::load_cluster_f32x4(values, share + from.offset(0, i, j));
                float* to = sum.data + sum.number_of({i, j, 0, 0});
                TK_UNROLL
                for (int e = 0; e < 4; ++e) to[e] = owner == 0 ? values[e] : to[e] + values[e];
            }
    }
    return sum;
}

}  // namespace split

}  // namespace tk

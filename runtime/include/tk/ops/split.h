// SPDX-License-Identifier: MIT
// A sum over K split among the blocks of a cluster, each of which finishes some of the columns.
//
//     send<n>(buffer, acc, rank, full);              // what this block has of the others' columns, into their buffers
//     expect_bytes(full, bytes of the buffer);       // by one thread of the worker
//     wait(full, 0);                                 // what the others have of this block's columns is there
//     const auto c = collect<n>(buffer, acc, rank);  // block `rank` finishes columns rank * C / n and on
//
// Each block adds up its own columns, so none has the work of n; what it has of these itself stays in its registers. The order of
// addition is that of the ranks: the result does not depend on timing. Nobody reaches into a block behind what it waits for at `full`.
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

/// Where in a block's buffer what block `from` sends to block `to` begins: the parts of all others follow each other, in blocks of 8
/// columns, `J` for each.
template <int J>
TK_DEVICE int place_of(int from, int to) {
    return (from > to ? from - 1 : from) * J;
}

/// Stores what block `rank` has of the columns of each other block into that block's buffer, where `full` counts the bytes.
template <int Blocks, int R, int Others, int C>
TK_DEVICE void send(fragment_buffer<R, Others>& to, const register_tile<float, R, C, mma_layout>& acc, int rank, barrier& full) {
    static_assert(C % (Blocks * mma_layout::block_cols) == 0, "the columns are dealt to the blocks in eights");
    static_assert(Others == C / Blocks * (Blocks - 1), "the buffer has room for what all others send");
    constexpr int J = C / Blocks / mma_layout::block_cols;
    const uint32_t base = arch::shared_address(to.storage), full_address = arch::shared_address(&full);
    TK_UNROLL
    for (int other = 0; other < Blocks; ++other) {
        if (other == rank) continue;
        const uint32_t first = sm90::map_to_block(base + to.offset(warpgroup::thread(), 0, place_of<J>(rank, other)), uint32_t(other));
        const uint32_t full_there = sm90::map_to_block(full_address, uint32_t(other));
        TK_UNROLL
        for (int i = 0; i < acc.I; ++i)
            TK_UNROLL
            for (int j = 0; j < J; ++j) {
                const float* values = acc.data + acc.number_of({i, other * J + j, 0, 0});
                sm90::store_async_f32x4(first + to.offset(0, i, j), {values[0], values[1], values[2], values[3]}, full_there);
            }
    }
}

/// The sum over all blocks of columns rank * C / Blocks to (rank + 1) * C / Blocks: of this block's accumulator, and of what the
/// others have sent.
template <int Blocks, int R, int Others, int C>
TK_DEVICE auto collect(const fragment_buffer<R, Others>& from, const register_tile<float, R, C, mma_layout>& acc, int rank) {
    register_tile<float, R, C / Blocks, mma_layout> sum;
    const uint32_t base = arch::shared_address(from.storage);
    TK_UNROLL
    for (int other = 0; other < Blocks; ++other) {
        const uint32_t first = base + from.offset(warpgroup::thread(), 0, place_of<sum.J>(other, rank));
        TK_UNROLL
        for (int i = 0; i < sum.I; ++i)
            TK_UNROLL
            for (int j = 0; j < sum.J; ++j) {
                const float* own = acc.data + acc.number_of({i, other * sum.J + j, 0, 0});
                auto values = detail::vector<float, 4>{{own[0], own[1], own[2], own[3]}};
                if (other != rank) values = detail::load_shared_vector<float, 4>(first + from.offset(0, i, j));
                float* to = sum.data + sum.number_of({i, j, 0, 0});
                TK_UNROLL
                for (int e = 0; e < 4; ++e) to[e] = other == 0 ? values.value[e] : to[e] + values.value[e];
            }
    }
    return sum;
}

}  // namespace split

}  // namespace tk

// SPDX-License-Identifier: MIT
// Blocks of global memory on their way into shared tiles through registers: fetched before a step's products, 16 bytes a load, and put
// down behind them. A tile may lie turned in shared memory, with what is a row of the block as its columns: loads of a product's right
// operand then bring 16 bytes, too. The compiler orders registers: a put waits for the loads of its own fetch and no others.
#pragma once

#include "tk/hip/copy_async.h"

namespace tk {

/// The part of an R x C tile in one thread: pieces of 16 bytes along the rows.
template <class T, int R, int C, int Threads>
struct fetched_tile {
    static constexpr int per_row = C * int(sizeof(T)) / 16, count = R * per_row / Threads;
    static_assert(C * sizeof(T) % 16 == 0 && R * per_row % Threads == 0, "threads share the pieces evenly");
    gfx9::words4 pieces[count];

    static TK_DEVICE int row(int n) { return (n * Threads + thread::index()) / per_row; }
    static TK_DEVICE int col(int n) { return (n * Threads + thread::index()) % per_row * (16 / int(sizeof(T))); }
};

/// The same of a tile that is turned: patches of 4 columns of the tile (rows of the block) by 8 rows, or 4 or 2 where threads
/// are many.
template <class T, int R, int C, int Threads>
struct fetched_turned_tile {
    static_assert(sizeof(T) == 2 && C % 4 == 0, "elements of 2 bytes, four to a store");
    static constexpr int rows = R * C % (32 * Threads) == 0 ? 8 : R * C % (16 * Threads) == 0 ? 4 : 2, per_row = C / 4, count = R * C / (4 * rows * Threads);
    static_assert(R % rows == 0 && R * C % (4 * rows * Threads) == 0, "threads share the patches evenly");
    uint32_t pairs[count][4][rows / 2];  // of neighbouring rows of the tile

    static TK_DEVICE int row(int n) { return (n * Threads + thread::index()) / per_row * rows; }
    static TK_DEVICE int col(int n) { return (n * Threads + thread::index()) % per_row * 4; }
};

namespace detail {
/// Address of an element of a whole tile. Tiles start where the pattern of their swizzle does, so what a thread adds to the start is the
/// same for all slots.
template <class View>
TK_DEVICE uint32_t place_in(const View& tile, int r, int c) {
    static_assert(View::rows == View::parent_rows && View::cols == View::parent_cols);
    const uint32_t place = tile.base + swizzled<View::swizzling>(View::geometry::offset(uint32_t(r), uint32_t(c)));
#ifdef TK_SIM
    if (place != tile.address(r, c)) sim::report_misuse("a tile that does not start where its swizzle does");
#endif
    return place;
}
}  // namespace detail

namespace block {

/// Issues the loads of an R x C block, by all Threads threads; what the block does not have becomes 0. Conditions as for copy_pieces.
template <int Threads, int R, int C, class T>
TK_DEVICE auto fetch(const global_block<T>& from) {
    using tile = fetched_tile<std::remove_const_t<T>, R, C, Threads>;
    const auto source = detail::buffer_of<R, C>(from);
    tile result;
    TK_UNROLL
    for (int n = 0; n < tile::count; ++n)
        result.pieces[n] = gfx9::load_buffer_b128(source, detail::offset_in(from, tile::row(n), tile::col(n)));
    return result;
}

/// The same of a C x R block for an R x C tile.
template <int Threads, int R, int C, class T>
TK_DEVICE auto fetch_turned(const global_block<T>& from) {
    using tile = fetched_turned_tile<std::remove_const_t<T>, R, C, Threads>;
    const auto source = detail::buffer_of<C, R>(from);
    tile result;
    TK_UNROLL
    for (int n = 0; n < tile::count; ++n)
        TK_UNROLL
        for (int k = 0; k < 4; ++k) {
            const uint32_t offset = detail::offset_in(from, tile::col(n) + k, tile::row(n));
            if constexpr (tile::rows == 8) {
                const gfx9::words4 x = gfx9::load_buffer_b128(source, offset);
                TK_UNROLL
                for (int w = 0; w < 4; ++w) result.pairs[n][k][w] = x[w];
            } else if constexpr (tile::rows == 4) {
                const gfx9::words2 x = gfx9::load_buffer_b64(source, offset);
                result.pairs[n][k][0] = x[0], result.pairs[n][k][1] = x[1];
            } else {
                result.pairs[n][k][0] = gfx9::load_buffer_b32(source, offset);
            }
        }
    return result;
}

/// Into a whole tile. Others see it behind a barrier.
template <int Threads, class To, class T, int R, int C>
TK_DEVICE void put(const To& to, const fetched_tile<T, R, C, Threads>& from) {
    const auto view = as_view(to);
    TK_UNROLL
    for (int n = 0; n < from.count; ++n) arch::store_shared(detail::place_in(view, from.row(n), from.col(n)), from.pieces[n]);
}

/// Sixteen lanes whose stores go together hold two patches side by side, and those of the second begin with their second row, so that
/// no bank is met twice where a row has 64 bytes.
template <int Threads, class To, class T, int R, int C>
TK_DEVICE void put(const To& to, const fetched_turned_tile<T, R, C, Threads>& from) {
    const auto view = as_view(to);
    using tile = fetched_turned_tile<T, R, C, Threads>;
    const int odd = thread::index() / 8 % 2;
    TK_UNROLL
    for (int n = 0; n < tile::count; ++n) {
        const int r = tile::row(n), c = tile::col(n);
        // The exchange of halves is not moved in front of fetches that are issued before this: it would wait for those, too.
        uint32_t pairs[4][tile::rows / 2];
        TK_UNROLL
        for (int k = 0; k < 4; ++k)
            TK_UNROLL
            for (int w = 0; w < tile::rows / 2; ++w) {
                pairs[k][w] = from.pairs[n][k][w];
                TK_TIE_VALUE("+" TK_REGISTER(pairs[k][w]));
            }
        const auto row = [&](int w, bool high) {
            gfx9::words2 x;
            TK_UNROLL
            for (int k = 0; k < 2; ++k) {
                const uint32_t first = pairs[2 * k][w], second = pairs[2 * k + 1][w];
                x[k] = high ? gfx9::pack_halves(uint16_t(first >> 16), uint16_t(second >> 16)) : gfx9::pack_halves(uint16_t(first), uint16_t(second));
            }
            return x;
        };
        TK_UNROLL
        for (int w = 0; w < tile::rows / 2; ++w) {
            const gfx9::words2 low = row(w, false), high = row(w, true);
            arch::store_shared(detail::place_in(view, r + 2 * w + odd, c), odd ? high : low);
            arch::store_shared(detail::place_in(view, r + 2 * w + 1 - odd, c), odd ? low : high);
        }
    }
}

}  // namespace block

}  // namespace tk

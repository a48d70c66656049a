// SPDX-License-Identifier: MIT
// Shared tiles to and from blocks of global memory by ordinary loads and stores: the path for tensors that the
// copy engine can't serve. Neighbouring threads take neighbouring pieces of a row; a piece has the widest of
// 16, 8, 4 bytes or one element that the block's alignment allows, decided once. From rows that begin anywhere pieces
// of 16 bytes are shifted together (ops/unaligned_rows.h).
#pragma once

#include "tk/ops/warpgroup_global.h"

namespace tk {

namespace detail {

/// f(row, column) for the pieces of V columns of an R x C tile that fall to `thread` of `threads`.
template <int V, int R, int C, class F>
TK_DEVICE void for_each_piece(int thread, int threads, F f) {
    constexpr int per_row = C / V;
    TK_NO_UNROLL
    for (int piece = thread; piece < R * per_row; piece += threads) f(piece / per_row, piece % per_row * V);
}

/// V columns from (r, c) on, or the fill where they do not exist.
template <int V, class T, class Fill>
TK_DEVICE auto load_piece(const global_block<T>& from, int r, int c, Fill fill_value) {
    using value = std::remove_const_t<T>;
    if (from.has_row(r) && from.has_col(c) && from.has_col(c + V - 1)) return load_vector<value, V>(from.at(r, c));
    return __builtin_bit_cast(vector<value, V>, load_elements<V>(from, r, c, filled_word<value, V>(convert<value>(fill_value))));
}

/// `Together` pieces of a thread are loaded before the first of them is stored, so that they are in flight at the same time.
template <int Together, int V, class View, class T, class Fill>
TK_DEVICE void copy_in(const View& to, const global_block<T>& from, Fill fill_value, int thread, int threads) {
    constexpr int per_row = View::cols / V, pieces = View::rows * per_row;
    // AMD: which pieces and elements exist is the same in every iteration of a loop around this; kept as masks of lanes, they are more
    // than there are scalar registers.
    thread = late(thread);
    TK_NO_UNROLL
    for (int first = thread; first < pieces; first += Together * threads) {
        vector<std::remove_const_t<T>, V> v[Together];
        TK_UNROLL
        for (int n = 0; n < Together; ++n) {
            const int piece = first + n * threads;
            if (piece < pieces) v[n] = load_piece<V>(from, piece / per_row, piece % per_row * V, fill_value);
        }
        TK_UNROLL
        for (int n = 0; n < Together; ++n) {
            const int piece = first + n * threads;
            if (piece < pieces) store_shared_vector(to.address(piece / per_row, piece % per_row * V), v[n]);
        }
    }
}

/// The same for rows whose columns follow each other and that begin anywhere.
template <int Together, int V, class View, class T, class Fill>
TK_DEVICE void copy_in_shifted(const View& to, const global_block<T>& from, Fill fill_value, int thread, int threads) {
    using value = std::remove_const_t<T>;
    constexpr int per_row = View::cols / V, pieces = View::rows * per_row;
    const auto fill_word = filled_word<value, V>(convert<value>(fill_value));
    thread = late(thread);
    TK_NO_UNROLL
    for (int first = thread; first < pieces; first += Together * threads) {
        std::remove_const_t<decltype(fill_word)> words[Together];
        // Without a branch between the loads: what is behind the tile is no row of the block.
        TK_UNROLL
        for (int n = 0; n < Together; ++n) {
            const int piece = first + n * threads, c = piece % per_row * V;
            words[n] = shifted_row<V, T>(from, piece < pieces ? piece / per_row : from.row_hi, c).load_one(0, fill_word);
        }
        TK_UNROLL
        for (int n = 0; n < Together; ++n) {
            const int piece = anew(first) + n * threads, r = piece / per_row, c = piece % per_row * V;
            if (piece >= pieces) continue;
            if (!shifted_row<V, T>(from, r, c).has(0)) words[n] = load_elements<V>(from, r, c, fill_word);
            store_shared_vector(to.address(r, c), __builtin_bit_cast(vector<value, V>, words[n]));
        }
    }
}

template <int V, class View, class T>
TK_DEVICE void copy_out(const global_block<T>& to, const View& from, int thread, int threads) {
    for_each_piece<V, View::rows, View::cols>(thread, threads, [&](int r, int c) {
        const auto v = load_shared_vector<T, V>(from.address(r, c));
        if (to.has_row(r) && to.has_col(c) && to.has_col(c + V - 1)) {
            store_vector(to.at(r, c), v);
        } else {
            TK_UNROLL
            for (int e = 0; e < V; ++e)
                if (to.has_row(r) && to.has_col(c + e)) arch::store_global(to.at(r, c + e), v.value[e]);
        }
    });
}

/// f with the widest piece, in elements, that block and view allow, as a compile-time number.
template <class View, class T, class F>
TK_DEVICE void with_widest_piece(const global_block<T>& block, F f) {
    constexpr int size = int(sizeof(T));
    if constexpr (!is_transposed<View> && size < 16 && View::cols % (16 / size) == 0)
        if (rows_aligned(block, View::rows, 16)) return f(std::integral_constant<int, 16 / size>());
    if constexpr (!is_transposed<View> && size < 8 && View::cols % (8 / size) == 0)
        if (rows_aligned(block, View::rows, 8)) return f(std::integral_constant<int, 8 / size>());
    if constexpr (!is_transposed<View> && size < 4 && View::cols % (4 / size) == 0)
        if (rows_aligned(block, View::rows, 4)) return f(std::integral_constant<int, 4 / size>());
    f(std::integral_constant<int, 1>());
}

/// Elements of the widest piece that a view allows.
template <class View>
TK_HOST_DEVICE constexpr int widest_piece() {
    int V = is_transposed<View> ? 1 : 16 / int(sizeof(typename View::value_type));
    while (V > 1 && View::cols % V != 0) V /= 2;
    return V;
}

/// What may be read to fill a view: the block, or, if that is exact, no more of it than the view takes.
template <class View, class T>
TK_DEVICE const global_block<T>& readable(const global_block<T>& block) { return block; }
template <class View, class T>
TK_DEVICE global_block<T> readable(const exact_block<T>& block) {
    global_block<T> part = block;
    part.row_lo = max(part.row_lo, 0), part.row_hi = min(part.row_hi, View::rows);
    part.col_lo = max(part.col_lo, 0), part.col_hi = min(part.col_hi, View::cols);
    return part;
}

template <int Together, class To, template <class> class Block, class T, class Fill>
TK_DEVICE void copy_global_to_shared(const To& to, const Block<T>& block, Fill fill_value, int thread, int threads) {
    const auto view = as_view(to);
    using View = std::remove_const_t<decltype(view)>;
    const global_block<T>& from = readable<View>(block);
    constexpr int V = widest_piece<View>();
    if constexpr (shifts_runs<std::remove_const_t<T>, V>)
        if (from.col_stride == 1 && !rows_aligned(from, View::rows, 4)) return copy_in_shifted<Together, V>(view, from, fill_value, thread, threads);
    with_widest_piece<View>(
        from, [&](auto width) { copy_in<Together, decltype(width)::value>(view, from, fill_value, thread, threads); });
}

}  // namespace detail

namespace warp {
/// By the lanes of a warp. Elements outside the block become `fill_value`. Before the tensor core or the copy
/// engine reads the tile: fence_async_proxy in every lane, then an arrival or a barrier.
template <class To, template <class> class Block, class T, class Fill>
TK_DEVICE void copy_global_to_shared(const To& to, const Block<T>& from, Fill fill_value) {
    detail::copy_global_to_shared<1>(to, from, fill_value, lane(), arch::lanes);
}
}  // namespace warp

namespace block {
/// The same by `Threads` threads of the block, from number `First` on.
template <int Threads, int First = 0, class To, template <class> class Block, class T, class Fill = float>
TK_DEVICE void copy_global_to_shared(const To& to, const Block<T>& from, Fill fill_value = 0) {
    detail::copy_global_to_shared<4>(to, from, fill_value, thread::index() - First, Threads);
}
}  // namespace block

namespace warpgroup {
/// The same by the threads of a warpgroup.
template <class To, template <class> class Block, class T, class Fill = float>
TK_DEVICE void copy_global_to_shared(const To& to, const Block<T>& from, Fill fill_value = 0) {
    detail::copy_global_to_shared<4>(to, from, fill_value, thread(), threads);
}

/// A shared tile to the block by the threads of a warpgroup; elements outside the block are dropped. The writers of the tile
/// must have met before.
template <class T, class From>
TK_DEVICE void copy_shared_to_global(const global_block<T>& to, const From& from) {
    const auto view = as_view(from);
    detail::with_widest_piece<std::remove_const_t<decltype(view)>>(
        to, [&](auto width) { detail::copy_out<decltype(width)::value>(to, view, thread(), threads); });
}
}  // namespace warpgroup

}  // namespace tk

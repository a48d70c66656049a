// SPDX-License-Identifier: MIT
// Elements and rows of global memory that tiles of numbers choose.
#pragma once

#include <type_traits>

#include "tk/ops/warpgroup_global.h"

namespace tk {

/// Rows of a tensor, wherever they lie, each with the same columns: row r is there iff this thread's register for it `exists`. Indices of
/// registers are those of the column of numbers that chose the rows, [Rows, 1] dealt as Layout.
template <class T, int Rows, class Layout, bool Exactly = false>
struct chosen_rows {
    using column = register_tile<int, Rows, 1, Layout>;
    T* origin;                    // column 0 of element 0 of each axis that a column chooses
    int64_t places[column::size]; // of each row, in elements from there
    bool exists[column::size];
    int64_t col_stride = 0;       // in elements
    int col_lo = 0, col_hi = 1;   // columns that exist
    bool are_vectors = true;      // from row to row lie multiples of 16 bytes
    bool is_aligned = false;      // columns follow each other, and each row is known to begin at a multiple of 16 bytes
};
template <class T, int Rows, class Layout>
TK_DEVICE chosen_rows<T, Rows, Layout, true> exact(const chosen_rows<T, Rows, Layout>& rows) {
    return __builtin_bit_cast(chosen_rows<T, Rows, Layout, true>, rows);
}

namespace detail {

/// The first tile among indices, of which the others are numbers, axes, or tiles of the same shape and layout.
template <class T, int R, int C, class L, class... Rest>
TK_HOST_DEVICE const register_tile<T, R, C, L>& first_index(const register_tile<T, R, C, L>& tile, const Rest&...) { return tile; }
template <class Other, class... Rest>
    requires(!is_tile<Other>)
TK_HOST_DEVICE const auto& first_index(const Other&, const Rest&... rest) { return first_index(rest...); }

template <class T, int R, int C, class L>
TK_HOST_DEVICE T number_at(const register_tile<T, R, C, L>& tile, int n) { return tile.data[n]; }
template <class Number>
    requires std::is_arithmetic_v<Number>
TK_HOST_DEVICE constexpr Number number_at(Number index, int) { return index; }

/// Narrows the rows down by the index of a dimension: a column of numbers, or what of the dimension a block takes. False: it is one number
/// that the dimension does not have, so that there is nothing in any row.
template <class Rows, class N, int R, class L>
TK_DEVICE bool choose(Rows& rows, int extent, int64_t stride, const register_tile<N, R, 1, L>& numbers) {
    static_assert(std::is_same_v<typename register_tile<N, R, 1, L>::dealt, typename Rows::column::dealt>, "layouts differ");
    constexpr int vector = 16 / int(sizeof(*rows.origin));
    rows.are_vectors = rows.are_vectors && (stride % vector == 0 || extent <= 1);
    TK_UNROLL
    for (int n = 0; n < Rows::column::size; ++n) {
        const bool is_there = numbers.data[n] >= 0 && numbers.data[n] < extent;
        rows.exists[n] = rows.exists[n] && is_there;
        rows.places[n] += is_there ? int64_t(numbers.data[n]) * stride : 0;
    }
    return true;
}
template <class Rows>
TK_DEVICE bool choose(Rows& rows, int extent, int64_t stride, const axis& a) {
    const int lo = (a.exists ? a.lo : max(a.lo, 0)) - a.start, hi = (a.exists ? a.hi : min(a.hi, extent)) - a.start;
    rows.origin += a.start * stride;
    if (a.dropped) return lo < hi;
    rows.col_lo = lo, rows.col_hi = hi, rows.col_stride = stride;
    return true;
}

/// The words of V neighbours that a tile of chosen rows is made of; those of elements that do not exist are `fill_word`. As for blocks, no
/// branch lies between loads of whole runs: those of all rows are in flight at the same time.
template <int V, class Tile, class From, class Layout, bool Exactly, class Word>
TK_DEVICE void load_words(const chosen_rows<From, Tile::rows, Layout, Exactly>& rows, Word fill_word, Word (&words)[Tile::size / V]) {
    using T = std::remove_const_t<From>;
    using L = typename Tile::dealt;
    const int first_col = Tile::cols == 1 ? 0 : L::col(warpgroup::position(), 0, 0);
    const int64_t col_stride = V == 1 ? rows.col_stride : 1;
    // f(register, row, columns from first_col on) for each run of V columns; row(n) makes what f needs of the row in register n.
    const auto each_run = [&](auto row, auto f) {
        TK_UNROLL
        for (int i = 0; i < Tile::I; ++i)
            TK_UNROLL
            for (int h = 0; h < Tile::H; ++h) {
                const auto here = row(i * Tile::H + h);
                TK_UNROLL
                for (int j = 0; j < Tile::J; ++j)
                    TK_UNROLL
                    for (int e = 0; e < Tile::E; e += V) f(Tile::number_of({i, j, h, e}) / V, here, j * L::block_cols + e);
            }
    };
    const auto block_of = [&](int n) {  // the row, from this thread's first column on
        const int lo = rows.col_lo - first_col, hi = rows.exists[n] ? rows.col_hi - first_col : lo;
        return global_block<From>{rows.origin + rows.places[n] + first_col * rows.col_stride, 0, rows.col_stride, 0, 1, lo, hi};
    };
    const auto single = [&](int n, const global_block<From>& row, int d) {
        auto v = __builtin_bit_cast(vector<T, V>, words[n]);
        TK_UNROLL
        for (int k = 0; k < V; ++k)
            if (row.has_col(d + k)) v.value[k] = arch::load_global(row.at(0, d + k));
        words[n] = __builtin_bit_cast(Word, v);
    };
    TK_UNROLL
    for (int n = 0; n < Tile::size / V; ++n) words[n] = fill_word;
    const bool begins_aligned = reinterpret_cast<uint64_t>(rows.origin) % (V * sizeof(T)) == 0;
    if (V == 1 || rows.is_aligned || (rows.col_stride == 1 && rows.are_vectors && begins_aligned)) {
        each_run(block_of, [&](int n, const auto& row, int d) {
            if (d >= row.col_lo && d <= row.col_hi - V) words[n] = load_word<T, V>(row.origin + late(d) * col_stride);
        });
        if (V == 1 || cuts_no_run(global_block<From>{nullptr, 0, 0, 0, 1, rows.col_lo, rows.col_hi}, Tile::cols, V)) return;
        return each_run(block_of, [&](int n, const auto& row, int d) {
            if (d < row.col_lo || d > row.col_hi - V) single(n, row, d);
        });
    }
    if constexpr (shifts_tile<Tile, V> && !Exactly)
        if (rows.col_stride == 1) {
            const auto shifted = [&](int n) { return shifted_row<V, From>(block_of(n), 0, 0); };
            each_run(shifted, [&](int n, const auto& row, int d) { words[n] = row.load_one(d, fill_word); });
            const auto both = [&](int n) { return n; };
            return each_run(both, [&](int n, int row, int d) {
                if (!shifted(row).has(d)) single(n, block_of(row), d);
            });
        }
    each_run(block_of, single);
}

}  // namespace detail

/// The rows of a tensor that columns of numbers choose, all columns together: an index for each dimension, columns and axes, of which
/// at most one is kept, the rows' own.
template <class T, int Rank, class... Index>
TK_DEVICE auto chosen(const tensor<T, Rank>& from, const Index&... indices) {
    static_assert(sizeof...(Index) == Rank, "one index for each dimension");
    using column = std::remove_cvref_t<decltype(detail::first_index(indices...))>;
    chosen_rows<T, column::rows, typename column::layout_type> rows{from.data};
    TK_UNROLL
    for (int n = 0; n < column::size; ++n) rows.places[n] = 0, rows.exists[n] = true;
    int d = 0;
    bool is_there = true;
    ((is_there &= detail::choose(rows, from.extent[d], from.stride[d], indices), ++d), ...);
    if (!is_there) rows.col_hi = rows.col_lo;
    return rows;
}

namespace warpgroup {

/// The chosen rows, C columns from column 0 on.
template <int R, int C, class Layout, class From, bool Exactly, class Fill = float>
TK_DEVICE auto load(const chosen_rows<From, R, Layout, Exactly>& rows, Fill fill_value = 0) {
    using T = std::remove_const_t<From>;
    using result_tile = register_tile<T, R, C, Layout>;
    constexpr int V = detail::vector_length<T, result_tile::E>;
    const auto fill_word = detail::filled_word<T, V>(convert<T>(fill_value));
    std::remove_const_t<decltype(fill_word)> words[result_tile::size / V];
    detail::load_words<V, result_tile>(rows, fill_word, words);
    return detail::taken_apart<V, result_tile>(words);
}

/// A tile whose element at a place is the element at the numbers that stand there: an index for each dimension, [R, C] tiles or
/// numbers that hold for all places. `fill` where there is no such element. Of a column, a row's threads all load it.
template <class T, int Rank, class Fill, class... Index>
TK_DEVICE auto gather(const tensor<T, Rank>& from, Fill fill, const Index&... indices) {
    const auto& tile = detail::first_index(indices...);
    using index_tile = std::remove_cvref_t<decltype(tile)>;
    register_tile<std::remove_const_t<T>, index_tile::rows, index_tile::cols, typename index_tile::layout_type> result;
    TK_UNROLL
    for (int n = 0; n < index_tile::size; ++n)
        result.data[n] = from.element_or(convert<std::remove_const_t<T>>(fill), detail::number_at(indices, n)...);
    return result;
}

}  // namespace warpgroup

}  // namespace tk

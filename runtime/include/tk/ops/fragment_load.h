// SPDX-License-Identifier: MIT
// Operands of a warp's matrix instruction out of shared memory, four 8x8 matrices at a time (ldmatrix), whichever way
// around they lie. An address costs an instruction or two for each step along K; all others are constants beside it.
#pragma once

#include "tk/arch.h"
#include "tk/cuda/sm80/matrix_load.h"
#include "tk/ops/scope.h"
#include "tk/types/fragment.h"
#include "tk/types/shared_tile.h"

namespace tk {

namespace detail {

/// Four matrices of eight rows of `view` as it lies in memory; `turned` gives each lane two neighbours of a stored column.
template <bool Turned>
TK_DEVICE void load_four(uint32_t (&pairs)[4], uint32_t address) {
    if constexpr (Turned) arch::load_matrix_x4_transposed(pairs, address);
    else arch::load_matrix_x4(pairs, address);
}

/// Addresses in a view as it lies: element (r, c) for the thread's own (r, c), and those a constant number of rows and columns on.
/// Rows on: multiples of 8, over which swizzling repeats. Columns on: bits that are 0 in c. Where the view begins at a multiple of 8
/// rows and of its unit of columns, the thread's own place in the tile is the same in all views of all slots, and stays in a
/// register: what is left to be added is constant, but for the slot, and the bits of a column, which swizzling wants turned over.
/// Where a view begins is known when it is compiled, and so, which of the two ways it goes.
template <class View, bool Simple = View::cols == View::parent_cols || (View::cols & (View::cols - 1)) == 0>
struct stored_places {
    using geometry = typename View::geometry;
    const View& view;
    int r, c;
    uint32_t own;
    TK_DEVICE stored_places(const View& of, int row, int col)
        : view(of), r(row), c(col), own(view.base + swizzled<View::swizzling>(geometry::offset(uint32_t(view.row0) % 8 + uint32_t(r), uint32_t(c)))) {
#ifdef TK_SIM
        if (view.base % 1024 != 0) sim::report_misuse("a view for matrix instructions that begins inside the pattern of its swizzle");
#endif
    }
    TK_DEVICE uint32_t at(int down, int along) const {
        if (view.col0 % View::column_unit != 0) return view.address(r + down, c + along);
        const uint32_t column = uint32_t(view.col0 + along), row = uint32_t(view.row0) / 8 * 8 + uint32_t(down);
        if constexpr (View::swizzling == swizzle::none) return own + geometry::offset(row, column);
        else return (own ^ geometry::offset(0, column % uint32_t(geometry::panel_cols))) + geometry::offset(row, column / uint32_t(geometry::panel_cols) * uint32_t(geometry::panel_cols));
    }
};

/// One by one.
template <class View>
struct stored_places<View, false> {
    typename View::row_walk walk;
    TK_DEVICE stored_places(const View& view, int r, int c) : walk(view.walk(r, c)) {}
    TK_DEVICE uint32_t at(int down, int along) const { return walk(along) + uint32_t(down * View::geometry::pitch); }
};

template <class X>
TK_DEVICE auto as_stored(const X& view) {
    if constexpr (is_transposed<X>) return view.view;
    else return view;
}

}  // namespace detail

namespace warpgroup {

/// The left operand [R, K] of a product whose accumulator has Layout.
template <class Layout, class From>
TK_DEVICE auto load_left(const From& from) {
    const auto view = as_view(from);
    using View = std::remove_const_t<decltype(view)>;
    using T = typename View::value_type;
    using fragment = left_fragment<T, View::rows, View::cols, Layout>;
    using L = typename fragment::layout_type;
    static_assert(detail::is_matrix_layout<Layout> && is_half<T> && View::cols % 16 == 0);
    constexpr bool turned = detail::is_transposed<View>;
    const lane_position at = position();
    const int row = at.warp % L::WarpRows * 16, lane = at.lane;
    const auto stored = detail::as_stored(view);
    // Matrices 0 and 1 lie below each other in the tile, 2 and 3 beside them.
    const detail::stored_places<std::remove_const_t<decltype(stored)>> places =
        turned ? detail::stored_places(stored, lane / 16 * 8 + lane % 8, row + lane / 8 % 2 * 8)
               : detail::stored_places(stored, row + lane % 16, lane / 16 * 8);
    fragment result;
    TK_UNROLL
    for (int k = 0; k < View::cols; k += 16)
        TK_UNROLL
        for (int i = 0; i < fragment::I; ++i) {
            uint32_t pairs[4];
            detail::load_four<turned>(pairs, turned ? places.at(k, i * L::block_rows) : places.at(i * L::block_rows, k));
            TK_UNROLL
            for (int m = 0; m < 4; ++m) store_pair(result.data + fragment::number_of({i, k / 8, 0, 0}) + 2 * m, pairs[m]);
        }
    return result;
}

/// The right operand [K, C].
template <class Layout, class From>
TK_DEVICE auto load_right(const From& from) {
    const auto view = as_view(from);
    using View = std::remove_const_t<decltype(view)>;
    using fragment = right_fragment<typename View::value_type, View::rows, View::cols, Layout>;
    // The instruction takes columns: it turns what lies row by row.
    constexpr bool turned = !detail::is_transposed<View>;
    constexpr int block = Layout::block_cols;
    const lane_position at = position();
    const int col = Layout::warp_col(at) * 8, lane = at.lane;
    const auto stored = detail::as_stored(view);
    // Matrices 0 and 1 follow each other along K, 2 and 3 are those of the next column block; at an odd end, the same again.
    using places = detail::stored_places<std::remove_const_t<decltype(stored)>>;
    const auto places_of = [&](int next) {
        return turned ? places(stored, lane % 16, next + col) : places(stored, next + col + lane % 8, lane / 8 % 2 * 8);
    };
    fragment result;
    const auto load = [&](const places& at_lane, int j, int k) {
        uint32_t pairs[4];
        detail::load_four<turned>(pairs, turned ? at_lane.at(k, j * block) : at_lane.at(j * block, k));
        TK_UNROLL
        for (int m = 0; m < 4; ++m)
            if (j + m / 2 < fragment::J) result.pairs[fragment::number_of(j + m / 2, k / 8 + m % 2)] = pairs[m];
    };
    const places even = places_of(lane / 16 * block);
    TK_UNROLL
    for (int k = 0; k < View::rows; k += 16)
        TK_UNROLL
        for (int j = 0; j + 1 < fragment::J; j += 2) load(even, j, k);
    if constexpr (fragment::J % 2 != 0) {
        const places last = places_of(0);
        TK_UNROLL
        for (int k = 0; k < View::rows; k += 16) load(last, fragment::J - 1, k);
    }
    return result;
}

}  // namespace warpgroup

}  // namespace tk

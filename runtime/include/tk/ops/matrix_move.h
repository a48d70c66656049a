// SPDX-License-Identifier: MIT
// Register tiles of 16-bit elements moved as 8x8 matrices, four at a time (ldmatrix, stmatrix): two halves by two
// column blocks of a layout in which the matrix unit of NVIDIA GPUs takes its left operand and leaves its results; or, of
// a tile that lies transposed, eight rows of which four lanes hold eight neighbours each.
#pragma once

#include "tk/arch.h"
#include "tk/types/register_tile.h"
#include "tk/types/shared_tile.h"

#ifndef TK_GFX
#include "tk/cuda/sm80/matrix_load.h"
#endif
#if TK_HAS_SM90
#include "tk/cuda/sm90/matrix_store.h"
#endif

namespace tk::detail {

template <class T, class L, int R, int C>
inline constexpr bool loads_as_matrices = is_matrix_layout<L> && sizeof(T) == 2 && R > 1 && C % (2 * L::block_cols) == 0;
/// All four warps store: none holds copies.
template <class T, class L, int R, int C, class Dealt = fitted_layout<L, R>>
inline constexpr bool stores_as_matrices = TK_HAS_SM90 && loads_as_matrices<T, L, R, C> && Dealt::WarpRows * Dealt::WarpCols == 4;

template <class T, class L, int R, int C, class View>
inline constexpr bool loads_as_turned_matrices = is_transposed<View> && is_quad_layout<L> && sizeof(T) == 2 && R > 1 && C > 1;

/// f(first register, address) for each group of four matrices. The address is that of the row which the thread at `at`
/// names for the instruction.
template <class Tile, class View, class F>
TK_DEVICE void for_each_matrix_group(lane_position at, const View& view, F f) {
    using L = typename Tile::dealt;
    const int warp_row = L::WarpRows == 4 ? at.warp : at.warp % L::WarpRows, first_col = L::warp_col(at) * 8;
    TK_UNROLL
    for (int i = 0; i < Tile::I; ++i) {
        if constexpr (is_transposed<View>) {
            // Stored rows are the tile's columns: matrices 0 and 1 lie side by side, 2 and 3 in the next column block.
            const int stored_row = at.lane / 16 * L::block_cols + at.lane % 8 + first_col;
            const int stored_col = (i * L::WarpRows + warp_row) * 16 + at.lane / 8 % 2 * 8;
            TK_UNROLL
            for (int j = 0; j < Tile::J; j += 2)
                f(Tile::number_of({i, j, 0, 0}), view.view.address(stored_row + j * L::block_cols, stored_col));
        } else {
            const auto walk = view.walk((i * L::WarpRows + warp_row) * 16 + at.lane % 16, at.lane / 16 * L::block_cols + first_col);
            TK_UNROLL
            for (int j = 0; j < Tile::J; j += 2) f(Tile::number_of({i, j, 0, 0}), walk(j * L::block_cols));
        }
    }
}

#ifdef TK_GFX
template <class Tile, class View>
TK_DEVICE void load_matrices(Tile& to, const View& view, lane_position at);
template <class Tile, class View>
TK_DEVICE void load_turned_matrices(Tile& to, const View& view, lane_position at);
template <class Tile>
TK_DEVICE void transpose_matrices(Tile& tile);
#else
template <class Tile, class View>
TK_DEVICE void load_matrices(Tile& to, const View& view, lane_position at) {
    for_each_matrix_group<Tile>(at, view, [&](int n, uint32_t address) {
        uint32_t pairs[4];
        if constexpr (is_transposed<View>) arch::load_matrix_x4_transposed(pairs, address);
        else arch::load_matrix_x4(pairs, address);
        TK_UNROLL
        for (int m = 0; m < 4; ++m) store_pair(to.data + n + 2 * m, pairs[m]);
    });
}

/// Lane q of a row holds what lies in stored rows 8 q to 8 q + 7. Matrix m brings it pair (m + q) % 4 of those: so no two of
/// the eight rows of a matrix lie a multiple of eight apart, and all in different banks, whatever the swizzle.
template <class Tile, class View>
TK_DEVICE void load_turned_matrices(Tile& to, const View& view, lane_position at) {
    using L = typename Tile::dealt;
    const int matrix = at.lane / 8, named = at.lane % 8 / 2;  // whose row this thread names
    const int stored_row = (L::warp_col(at) * 4 + named) * 8 + (matrix + named) % 4 * 2 + at.lane % 2;
    const int stored_col = at.warp % L::WarpRows * 8, q = at.lane % 4;
    TK_UNROLL
    for (int j = 0; j < Tile::J; ++j) {
        const auto walk = view.view.walk(stored_row, stored_col, j * L::block_cols);
        TK_UNROLL
        for (int i = 0; i < Tile::I; ++i) {
            uint32_t pairs[4], turned[4];
            arch::load_matrix_x4_transposed(pairs, walk(i * L::block_rows));
            TK_UNROLL
            for (int p = 0; p < 4; ++p) turned[p] = q & 1 ? pairs[(p + 3) % 4] : pairs[p];
            TK_UNROLL
            for (int p = 0; p < 4; ++p) store_pair(to.data + Tile::number_of({i, j, 0, 2 * p}), q & 2 ? turned[(p + 2) % 4] : turned[p]);
        }
    }
}

/// Rows and columns of each matrix exchanged.
template <class Tile>
TK_DEVICE void transpose_matrices(Tile& tile) {
    TK_UNROLL
    for (int n = 0; n < Tile::size; n += 2) store_pair(tile.data + n, arch::transpose_matrix(load_pair(tile.data + n)));
}
#endif

#if TK_HAS_SM90
template <class View, class Tile>
TK_DEVICE void store_matrices(const View& view, const Tile& from, lane_position at) {
    for_each_matrix_group<Tile>(at, view, [&](int n, uint32_t address) {
        uint32_t pairs[4];
        TK_UNROLL
        for (int m = 0; m < 4; ++m) pairs[m] = load_pair(from.data + n + 2 * m);
        if constexpr (is_transposed<View>) sm90::store_matrix_x4_transposed(address, pairs);
        else sm90::store_matrix_x4(address, pairs);
    });
}
#else
template <class View, class Tile>
TK_DEVICE void store_matrices(const View& view, const Tile& from, lane_position at);
#endif

}  // namespace tk::detail

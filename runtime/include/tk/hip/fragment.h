// SPDX-License-Identifier: MIT
// Operands of the matrix unit in registers.
//
// The hardware's operands are exchanged, D^T = B^T A^T: so a lane holds four neighbouring columns of one row of the sums, and of a
// left operand (a row of the right one) neighbours along K. The order of K inside a step is free as long as both operands agree:
// fragments loaded from shared memory have eight neighbours (`wide`), 16 bytes of a row at once; an operand that was a product's
// result has four, and four 16 further on, and its right operand is loaded to match it.
#pragma once

#include "tk/types/dtype.h"
#include "tk/types/layout.h"

namespace tk {

/// The layout of a product's sums: 16 x 16 blocks over WarpRows x WarpCols warps.
template <int WarpRows, int WarpCols = 1>
using matrix_layout = layout<4, 4, 1, 16, WarpRows, WarpCols, true>;

namespace detail {

/// Registers of `Blocks` blocks of 16 rows, or columns, by K: lane l has row l % 16 of a block, 16 of K in two registers.
template <class T, int Blocks, int K>
struct operand_fragment {
    static_assert(is_half<T> && K % 16 == 0);
    static constexpr int blocks = Blocks, depth = K;
    uint32_t data[Blocks][K / 8];
};

}  // namespace detail

/// The part of a left operand [R, K] in one lane, for products into tiles of layout L; of a right operand [K, C].
template <class T, int R, int K, class L>
struct left_fragment : detail::operand_fragment<T, R / L::block_rows, K> {
    using value_type = T;
};
template <class T, int K, int C, class L>
struct right_fragment : detail::operand_fragment<T, C / L::block_cols, K> {
    using value_type = T;
};

}  // namespace tk

// SPDX-License-Identifier: MIT
// The operands of a warp's matrix instruction in registers: acc[R, C] += left[R, K] @ right[K, C], K a multiple of 16.
// Warps side by side hold copies of the same left rows, warps below each other copies of the same right columns.
#pragma once

#include "tk/types/dtype.h"
#include "tk/types/layout.h"
#include "tk/types/register_tile.h"

namespace tk {

/// Of a product whose accumulator has layout L. Where all warps lie below each other, any tile of L serves.
template <class T, int R, int K, class L>
using left_fragment = register_tile<T, R, K, layout<4, 2, 2, 8, L::WarpRows>>;

/// This thread's share of the right operand: of the warp's column block j the pairs with k = 8 b + 2 (lane % 4) and the next,
/// of column lane / 4.
template <class T, int K, int C, class L>
struct right_fragment {
    using value_type = T;
    static constexpr int rows = K, cols = C;
    static_assert(detail::is_matrix_layout<L> && is_half<T>);
    static_assert(K % 16 == 0 && C % L::block_cols == 0, "whole blocks of the accumulator, 16 of K at a time");

    static constexpr int J = C / L::block_cols, B = K / 8;
    uint32_t pairs[J * B];

    static TK_HOST_DEVICE constexpr int number_of(int j, int b) { return j * B + b; }
};

}  // namespace tk

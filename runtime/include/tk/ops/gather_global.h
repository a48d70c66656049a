// SPDX-License-Identifier: MIT
// Elements of global memory that columns of numbers choose.
#pragma once

#include "tk/types/global_tensor.h"
#include "tk/types/register_tile.h"

namespace tk::detail {

/// The first column among indices, of which the others are numbers or columns of the same layout.
template <class T, int R, class L, class... Rest>
TK_HOST_DEVICE const register_tile<T, R, 1, L>& first_column(const register_tile<T, R, 1, L>& column, const Rest&...) { return column; }
template <class Number, class... Rest>
TK_HOST_DEVICE const auto& first_column(Number, const Rest&... rest) { return first_column(rest...); }

template <class T, int R, class L>
TK_HOST_DEVICE T number_at(const register_tile<T, R, 1, L>& column, int n) { return column.data[n]; }
template <class Number>
TK_HOST_DEVICE constexpr Number number_at(Number index, int) { return index; }

}  // namespace tk::detail

namespace tk::warpgroup {

/// A column whose row i is the element at number i of every index: one for each dimension, [R, 1] tiles or numbers that hold for all
/// rows. `fill` where there is no such element. A row's threads all load it.
template <class T, int Rank, class Fill, class... Index>
TK_DEVICE auto gather(const tensor<T, Rank>& from, Fill fill, const Index&... indices) {
    const auto& column = detail::first_column(indices...);
    using column_tile = std::remove_cvref_t<decltype(column)>;
    register_tile<std::remove_const_t<T>, column_tile::rows, 1, typename column_tile::layout_type> result;
    TK_UNROLL
    for (int n = 0; n < column_tile::size; ++n)
        result.data[n] = from.element_or(convert<std::remove_const_t<T>>(fill), detail::number_at(indices, n)...);
    return result;
}

}  // namespace tk::warpgroup

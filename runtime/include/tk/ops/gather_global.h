// SPDX-License-Identifier: MIT
// Elements of global memory that tiles of numbers choose.
#pragma once

#include <type_traits>

#include "tk/types/global_tensor.h"
#include "tk/types/register_tile.h"

namespace tk::detail {

/// The first tile among indices, of which the others are numbers or tiles of the same shape and layout.
template <class T, int R, int C, class L, class... Rest>
TK_HOST_DEVICE const register_tile<T, R, C, L>& first_index(const register_tile<T, R, C, L>& tile, const Rest&...) { return tile; }
template <class Number, class... Rest>
    requires std::is_arithmetic_v<Number>
TK_HOST_DEVICE const auto& first_index(Number, const Rest&... rest) { return first_index(rest...); }

template <class T, int R, int C, class L>
TK_HOST_DEVICE T number_at(const register_tile<T, R, C, L>& tile, int n) { return tile.data[n]; }
template <class Number>
    requires std::is_arithmetic_v<Number>
TK_HOST_DEVICE constexpr Number number_at(Number index, int) { return index; }

}  // namespace tk::detail

namespace tk::warpgroup {

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

}  // namespace tk::warpgroup

// SPDX-License-Identifier: MIT
// Tiles of the parts of small structures: interleaved complex numbers, pairs, quadruples. Where the parts of a structure lie next to
// each other, and structures aligned to their size, a block of them moves as a block whose elements are structures: with as wide
// vectors as any other (ops/warpgroup_global.h). Elsewhere each part moves by itself, element by element.
#pragma once

#include <utility>

#include "tk/ops/warpgroup_global.h"

namespace tk {

/// P values that lie next to each other, as one element of a tile. Kept as a word: compilers take values apart as early as they can,
/// and to take one apart is to wait for it.
template <class T, int P>
struct structure {
    typename detail::word<P * int(sizeof(T))>::type bits;

    TK_HOST_DEVICE T part(int p) const { return detail::element_of<T, P>(bits, p); }
    TK_HOST_DEVICE void set(int p, T value) {
        auto all = __builtin_bit_cast(detail::vector<T, P>, bits);
        all.value[p] = value;
        bits = __builtin_bit_cast(decltype(bits), all);
    }
};

template <class To, class T, int P>
TK_HOST_DEVICE To convert(const structure<T, P>& value) {
    static_assert(std::is_same_v<To, structure<T, P>>, "structures are not converted");
    return value;
}

/// The tiles of the parts: `const auto [re, im] = ..`.
template <class Tile, int P>
struct part_tiles;
template <class Tile> struct part_tiles<Tile, 2> { Tile part_0, part_1; };
template <class Tile> struct part_tiles<Tile, 4> { Tile part_0, part_1, part_2, part_3; };

namespace detail {

/// The block can be read as one of whole structures.
template <int P, class T>
TK_DEVICE bool holds_structures(const global_parts<T>& parts) {
    const global_block<T>& first = parts.first;
    if (first.is_aligned) return true;
    const auto bytes = uint32_t(first.row_stride | first.col_stride) * uint32_t(sizeof(T)) | uint32_t(reinterpret_cast<uint64_t>(first.origin));
    return parts.stride == 1 && bytes % (P * sizeof(T)) == 0;
}

template <int P, class T>
TK_DEVICE auto structures(const global_parts<T>& parts) {
    using S = structure<std::remove_const_t<T>, P>;
    using element = std::conditional_t<std::is_const_v<T>, const S, S>;
    constexpr int shift = P == 2 ? 1 : 2;
    const global_block<T>& first = parts.first;
    return global_block<element>{reinterpret_cast<element*>(first.origin), first.row_stride >> shift, first.col_stride >> shift,
                                 first.row_lo, first.row_hi, first.col_lo, first.col_hi, first.is_aligned};
}

/// f(register, address) for each element of the tile that exists, one after the other: addresses and conditions are computed anew, as
/// all of them together would take more registers than the tile.
template <class Tile, class T, class F>
TK_DEVICE void for_each_element(const global_block<T>& block, F f) {
    using L = typename Tile::dealt;
    const lane_position at = warpgroup::position();
    TK_UNROLL
    for (int n = 0; n < Tile::size; ++n) {
        const place p = Tile::place_of(n);
        const int r = anew(Tile::rows == 1 ? 0 : L::row(at, p.i, p.h)), c = anew(Tile::cols == 1 ? 0 : L::col(at, p.j, p.e));
        if (block.has_row(r) && block.has_col(c)) f(n, block.at(r, c));
    }
}

/// Part p of every structure.
template <class T, int P, int R, int C, class L>
TK_DEVICE auto part_of(const register_tile<structure<T, P>, R, C, L>& tile, int p) {
    register_tile<T, R, C, L> result;
    TK_UNROLL
    for (int n = 0; n < result.size; ++n) result.data[n] = tile.data[n].part(p);
    return result;
}

}  // namespace detail

namespace warpgroup {

/// The P tiles of R x C parts each from the block's (0, 0) on, dealt as Layout. They are taken apart at the end: to do so is to wait.
template <int P, int R, int C, class Layout, template <class> class Parts, class From, class Fill = float>
TK_DEVICE auto load_parts(const Parts<From>& from, Fill fill_value = 0) {
    using T = std::remove_const_t<From>;
    using part_tile = register_tile<T, R, C, Layout>;
    register_tile<structure<T, P>, R, C, Layout> all;
    const structure<T, P> filled{detail::filled_word<T, P>(convert<T>(fill_value))};
    if (detail::holds_structures<P>(from)) {
        const auto block = detail::structures<P>(from);
        if constexpr (std::is_same_v<Parts<From>, exact_parts<From>>) all = load<R, C, Layout>(exact(block), filled);
        else all = load<R, C, Layout>(block, filled);
    } else {
        TK_UNROLL
        for (int n = 0; n < all.size; ++n) all.data[n] = filled;
        TK_UNROLL
        for (int p = 0; p < P; ++p)
            detail::for_each_element<part_tile>(from.part(p), [&](int n, const T* part) { all.data[n].set(p, arch::load_global(part)); });
    }
    return [&]<int... p>(std::integer_sequence<int, p...>) {
        return part_tiles<part_tile, P>{detail::part_of(all, p)...};
    }(std::make_integer_sequence<int, P>());
}

/// Writes as many tiles as the structures have parts; of threads with copies of an element one writes it.
template <class T, int R, int C, class L, class... More>
TK_DEVICE void store_parts(const global_parts<T>& to, const register_tile<T, R, C, L>& first, const More&... more) {
    constexpr int P = 1 + sizeof...(More);
    register_tile<structure<T, P>, R, C, L> all;
    TK_UNROLL
    for (int n = 0; n < all.size; ++n)
        all.data[n] = __builtin_bit_cast(structure<T, P>, detail::vector<T, P>{{first.data[n], more.data[n]...}});
    if (detail::holds_structures<P>(to)) return store(detail::structures<P>(to), all);
    if (!detail::stores<register_tile<T, R, C, L>>()) return;
    TK_UNROLL
    for (int p = 0; p < P; ++p)
        detail::for_each_element<register_tile<T, R, C, L>>(to.part(p), [&](int n, T* part) { arch::store_global(part, all.data[n].part(p)); });
}

}  // namespace warpgroup

}  // namespace tk

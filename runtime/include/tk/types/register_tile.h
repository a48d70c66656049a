// SPDX-License-Identifier: MIT
// A tile in the registers of a warpgroup, and `map`, on which all elementwise operations rest.
//
// Tiles of one expression share a Layout, so [R, C], [R, 1], [1, C], [1, 1] and scalars combine within each
// thread, without communication.
#pragma once

#include <initializer_list>

#include "tk/types/dtype.h"
#include "tk/types/layout.h"

namespace tk {

/// This thread's share of an R x C tile. A column [R, 1] holds each row's value in every thread of the row,
/// a row [1, C] each column's value in every thread of the column, [1, 1] its value in every thread.
template <class T, int R, int C, class L>
struct register_tile {
    using value_type = T;
    using layout_type = L;                    // what tiles of one expression share
    using dealt = detail::fitted_layout<L, R>;  // where the elements of this one are
    static constexpr int rows = R, cols = C;
    static_assert(R == 1 || R % dealt::block_rows == 0, "the layout's rows must divide the tile's");
    static_assert(C == 1 || C % dealt::block_cols == 0, "the layout's columns must divide the tile's");

    /// Row blocks, column blocks, halves and vector elements in this thread.
    static constexpr int I = R == 1 ? 1 : R / dealt::block_rows, J = C == 1 ? 1 : C / dealt::block_cols;
    static constexpr int H = R == 1 ? 1 : L::Halves, E = C == 1 ? 1 : L::Vec;
    static constexpr int size = I * J * H * E;

    /// Whole registers where they are filled; so is a single bool, which clang would pass as one bit and load from memory as a byte.
    static constexpr bool fills_words = size * sizeof(T) % 4 == 0 || (size == 1 && std::is_same_v<T, bool>);
    alignas(alignof(T) < 4 && fills_words ? 4 : alignof(T)) T data[size];

    /// Register number n's place.
    static TK_HOST_DEVICE constexpr place place_of(int n) { return {n / (E * H * J), n / (E * H) % J, n / E % H, n % E}; }

    /// The register that serves place p of a tile this one is combined with.
    static TK_HOST_DEVICE constexpr int number_of(place p) {
        return ((R == 1 ? 0 : p.i * J * H) + (C == 1 ? 0 : p.j * H) + (R == 1 ? 0 : p.h)) * E + (C == 1 ? 0 : p.e);
    }
};

namespace detail {

template <class X>
inline constexpr bool is_tile = false;
template <class T, int R, int C, class L>
inline constexpr bool is_tile<register_tile<T, R, C, L>> = true;

template <class X>
inline constexpr bool is_scalar = std::is_arithmetic_v<X> || is_half<X> || is_float8<X>;

template <class X>
constexpr int rows_of() {
    if constexpr (is_tile<X>) return X::rows;
    else return 1;
}
template <class X>
constexpr int cols_of() {
    if constexpr (is_tile<X>) return X::cols;
    else return 1;
}
constexpr int largest(std::initializer_list<int> values) {
    int result = 1;
    for (int value : values) result = value > result ? value : result;
    return result;
}

/// X is a scalar, or a tile that broadcasts to Result.
template <class Result, class X>
inline constexpr bool fits = true;
template <class Result, class T, int R, int C, class L>
inline constexpr bool fits<Result, register_tile<T, R, C, L>> =
    (R == 1 || R == Result::rows) && (C == 1 || C == Result::cols) && std::is_same_v<L, typename Result::layout_type>;

/// The first tile among the operands: it gives the layout.
template <class X, class... Rest>
struct first_tile : first_tile<Rest...> {};
template <class X, class... Rest>
    requires is_tile<X>
struct first_tile<X, Rest...> {
    using type = X;
};

/// The element of an operand at place p of the result. A scalar takes the tile's type: 0.5 * x stays f32.
template <class First, class X>
TK_DEVICE constexpr auto element(const X& x, place p) {
    if constexpr (is_tile<X>) return x.data[X::number_of(p)];
    else if constexpr (std::is_same_v<typename First::value_type, bool>) return x;
    else return convert<typename First::value_type>(x);
}

}  // namespace detail

template <class X>
concept tile = detail::is_tile<X>;

/// At least one tile, the others tiles or scalars.
template <class... X>
concept tile_operands = (detail::is_tile<X> || ...) && ((detail::is_tile<X> || detail::is_scalar<X>) && ...);

/// The tile type that holds T for every element of the broadcast of X...
template <class T, class... X>
using broadcast_tile = register_tile<T, detail::largest({detail::rows_of<X>()...}), detail::largest({detail::cols_of<X>()...}),
                                     typename detail::first_tile<X...>::type::layout_type>;

/// f applied to corresponding elements; shapes broadcast along axes of extent 1.
template <class F, class... X>
    requires tile_operands<X...>
TK_DEVICE auto map(F f, const X&... x) {
    using first = typename detail::first_tile<X...>::type;
    using value = decltype(f(detail::element<first>(x, place{})...));
    static_assert(((detail::fits<broadcast_tile<value, X...>, X>) && ...), "shapes or layouts differ");
    broadcast_tile<value, X...> result;
    TK_UNROLL
    for (int n = 0; n < result.size; ++n) {
        const place p = result.place_of(n);
        result.data[n] = f(detail::element<first>(x, p)...);
    }
    return result;
}

/// A tile with the same value everywhere.
template <class T, int R, int C, class L, class V>
TK_DEVICE register_tile<T, R, C, L> fill(V value) {
    register_tile<T, R, C, L> result;
    TK_UNROLL
    for (int n = 0; n < result.size; ++n) result.data[n] = convert<T>(value);
    return result;
}

/// Element type conversion. Between f32 and a small float two neighbours take one instruction; four bytes become f32 together.
template <class To, class T, int R, int C, class L>
TK_DEVICE register_tile<To, R, C, L> convert(const register_tile<T, R, C, L>& x) {
    register_tile<To, R, C, L> result;
    if constexpr (is_half<To> && std::is_same_v<T, float> && register_tile<T, R, C, L>::size % 2 == 0) {
        TK_UNROLL
        for (int n = 0; n < x.size; n += 2) store_pair(result.data + n, round_pair<To>(x.data[n], x.data[n + 1]));
    } else if constexpr (is_float8<To> && std::is_same_v<T, float> && register_tile<T, R, C, L>::size % 2 == 0) {
        constexpr int together = register_tile<T, R, C, L>::size % 4 == 0 ? 4 : 2;
        TK_UNROLL
        for (int n = 0; n < x.size; n += together) {
            const auto rounded = detail::round_float8_word<To, together>(x.data + n);
            __builtin_memcpy(result.data + n, &rounded, sizeof rounded);
        }
    } else if constexpr (is_float8<T> && std::is_same_v<To, float> && register_tile<T, R, C, L>::size % 2 == 0) {
        TK_UNROLL
        for (int n = 0; n < x.size; n += 2) {
            uint16_t pair;
            __builtin_memcpy(&pair, x.data + n, sizeof pair);
            widen_float8_pair<T>(pair, result.data[n], result.data[n + 1]);
        }
    } else if constexpr (is_integer8<T> && is_half<To>) {
        result = convert<To>(convert<float>(x));
    } else if constexpr (is_integer8<T> && std::is_same_v<To, float> && register_tile<T, R, C, L>::size % 4 == 0) {
        TK_UNROLL
        for (int n = 0; n < x.size; n += 4) {
            uint32_t word;
            __builtin_memcpy(&word, x.data + n, sizeof word);
            detail::widen_bytes<T>(word, result.data + n);
        }
    } else {
        TK_UNROLL
        for (int n = 0; n < x.size; ++n) result.data[n] = convert<To>(x.data[n]);
    }
    return result;
}

/// The same where the compiler shall keep x, and convert it at each use: it would convert x once, ahead of a loop or of other uses, and
/// keep what takes more registers. x is kept in whole words, of which bf16 become f32 by one instruction each.
template <class To, class T, int R, int C, class L>
TK_DEVICE register_tile<To, R, C, L> convert_anew(const register_tile<T, R, C, L>& x) {
    static_assert(sizeof(T) < sizeof(To), "keeps the narrower of two tiles");
    if constexpr (sizeof(T) == 2 && register_tile<T, R, C, L>::size % 2 == 0) {
        register_tile<To, R, C, L> result;
        TK_UNROLL
        for (int n = 0; n < x.size; n += 2) {
            uint32_t pair = __builtin_bit_cast(uint16_t, x.data[n]) | uint32_t(__builtin_bit_cast(uint16_t, x.data[n + 1])) << 16;
            TK_TIE_VALUE("+" TK_REGISTER(pair));
            if constexpr (std::is_same_v<T, bf16> && std::is_same_v<To, float>) {
                result.data[n] = __builtin_bit_cast(float, pair << 16);
                result.data[n + 1] = __builtin_bit_cast(float, pair & 0xffff0000u);
            } else {
                result.data[n] = convert<To>(__builtin_bit_cast(T, uint16_t(pair)));
                result.data[n + 1] = convert<To>(__builtin_bit_cast(T, uint16_t(pair >> 16)));
            }
        }
        return result;
    } else {
        return convert<To>(x);
    }
}

/// x, of which the compiler does not know that it is: what was computed of x before it computes once more, and need not keep.
template <class T, int R, int C, class L>
TK_DEVICE register_tile<T, R, C, L> anew(register_tile<T, R, C, L> x) {
    if constexpr (std::is_same_v<T, float>) {
        TK_UNROLL
        for (int n = 0; n < x.size; ++n) TK_TIE_VALUE("+" TK_FLOAT_REGISTER(x.data[n]));
    } else if constexpr (sizeof(T) == 4) {
        TK_UNROLL
        for (int n = 0; n < x.size; ++n) TK_TIE_VALUE("+" TK_REGISTER(x.data[n]));
    } else if constexpr (sizeof(T) == 2 && register_tile<T, R, C, L>::size % 2 == 0) {
        TK_UNROLL
        for (int n = 0; n < x.size; n += 2) {
            uint32_t pair = __builtin_bit_cast(uint16_t, x.data[n]) | uint32_t(__builtin_bit_cast(uint16_t, x.data[n + 1])) << 16;
            TK_TIE_VALUE("+" TK_REGISTER(pair));
            x.data[n] = __builtin_bit_cast(T, uint16_t(pair));
            x.data[n + 1] = __builtin_bit_cast(T, uint16_t(pair >> 16));
        }
    }
    return x;
}

/// The PartR x PartC elements of x from (row, col) on, both multiples of the layout's block and constant after unrolling, so that no
/// register is moved.
template <int PartR, int PartC, class T, int R, int C, class L>
TK_DEVICE register_tile<T, PartR, PartC, L> part(const register_tile<T, R, C, L>& x, int row, int col) {
    using dealt = typename register_tile<T, R, C, L>::dealt;
    register_tile<T, PartR, PartC, L> result;
    static_assert(PartR == R || std::is_same_v<dealt, typename decltype(result)::dealt>, "rows of other warps");
    TK_UNROLL
    for (int n = 0; n < result.size; ++n) {
        place p = result.place_of(n);
        p.i += row / dealt::block_rows;
        p.j += col / dealt::block_cols;
        result.data[n] = x.data[x.number_of(p)];
    }
    return result;
}

/// Columns start .. start + N of a tile.
template <int N, class T, int R, int C, class L>
TK_DEVICE register_tile<T, R, N, L> columns(const register_tile<T, R, C, L>& x, int start) {
    return part<R, N>(x, 0, start);
}

/// The elements of x from (row, col) on become those of `part`, both multiples of the layout's block and constant after unrolling.
template <class T, int R, int C, class L, int PartR, int PartC>
TK_DEVICE void assign_part(register_tile<T, R, C, L>& x, const register_tile<T, PartR, PartC, L>& part, int row, int col) {
    using dealt = typename register_tile<T, R, C, L>::dealt;
    static_assert(PartR == R || std::is_same_v<dealt, typename register_tile<T, PartR, PartC, L>::dealt>, "rows of other warps");
    TK_UNROLL
    for (int n = 0; n < part.size; ++n) {
        place p = part.place_of(n);
        p.i += row / dealt::block_rows;
        p.j += col / dealt::block_cols;
        x.data[x.number_of(p)] = part.data[n];
    }
}

/// Tiles side by side, each of whole blocks of the layout: every register stays with its thread.
template <class T, int R, class L, int... C>
TK_DEVICE register_tile<T, R, (C + ...), L> cat(const register_tile<T, R, C, L>&... parts) {
    register_tile<T, R, (C + ...), L> result;
    int col = 0;
    ((assign_part(result, parts, 0, col), col += C), ...);
    return result;
}

namespace detail {

/// The number of an element, row by row.
template <class Tile>
TK_HOST_DEVICE constexpr int element_number(lane_position at, int n) {
    using L = typename Tile::dealt;
    const place p = Tile::place_of(n);
    return (Tile::rows == 1 ? 0 : L::row(at, p.i, p.h)) * Tile::cols + (Tile::cols == 1 ? 0 : L::col(at, p.j, p.e));
}

/// Each register of each thread holds the element of the same number in both tiles. (Numbers are sums of what thread and register
/// contribute, so that one thread's registers and one register of all threads say it all.)
template <class A, class B>
TK_HOST_DEVICE constexpr bool holds_the_same() {
    if (A::size != B::size || A::rows * A::cols != B::rows * B::cols) return false;
    for (int n = 0; n < A::size; ++n)
        if (element_number<A>({0, 0}, n) != element_number<B>({0, 0}, n)) return false;
    for (int warp = 0; warp < 4; ++warp)
        for (int lane = 0; lane < arch::lanes; ++lane)
            if (element_number<A>({warp, lane}, 0) != element_number<B>({warp, lane}, 0)) return false;
    return true;
}

}  // namespace detail

/// The same elements, row by row, as a tile of another shape, whose layout leaves each where it is: rows cut into shorter ones, or these
/// joined again. Nothing moves.
template <int R, int C, class Layout, class T, int FromR, int FromC, class L>
TK_DEVICE register_tile<T, R, C, Layout> reshape(const register_tile<T, FromR, FromC, L>& x) {
    register_tile<T, R, C, Layout> result;
    static_assert(detail::holds_the_same<register_tile<T, R, C, Layout>, register_tile<T, FromR, FromC, L>>(), "elements would move");
    TK_UNROLL
    for (int n = 0; n < result.size; ++n) result.data[n] = x.data[n];
    return result;
}

}  // namespace tk

// SPDX-License-Identifier: MIT
// The positions of a tile's rows and columns in a tensor, and which of them lie before or behind a bound.
#pragma once

#include <concepts>

#include "tk/ops/elementwise.h"
#include "tk/ops/scope.h"

namespace tk {

/// start + row number: the positions of a tile's rows in a tensor.
template <int R, class L, class T = int>
TK_DEVICE register_tile<T, R, 1, L> row_positions(T start) {
    register_tile<T, R, 1, L> result;
    TK_UNROLL
    for (int n = 0; n < result.size; ++n) {
        const place p = result.place_of(n);
        result.data[n] = start + T(R == 1 ? 0 : decltype(result)::dealt::row(warpgroup::position(), p.i, p.h));
    }
    return result;
}

/// Numbers that follow each other along each row: this thread's first one of the row, and constants to it. Neighbours are seen to be
/// neighbours when this is compiled, and a bound is compared with the constants: it moves to the first instead, once for all.
template <class T, int R, int C, class L>
struct row_numbers : register_tile<T, R, C, L> {
    register_tile<T, R, 1, L> first;

    TK_DEVICE explicit row_numbers(const register_tile<T, R, 1, L>& first_numbers) : first(first_numbers) {
        TK_UNROLL
        for (int n = 0; n < this->size; ++n) this->data[n] = first.data[first.number_of(this->place_of(n))] + T(distance(n));
    }
    /// From the first of the row in this thread to register n.
    static TK_DEVICE constexpr int distance(int n) {
        const place p = row_numbers::place_of(n);
        return C == 1 ? 0 : p.j * L::block_cols + p.e;
    }
    /// The distance at which `bound` lies: all below 0 are as -1, and all beyond the tile as C.
    template <class B>
    TK_DEVICE int distance_to(B bound) const {
        static_assert(R == 1, "one row");
        const int64_t start = int64_t(first.data[0]), end = int64_t(bound);
        if constexpr (sizeof(T) < 8 && sizeof(B) < 8) {
            const int64_t distance = end - start;
            return int(distance < -1 ? -1 : distance > C ? C : distance);
        } else {  // the difference of two numbers of 64 bits need not be one
            const uint64_t distance = uint64_t(end) - uint64_t(start);
            return end < start ? -1 : int(distance > uint64_t(C) ? uint64_t(C) : distance);
        }
    }
};

/// start + column number.
template <int C, class L, class T = int>
TK_DEVICE row_numbers<T, 1, C, L> col_positions(T start) {
    return row_numbers<T, 1, C, L>(fill<T, 1, 1, L>(start + T(C == 1 ? 0 : L::col(warpgroup::position(), 0, 0))));
}

namespace detail {

template <class T, int R, int C, class L>
inline constexpr bool is_tile<row_numbers<T, R, C, L>> = true;
template <class Result, class T, int R, int C, class L>
inline constexpr bool fits<Result, row_numbers<T, R, C, L>> = fits<Result, register_tile<T, R, C, L>>;

/// What columns are compared with: a number, or one for each row. Unsigned columns may begin anew at 0 inside the row, and are compared
/// one by one.
template <class B>
concept integer_bound = std::is_integral_v<B> && !std::is_same_v<B, bool> && (std::is_signed_v<B> || sizeof(B) < 8);

/// f(distance of a column, distance of its row's bound).
template <class T, int C, class L, class B, int R, class F>
TK_DEVICE register_tile<bool, R, C, L> compare(const row_numbers<T, 1, C, L>& numbers, const register_tile<B, R, 1, L>& bounds, F f) {
    register_tile<bool, R, C, L> result;
    const auto distances = map([&](B bound) { return numbers.distance_to(bound); }, bounds);
    TK_UNROLL
    for (int n = 0; n < result.size; ++n) {
        const place p = result.place_of(n);
        result.data[n] = f(p.j * L::block_cols + p.e, distances.data[distances.number_of(p)]);
    }
    return result;
}

}  // namespace detail

// Sums that stay numbers of a row: of places in tensors, which no type is too small for. So compilers may take them for what does not
// overflow, as they can't with sums of elements.
template <class T, int R, int C, class L, detail::integer_bound B>
TK_DEVICE auto operator+(const row_numbers<T, R, C, L>& a, const B& b) {
    return row_numbers<T, R, C, L>(map([](T x, T y) { return static_cast<T>(x + y); }, a.first, b));
}
template <class T, int R, int C, class L, detail::integer_bound B>
TK_DEVICE auto operator-(const row_numbers<T, R, C, L>& a, const B& b) {
    return row_numbers<T, R, C, L>(map([](T x, T y) { return static_cast<T>(x - y); }, a.first, b));
}
/// A number for each row, and those of the columns.
template <class T, int R, int C, class L>
TK_DEVICE auto operator+(const register_tile<T, R, 1, L>& a, const row_numbers<T, 1, C, L>& b) {
    return row_numbers<T, R, C, L>(map([](T x, T y) { return static_cast<T>(x + y); }, a, b.first));
}

#define TK_COMPARISON(OP)                                                                                              \
    template <std::signed_integral T, int C, class L, detail::integer_bound B>                                         \
    TK_DEVICE auto operator OP(const row_numbers<T, 1, C, L>& a, const B& b) {                                         \
        return detail::compare(a, fill<B, 1, 1, L>(b), [](int x, int y) { return x OP y; });                           \
    }                                                                                                                  \
    template <std::signed_integral T, int C, class L, detail::integer_bound B, int R>                                  \
    TK_DEVICE auto operator OP(const row_numbers<T, 1, C, L>& a, const register_tile<B, R, 1, L>& b) {                 \
        return detail::compare(a, b, [](int x, int y) { return x OP y; });                                             \
    }                                                                                                                  \
    template <std::signed_integral T, int C, class L, detail::integer_bound B>                                         \
    TK_DEVICE auto operator OP(const B& a, const row_numbers<T, 1, C, L>& b) {                                         \
        return detail::compare(b, fill<B, 1, 1, L>(a), [](int x, int y) { return y OP x; });                           \
    }                                                                                                                  \
    template <std::signed_integral T, int C, class L, detail::integer_bound B, int R>                                  \
    TK_DEVICE auto operator OP(const register_tile<B, R, 1, L>& a, const row_numbers<T, 1, C, L>& b) {                 \
        return detail::compare(b, a, [](int x, int y) { return y OP x; });                                             \
    }
TK_COMPARISON(<) TK_COMPARISON(<=) TK_COMPARISON(>) TK_COMPARISON(>=) TK_COMPARISON(==) TK_COMPARISON(!=)
#undef TK_COMPARISON

}  // namespace tk

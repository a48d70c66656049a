// SPDX-License-Identifier: MIT
// Reductions of register tiles along an axis, in a fixed order: same inputs, same bits.
//
// Within a warp by shuffles. Where a row or a column is spread over several warps (WarpCols, WarpRows), they
// exchange partial results through scratch shared memory afterwards.
//
// In two steps where a loop adds up many tiles: thread::row_sum leaves each thread with what it finds among its own elements of a row,
// and row_sum_of_threads combines behind the loop what the threads of the row have.
#pragma once

#include "tk/ops/positions.h"
#include "tk/ops/scope.h"
#ifdef TK_GFX
#include "tk/hip/barrier.h"
#endif

namespace tk {

/// Shared memory for N partial results of each warp of one warpgroup: a reduction has one for each column or row, a scan (scan.h) for
/// each stretch of them.
template <class T, int N>
struct reduce_scratch {
    T partial[4][N];
};

namespace detail {

/// The warpgroup meets at its own named barrier.
struct at_named_barrier {
    TK_DEVICE void meet() const { warpgroup::sync(); }
};
#ifdef TK_GFX
/// Or at one in shared memory, where the block's barrier would wait for others.
struct at_shared_barrier {
    barrier& where;
    TK_DEVICE void meet() const { warp::meet(where); }
};
#endif

/// The value of lane `lane ^ mask`, word by word.
template <class T>
TK_DEVICE T shuffle_xor(T x, int mask) {
    struct words {
        uint32_t word[sizeof(T) / 4];
    };
    words w = __builtin_bit_cast(words, x);
    TK_UNROLL
    for (uint32_t& word : w.word) word = arch::shuffle_xor(word, mask);
    return __builtin_bit_cast(T, w);
}

/// Combines the values of `count` threads whose lane numbers differ in the bits first .. first * count / 2.
template <int First, int Count, class T, class F>
TK_DEVICE T reduce_lanes(T x, F f) {
    TK_UNROLL
    for (int step = 1; step < Count; step *= 2) x = f(x, shuffle_xor(x, First * step));
    return x;
}

template <class T, int R, int C, class L, class F>
TK_DEVICE register_tile<T, R, 1, L> reduce_own_rows(const register_tile<T, R, C, L>& x, F f) {
    static_assert(C > 1, "nothing to reduce");
    register_tile<T, R, 1, L> result;
    TK_UNROLL
    for (int n = 0; n < result.size; ++n) {
        const place p = result.place_of(n);
        T value = x.data[x.number_of({p.i, 0, p.h, 0})];
        TK_UNROLL
        for (int k = 1; k < x.J * x.E; ++k) value = f(value, x.data[x.number_of({p.i, k / x.E, p.h, k % x.E})]);
        result.data[n] = value;
    }
    return result;
}

/// What each thread has found in its part of a row, combined over the lanes.
template <class T, int R, class L, class F>
TK_DEVICE register_tile<T, R, 1, L> combine_row_lanes(register_tile<T, R, 1, L> own, F f) {
    TK_UNROLL
    for (T& value : own.data) value = reduce_lanes<L::row_step, L::Lanes>(value, f);
    return own;
}

/// The rows of X, as a thread that holds parts of them sees them: how warps that lie side by side exchange what each has found.
template <class X>
struct along_rows {
    using L = typename X::layout_type;
    static constexpr int lines = X::rows;                           // of the tile
    static constexpr int warps = L::WarpCols, step = L::WarpRows;   // that share a line, and from one of them to the next
    const lane_position at = warpgroup::position();
    const int row = L::lane_row(at.lane);
    /// The first of the lanes that hold the same lays it down.
    const bool writes = L::owns_lane(at.lane) && L::lane_col(at.lane) == 0 && (lines > 1 || row == 0);
    const int first = at.warp % L::WarpRows;
    /// Of the n-th of this thread's lines.
    TK_DEVICE int place(int n) const { return lines == 1 ? 0 : n * L::LaneRows + row; }
};

/// The columns of X: warps that lie below each other, of which a tile of few rows may not occupy all.
template <class X>
struct along_cols {
    using L = typename X::layout_type;
    static constexpr int lines = X::cols;
    static constexpr int warps = fitted_layout<L, X::rows>::WarpRows, step = 1;
    const lane_position at = warpgroup::position();
    const bool writes = L::owns_lane(at.lane) && L::lane_row(at.lane) == 0 && (lines > 1 || L::lane_col(at.lane) == 0);
    const int first = L::warp_col(at) * warps;
    /// In the order of registers, not of the tile: neighbouring lanes take neighbouring banks.
    TK_DEVICE int place(int n) const {
        return lines == 1 ? 0 : (n * L::WarpCols + L::warp_col(at)) * L::Lanes + L::lane_col(at.lane);
    }
};

/// What the warps of a line have found, combined in their order. All warps meet, whether or not the tile occupies them.
template <class Lines, class Result, class T, int N, class Meeting, class F>
TK_DEVICE void combine_warps(Result& result, reduce_scratch<T, N>& scratch, const Meeting& meeting, F f) {
    const Lines lines;
    meeting.meet();  // the scratch may still be read from its last use
    TK_UNROLL
    for (int n = 0; n < Result::size; ++n) {
        if (lines.writes) arch::store_shared_variable(scratch.partial[lines.at.warp][lines.place(n)], result.data[n]);
    }
    meeting.meet();
    TK_UNROLL
    for (int n = 0; n < Result::size; ++n) {
        T value = arch::load_shared_variable(scratch.partial[lines.first][lines.place(n)]);
        TK_UNROLL
        for (int w = 1; w < Lines::warps; ++w)
            value = f(value, arch::load_shared_variable(scratch.partial[lines.first + w * Lines::step][lines.place(n)]));
        result.data[n] = value;
    }
}

/// The same of X where warps lie side by side; those left over compute what the others do.
template <class X, class Own, class Scratch, class Meeting, class F>
TK_DEVICE Own combine_rows(const Own& own, Scratch& scratch, const Meeting& meeting, F f) {
    Own result = combine_row_lanes(own, f);
    combine_warps<along_rows<X>>(result, scratch, meeting, f);
    return result;
}

template <class T, int R, int C, class L, class F>
TK_DEVICE register_tile<T, 1, C, L> reduce_own_cols(const register_tile<T, R, C, L>& x, F f) {
    static_assert(R > 1, "nothing to reduce");
    register_tile<T, 1, C, L> result;
    TK_UNROLL
    for (int n = 0; n < result.size; ++n) {
        const place p = result.place_of(n);
        T value = x.data[x.number_of({0, p.j, 0, p.e})];
        TK_UNROLL
        for (int k = 1; k < x.I * x.H; ++k) value = f(value, x.data[x.number_of({k / x.H, p.j, k % x.H, p.e})]);
        result.data[n] = value;
    }
    return result;
}

/// What each thread has found in its part of a column, combined over the lanes.
template <class T, int C, class L, class F>
TK_DEVICE register_tile<T, 1, C, L> combine_col_lanes(register_tile<T, 1, C, L> own, F f) {
    TK_UNROLL
    for (T& value : own.data) value = reduce_lanes<L::col_step, L::LaneRows>(value, f);
    return own;
}

/// The same of X where warps lie below each other.
template <class X, class Own, class Scratch, class Meeting, class F>
TK_DEVICE Own combine_cols(const Own& own, Scratch& scratch, const Meeting& meeting, F f) {
    Own result = combine_col_lanes(own, f);
    combine_warps<along_cols<X>>(result, scratch, meeting, f);
    return result;
}

/// A tile whose columns all warps of the layout share.
template <class T, int C, class L>
using whole_columns = register_tile<T, L::block_rows, C, L>;

}  // namespace detail

// With scratch all threads of the warpgroup take part, and its warps meet twice: at the warpgroup's own barrier, or at a given one.
#define TK_REDUCTION_AT(NAME, COMBINE, PARAMETER, MEETING)                                                             \
    template <tile X>                                                                                                  \
    TK_DEVICE auto row_##NAME(const X& x, reduce_scratch<typename X::value_type, X::rows>& scratch PARAMETER) {        \
        return detail::combine_rows<X>(thread::row_##NAME(x), scratch, detail::MEETING, COMBINE);                      \
    }                                                                                                                  \
    template <tile X>                                                                                                  \
    TK_DEVICE X row_##NAME##_of_threads(const X& own, reduce_scratch<typename X::value_type, X::rows>& scratch PARAMETER) {\
        return detail::combine_rows<X>(own, scratch, detail::MEETING, COMBINE);                                        \
    }                                                                                                                  \
    template <tile X>                                                                                                  \
    TK_DEVICE auto col_##NAME(const X& x, reduce_scratch<typename X::value_type, X::cols>& scratch PARAMETER) {        \
        return detail::combine_cols<X>(thread::col_##NAME(x), scratch, detail::MEETING, COMBINE);                      \
    }                                                                                                                  \
    template <tile X>                                                                                                  \
    TK_DEVICE X col_##NAME##_of_threads(const X& own, reduce_scratch<typename X::value_type, X::cols>& scratch PARAMETER) {\
        using whole = detail::whole_columns<typename X::value_type, X::cols, typename X::layout_type>;                 \
        return detail::combine_cols<whole>(own, scratch, detail::MEETING, COMBINE);                                    \
    }
#define TK_NOTHING
#define TK_BARRIER , barrier& where
#ifdef TK_GFX
#define TK_REDUCTION_AT_GIVEN(NAME, COMBINE) TK_REDUCTION_AT(NAME, COMBINE, TK_BARRIER, at_shared_barrier{where})
#else
#define TK_REDUCTION_AT_GIVEN(NAME, COMBINE)
#endif
#define TK_REDUCTION(NAME, COMBINE)                                                                                    \
    namespace thread {                                                                                                 \
    /** [R, C] -> [R, 1], of which each thread of a row has its own elements' */                                       \
    template <tile X>                                                                                                  \
    TK_DEVICE auto row_##NAME(const X& x) {                                                                            \
        return detail::reduce_own_rows(x, COMBINE);                                                                    \
    }                                                                                                                  \
    /** [R, C] -> [1, C], of which each thread of a column has its own elements' */                                    \
    template <tile X>                                                                                                  \
    TK_DEVICE auto col_##NAME(const X& x) {                                                                            \
        return detail::reduce_own_cols(x, COMBINE);                                                                    \
    }                                                                                                                  \
    }                                                                                                                  \
    /** [R, 1] -> [R, 1]: what the threads of a row have, combined */                                                  \
    template <tile X>                                                                                                  \
    TK_DEVICE X row_##NAME##_of_threads(const X& own) {                                                                \
        static_assert(X::layout_type::WarpCols == 1, "rows over several warps need scratch");                          \
        return detail::combine_row_lanes(own, COMBINE);                                                                \
    }                                                                                                                  \
    /** [1, C] -> [1, C]: what the threads of a column have, combined */                                               \
    template <tile X>                                                                                                  \
    TK_DEVICE X col_##NAME##_of_threads(const X& own) {                                                                \
        static_assert(X::layout_type::WarpRows == 1, "columns over several warps need scratch");                       \
        return detail::combine_col_lanes(own, COMBINE);                                                                \
    }                                                                                                                  \
    /** [R, C] -> [R, 1] */                                                                                            \
    template <tile X>                                                                                                  \
    TK_DEVICE auto row_##NAME(const X& x) {                                                                            \
        return row_##NAME##_of_threads(thread::row_##NAME(x));                                                         \
    }                                                                                                                  \
    /** [R, C] -> [1, C] */                                                                                            \
    template <tile X>                                                                                                  \
    TK_DEVICE auto col_##NAME(const X& x) {                                                                            \
        return col_##NAME##_of_threads(thread::col_##NAME(x));                                                         \
    }                                                                                                                  \
    /** and where warps share a row or a column */                                                                     \
    TK_REDUCTION_AT(NAME, COMBINE, TK_NOTHING, at_named_barrier{})                                                     \
    TK_REDUCTION_AT_GIVEN(NAME, COMBINE)
TK_REDUCTION(sum, [](auto a, auto b) { return plus(a, b); })
TK_REDUCTION(max, [](auto a, auto b) { return max(a, b); })
TK_REDUCTION(min, [](auto a, auto b) { return min(a, b); })
#undef TK_REDUCTION
#undef TK_REDUCTION_AT
#undef TK_REDUCTION_AT_GIVEN
#undef TK_NOTHING
#undef TK_BARRIER

namespace warpgroup {

/// Whether the one number, the same in all threads, is not 0. Taken from lane 0: that a warp takes one branch is known to compilers.
template <tile X>
TK_DEVICE bool holds(const X& x) {
    static_assert(X::rows == 1 && X::cols == 1, "one number");
    return arch::shuffle_from(uint32_t(x.data[0]), 0) != 0;
}

}  // namespace warpgroup
}  // namespace tk

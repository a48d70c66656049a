// SPDX-License-Identifier: MIT
// Running sums of register tiles along an axis, in a fixed order: same inputs, same bits.
//
// A line of a tile is cut into stretches, the part of it that one warp holds in one block of the layout. Within a stretch each thread
// adds up what it holds, then lanes exchange their sums (the scan of Ladner and Fischer 1980, by butterflies); what lies before a
// stretch is added in the end. Where a line is spread over several warps they exchange the sums of stretches through scratch.
#pragma once

#include "tk/ops/reduce.h"

namespace tk {
namespace detail {

/// The registers of a line of X: stretch s, and in it `held` neighbours in each of `pieces` sets of lanes.
template <class X>
struct row_stretches : along_rows<X> {
    using L = typename X::layout_type;
    static constexpr int in_thread = X::I * X::H, stretches = X::J, pieces = 1, held = X::E;
    static constexpr int lane_step = L::row_step, lanes = L::Lanes;
    static TK_DEVICE constexpr int number(int line, int s, int, int k) { return X::number_of({line / X::H, s, line % X::H, k}); }
    /// Which of the warps that share a line this one is.
    TK_DEVICE int warp_of_line() const { return L::warp_col(this->at); }
};
template <class X>
struct col_stretches : along_cols<X> {
    using L = typename X::layout_type;
    static constexpr int in_thread = X::J * X::E, stretches = X::I, pieces = X::H, held = 1;
    static constexpr int lane_step = L::col_step, lanes = L::LaneRows;
    static TK_DEVICE constexpr int number(int line, int s, int piece, int) { return X::number_of({s, line / X::E, piece, line % X::E}); }
    TK_DEVICE int warp_of_line() const { return this->at.warp % along_cols<X>::warps; }
};

/// Makes the elements of a stretch running sums that begin with it. -> the sum of the stretch, in all its lanes
template <class Lines, class X>
TK_DEVICE auto scan_stretch(X& x, int line, int s) {
    using T = typename X::value_type;
    const int lane = warpgroup::position().lane;
    T sum = T(0);
    TK_UNROLL
    for (int piece = 0; piece < Lines::pieces; ++piece) {
        T total = T(0), before = sum;
        TK_UNROLL
        for (int k = 0; k < Lines::held; ++k) {
            T& element = x.data[Lines::number(line, s, piece, k)];
            element = total = k == 0 ? element : total + element;
        }
        TK_UNROLL
        for (int step = 1; step < Lines::lanes; step *= 2) {
            const T others = shuffle_xor(total, Lines::lane_step * step);
            before += (lane & (Lines::lane_step * step)) != 0 ? others : T(0);
            total += others;
        }
        TK_UNROLL
        for (int k = 0; k < Lines::held; ++k) x.data[Lines::number(line, s, piece, k)] += before;
        sum += total;
    }
    return sum;
}

template <class Lines, class X>
TK_DEVICE void add_to_stretch(X& x, int line, int s, typename X::value_type before) {
    TK_UNROLL
    for (int n = 0; n < Lines::pieces * Lines::held; ++n) x.data[Lines::number(line, s, n / Lines::held, n % Lines::held)] += before;
}

/// Where a warp has whole lines.
template <class Lines, class X>
TK_DEVICE X scan(X x) {
    TK_UNROLL
    for (int line = 0; line < Lines::in_thread; ++line) {
        auto before = scan_stretch<Lines>(x, line, 0);
        TK_UNROLL
        for (int s = 1; s < Lines::stretches; ++s) {
            const auto sum = scan_stretch<Lines>(x, line, s);
            add_to_stretch<Lines>(x, line, s, before);
            before += sum;
        }
    }
    return x;
}

/// Where several warps share a line.
template <class Lines, class X, int N, class Meeting>
TK_DEVICE X scan(X x, reduce_scratch<typename X::value_type, N>& scratch, const Meeting& meeting) {
    static_assert(N == Lines::lines * Lines::stretches, "a sum for each stretch");
    const Lines lines;
    meeting.meet();  // the scratch may still be read from its last use
    TK_UNROLL
    for (int n = 0; n < Lines::in_thread * Lines::stretches; ++n) {
        const int line = n % Lines::in_thread, s = n / Lines::in_thread;
        const auto sum = scan_stretch<Lines>(x, line, s);
        if (lines.writes) arch::store_shared_variable(scratch.partial[lines.at.warp][s * Lines::lines + lines.place(line)], sum);
    }
    meeting.meet();
    TK_UNROLL
    for (int line = 0; line < Lines::in_thread; ++line) {
        typename X::value_type before = 0;
        TK_UNROLL
        for (int s = 0; s < Lines::stretches; ++s) {
            auto mine = before;
            TK_UNROLL
            for (int w = 0; w < Lines::warps; ++w) {
                const int warp = lines.first + w * Lines::step;
                const auto sum = arch::load_shared_variable(scratch.partial[warp][s * Lines::lines + lines.place(line)]);
                mine += w < lines.warp_of_line() ? sum : 0;
                before += sum;
            }
            add_to_stretch<Lines>(x, line, s, mine);
        }
    }
    return x;
}

}  // namespace detail

/// Each element of a row becomes the sum of those up to it.
template <tile X>
TK_DEVICE X row_cumsum(const X& x) {
    static_assert(X::layout_type::WarpCols == 1, "rows over several warps need scratch");
    return detail::scan<detail::row_stretches<X>>(x);
}
/// Each element of a column becomes the sum of those down to it.
template <tile X>
TK_DEVICE X col_cumsum(const X& x) {
    static_assert(X::layout_type::WarpRows == 1, "columns over several warps need scratch");
    return detail::scan<detail::col_stretches<X>>(x);
}
// With scratch all threads of the warpgroup take part, and its warps meet twice: at the warpgroup's own barrier, or at a given one.
template <tile X, int N>
TK_DEVICE X row_cumsum(const X& x, reduce_scratch<typename X::value_type, N>& scratch) {
    return detail::scan<detail::row_stretches<X>>(x, scratch, detail::at_named_barrier{});
}
template <tile X, int N>
TK_DEVICE X col_cumsum(const X& x, reduce_scratch<typename X::value_type, N>& scratch) {
    return detail::scan<detail::col_stretches<X>>(x, scratch, detail::at_named_barrier{});
}
#ifdef TK_GFX
template <tile X, int N>
TK_DEVICE X row_cumsum(const X& x, reduce_scratch<typename X::value_type, N>& scratch, barrier& where) {
    return detail::scan<detail::row_stretches<X>>(x, scratch, detail::at_shared_barrier{where});
}
template <tile X, int N>
TK_DEVICE X col_cumsum(const X& x, reduce_scratch<typename X::value_type, N>& scratch, barrier& where) {
    return detail::scan<detail::col_stretches<X>>(x, scratch, detail::at_shared_barrier{where});
}
#endif

}  // namespace tk

// SPDX-License-Identifier: MIT
// Products of tiles on the tensor core: acc[R, N] += a[R, K] @ b[K, N], f32 += bf16 or f16.
//
//     mma_fence(acc);         // after registers of acc or a were touched by ordinary code
//     mma(acc, a, b);         // any number of products
//     mma_commit();           // closes a group
//     mma_wait<0>(acc);       // until then acc, a register a, and the shared tiles stay untouched
//
// `a` is a register tile in mma_layout, a view [R, K], or transposed(view [K, R]); `b` is a view [K, N] or
// transposed(view [N, K]). Shared operands are swizzled tiles.
#pragma once

#include "tk/cuda/sm80/special_registers.h"
#include "tk/cuda/sm90/wgmma.h"
#include "tk/types/register_tile.h"
#include "tk/types/shared_tile.h"

namespace tk {

namespace detail {

/// The 64-bit matrix descriptor: bits 0-13 start address / 16, 16-29 leading byte offset / 16, 32-45 stride byte
/// offset / 16, 62-63 swizzle (1 128 bytes, 2 64, 3 32). The hardware adds the offsets to the start and swizzles
/// the sum, so a step within a tile is an addition to the start.
template <class View, bool KMajor>
struct matrix_descriptor {
    using geometry = typename View::geometry;
    static_assert(View::swizzling != swizzle::none, "the tensor core reads swizzled tiles");
    static_assert(geometry::size == 2, "16-bit elements");
    /// Contiguous groups of eight rows lie 8 * pitch apart. With K contiguous they follow each other along
    /// M or N, and the leading offset is not used; else along K, and panels follow along M or N.
    static constexpr uint32_t stride_offset = 8 * geometry::pitch, leading_offset = KMajor ? 16 : geometry::panel_bytes;
    static constexpr uint32_t mode = geometry::pitch == 128 ? 1 : geometry::pitch == 64 ? 2 : 3;
    static constexpr uint32_t high = stride_offset >> 4 | mode << 30;
    static_assert(leading_offset >> 4 < (1 << 14) && stride_offset >> 4 < (1 << 14));

    uint32_t low;

    TK_DEVICE explicit matrix_descriptor(const View& view)
        : low((view.linear_address(0, 0) & 0x3ffff) >> 4 | (leading_offset >> 4) << 16) {}

    /// The descriptor `mn` elements along M or N and `k` along K further on. Along contiguous elements a step
    /// starts a panel or stays inside one.
    TK_DEVICE uint64_t at(int mn, int k) const {
        const uint32_t bytes = KMajor ? geometry::offset(mn, k) : geometry::offset(k, mn);
        return uint64_t(high) << 32 | (low + (bytes >> 4));
    }
};

/// An operand in shared memory: how it lies, and its descriptor. A is [M, K], B is [K, N].
template <class X, bool IsB>
struct shared_operand {
    using view_type = X;
    static constexpr bool k_major = !IsB;
    static TK_DEVICE auto descriptor(const X& x) { return matrix_descriptor<X, k_major>(x); }
};
template <class View, bool IsB>
struct shared_operand<transposed_view<View>, IsB> {
    using view_type = View;
    static constexpr bool k_major = IsB;
    static TK_DEVICE auto descriptor(const transposed_view<View>& x) { return matrix_descriptor<View, k_major>(x.view); }
};

/// One wgmma for columns n0 .. n0 + N of row block i, step k of A and B.
template <int Sign, int N, int R, int C, class A, class B>
TK_DEVICE void issue_mma(register_tile<float, R, C, mma_layout>& acc, const A& a, const B& b, int i, int n0, int k, bool accumulate) {
    using T = typename A::value_type;
    constexpr bool is_bf16 = std::is_same_v<T, bf16>;
    using b_operand = shared_operand<B, true>;
    float* d = acc.data + acc.number_of({i, n0 / 8, 0, 0});
    const uint64_t b_step = b_operand::descriptor(b).at(n0, k);
    if constexpr (is_tile<A>) {
        const int first = a.number_of({i, k / 8, 0, 0});
        uint32_t pairs[4];
        TK_UNROLL
        for (int m = 0; m < 4; ++m) pairs[m] = load_pair(a.data + first + 2 * m);
        sm90::wgmma<N>::template registers<is_bf16, Sign, !b_operand::k_major>(d, pairs, b_step, accumulate);
    } else {
        using a_operand = shared_operand<A, false>;
        const uint64_t a_step = a_operand::descriptor(a).at(64 * i, k);
        sm90::wgmma<N>::template shared<is_bf16, Sign, !a_operand::k_major, !b_operand::k_major>(d, a_step, b_step, accumulate);
    }
}

/// acc (+)= Sign * a @ b: 16-deep steps along K, 64-row blocks, at most 256 columns at a time.
template <int Sign, int R, int C, class A, class B>
TK_DEVICE void multiply(register_tile<float, R, C, mma_layout>& acc, const A& a, const B& b, bool first_accumulates) {
    constexpr int K = A::cols, whole = C / 256 * 256, rest = C % 256;
    static_assert(A::rows == R && B::rows == K && B::cols == C, "extents of acc[R, N] += a[R, K] @ b[K, N]");
    static_assert(K % 16 == 0, "the tensor core takes 16 of K at a time");
    static_assert(std::is_same_v<typename A::value_type, typename B::value_type> && is_half<typename A::value_type>);
    TK_UNROLL
    for (int k = 0; k < K; k += 16)
        TK_UNROLL
        for (int i = 0; i < acc.I; ++i) {
            const bool accumulate = first_accumulates || k > 0;
            TK_UNROLL
            for (int n0 = 0; n0 < whole; n0 += 256) issue_mma<Sign, 256>(acc, a, b, i, n0, k, accumulate);
            if constexpr (rest > 0) issue_mma<Sign, rest>(acc, a, b, i, whole, k, accumulate);
        }
}

template <class X>
TK_DEVICE auto operand(const X& x) { return as_view(x); }
template <tile X>
TK_DEVICE const X& operand(const X& x) { return x; }

/// Ties a tile's registers to this point: the compiler moves no access to them across. Costs no instruction.
template <class T, int R, int C, class L>
TK_DEVICE void pin(register_tile<T, R, C, L>& x) {
    static_assert(std::is_same_v<T, float> || is_half<T>);
    if constexpr (is_half<T>) {
        TK_UNROLL
        for (int n = 0; n < x.size; n += 2) {
            uint32_t pair = load_pair(x.data + n);
            TK_TIE("+r"(pair));
            store_pair(x.data + n, pair);
        }
    } else {
        TK_UNROLL
        for (int n = 0; n < x.size; ++n) TK_TIE("+f"(x.data[n]));
    }
}

}  // namespace detail

namespace warpgroup {

/// Before the first product after registers of its tiles were touched by ordinary code. Name the tiles that were
/// written just before (an accumulator set to zero, say): else the compiler may move those writes below the fence.
/// Do not name an accumulator with a group in flight.
template <class... Tile>
TK_DEVICE void mma_fence(Tile&... touched) {
    (detail::pin(touched), ...);
    sm90::wgmma_fence();
}

/// A copy of a left operand that is needed again, in registers of its own. ptxas (CUDA 13.0) drops a plain copy, has the product read the
/// tile itself and then gives the tile's registers to later values, though the next iteration of a loop reads them again. What is
/// or-ed with, the highest bit of a clock, is zero, which it can't know.
template <class T, int R, int C, class L>
TK_DEVICE register_tile<T, R, C, L> own_copy(const register_tile<T, R, C, L>& x) {
    static_assert(is_half<T>);
    register_tile<T, R, C, L> result;
    const uint32_t zero = uint32_t(sm80::clock() >> 63);
    TK_UNROLL
    for (int n = 0; n < x.size; n += 2) store_pair(result.data + n, load_pair(x.data + n) | zero);
    return result;
}

/// acc += a @ b
template <int R, int C, class A, class B>
TK_DEVICE void mma(register_tile<float, R, C, mma_layout>& acc, const A& a, const B& b) {
    detail::multiply<1>(acc, detail::operand(a), detail::operand(b), true);
}
/// acc -= a @ b
template <int R, int C, class A, class B>
TK_DEVICE void mma_subtract(register_tile<float, R, C, mma_layout>& acc, const A& a, const B& b) {
    detail::multiply<-1>(acc, detail::operand(a), detail::operand(b), true);
}
/// acc = a @ b: what acc held is not read.
template <int R, int C, class A, class B>
TK_DEVICE void mma_zero(register_tile<float, R, C, mma_layout>& acc, const A& a, const B& b) {
    detail::multiply<1>(acc, detail::operand(a), detail::operand(b), false);
}

/// Closes a group of products.
TK_DEVICE void mma_commit() { sm90::wgmma_commit_group(); }

/// Waits until at most the newest N groups are unfinished. Name the accumulators that are read afterwards, and the register
/// operands that are written: their registers are tied to the wait, so that no access moves above it.
template <int N, class... Tile>
TK_DEVICE void mma_wait(Tile&... finished) {
    sm90::wgmma_wait_group<N>();
    (detail::pin(finished), ...);
}

}  // namespace warpgroup

}  // namespace tk

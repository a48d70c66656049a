// SPDX-License-Identifier: MIT
// Products of fragments by each warp's own matrix instruction (mma.sync): acc[R, C] += left[R, K] @ right[K, C], f32 sums of
// bf16 or f16. For the program they are complete when they return; the hardware orders the registers.
#pragma once

#include "tk/arch.h"
#include "tk/cuda/sm80/matrix_multiply.h"
#include "tk/types/fragment.h"

namespace tk {

namespace detail {

/// One instruction: row block i, column block j of the accumulator, 16 of K from block b on. `Sign` -1 turns the left signs.
template <int Sign, class T, int R, int C, int K, class L>
TK_DEVICE void multiply_block(register_tile<float, R, C, L>& acc, const left_fragment<T, R, K, L>& left,
                              const right_fragment<T, K, C, L>& right, int i, int j, int b, bool accumulate) {
    const int first = left.number_of({i, b, 0, 0});
    uint32_t a[4];
    TK_UNROLL
    for (int m = 0; m < 4; ++m) a[m] = load_pair(left.data + first + 2 * m) ^ (Sign < 0 ? 0x80008000u : 0u);
    const uint32_t pairs[2] = {right.pairs[right.number_of(j, b)], right.pairs[right.number_of(j, b + 1)]};
    const float zero[4] = {};
    float* d = acc.data + acc.number_of({i, j, 0, 0});
    if constexpr (std::is_same_v<T, bf16>) arch::mma_16x8x16_bf16(d, a, pairs, accumulate ? d : zero);
    else arch::mma_16x8x16_f16(d, a, pairs, accumulate ? d : zero);
}

template <int Sign, class T, int R, int C, int K, class L>
TK_DEVICE void multiply_fragments(register_tile<float, R, C, L>& acc, const left_fragment<T, R, K, L>& left,
                                  const right_fragment<T, K, C, L>& right, bool accumulate) {
    static_assert(is_matrix_layout<L>);
    TK_UNROLL
    for (int b = 0; b < K / 8; b += 2)
        TK_UNROLL
        for (int i = 0; i < acc.I; ++i)
            TK_UNROLL
            for (int j = 0; j < acc.J; ++j) multiply_block<Sign, T, R, C, K, L>(acc, left, right, i, j, b, accumulate || b > 0);
}

}  // namespace detail

namespace warpgroup {

/// acc += left @ right
template <class T, int R, int C, int K, class L>
TK_DEVICE void multiply(register_tile<float, R, C, L>& acc, const left_fragment<T, R, K, L>& left, const right_fragment<T, K, C, L>& right) {
    detail::multiply_fragments<1, T, R, C, K, L>(acc, left, right, true);
}
/// acc -= left @ right
template <class T, int R, int C, int K, class L>
TK_DEVICE void multiply_subtract(register_tile<float, R, C, L>& acc, const left_fragment<T, R, K, L>& left, const right_fragment<T, K, C, L>& right) {
    detail::multiply_fragments<-1, T, R, C, K, L>(acc, left, right, true);
}
/// acc = left @ right: what acc held is not read.
template <class T, int R, int C, int K, class L>
TK_DEVICE void multiply_zero(register_tile<float, R, C, L>& acc, const left_fragment<T, R, K, L>& left, const right_fragment<T, K, C, L>& right) {
    detail::multiply_fragments<1, T, R, C, K, L>(acc, left, right, false);
}

}  // namespace warpgroup

}  // namespace tk

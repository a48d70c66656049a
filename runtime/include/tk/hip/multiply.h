// SPDX-License-Identifier: MIT
// Products of the matrix unit: acc (f32, in registers) += left @ right, 16-bit operands as fragments in registers.
#pragma once

#include "tk/hip/fragment.h"
#include "tk/hip/gfx9/barrier.h"
#include "tk/hip/gfx9/matrix.h"
#include "tk/types/register_tile.h"
#if TK_HAS_GFX950
#include "tk/hip/gfx950/matrix.h"
#endif

namespace tk {

namespace detail {

/// d += b^T a^T, `depth` (16 or 32) of K.
template <class T, int Depth>
TK_DEVICE void issue_mfma(float* d, const uint32_t* left, const uint32_t* right) {
    gfx9::sums4 sums;
    __builtin_memcpy(&sums, d, sizeof sums);
    if constexpr (Depth == 32) {
#if TK_HAS_GFX950
        gfx9::words4 a, b;
        __builtin_memcpy(&a, left, sizeof a);
        __builtin_memcpy(&b, right, sizeof b);
        if constexpr (std::is_same_v<T, bf16>) gfx950::mfma_16x16x32_bf16(sums, b, a);
        else gfx950::mfma_16x16x32_f16(sums, b, a);
#endif
    } else {
        gfx9::words2 a, b;
        __builtin_memcpy(&a, left, sizeof a);
        __builtin_memcpy(&b, right, sizeof b);
        if constexpr (std::is_same_v<T, bf16>) gfx9::mfma_16x16x16_bf16(sums, b, a);
        else gfx9::mfma_16x16x16_f16(sums, b, a);
    }
    __builtin_memcpy(d, &sums, sizeof sums);
}

/// Asks the compiler to begin with `First` loads from shared memory, and to put one, and a scalar instruction of copies or addresses,
/// between the matrix instructions: they keep the unit busy for the time of four others each.
template <int First, int Products>
TK_DEVICE void mix_instructions() {
    gfx9::schedule_group<gfx9::scheduled::shared_loads, First>();
    TK_UNROLL
    for (int n = 0; n < Products; ++n) {
        gfx9::schedule_group<gfx9::scheduled::products, 1>();
        gfx9::schedule_group<gfx9::scheduled::shared_loads, 1>();
        gfx9::schedule_group<gfx9::scheduled::scalars, 1>();
    }
}

/// acc (+)= left @ right; left(i, h) and right(j, h) are the registers of half h of K.
template <class T, int K, int R, int C, class L, class Left, class Right>
TK_DEVICE void multiply_fragments(register_tile<float, R, C, L>& acc, Left left, Right right) {
    static_assert(std::is_same_v<L, matrix_layout<L::WarpRows, L::WarpCols>>, "the layout in which the matrix unit leaves its sums");
    constexpr int depth = TK_HAS_GFX950 && K % 32 == 0 ? 32 : 16;
    constexpr int rows = register_tile<float, R, C, L>::I, cols = register_tile<float, R, C, L>::J;  // of blocks
    TK_UNROLL
    for (int k = 0; k < K; k += depth)
        TK_UNROLL
        for (int n = 0; n < rows * cols; ++n) {
            // The operand of fewer blocks is used over and over while the other one's arrive.
            const int i = rows < cols ? n % rows : n / cols, j = rows < cols ? n / rows : n % cols;
            issue_mfma<T, depth>(acc.data + acc.number_of({i, j, 0, 0}), left(i, k / 16), right(j, k / 16));
        }
    // Smaller tiles have too many loads for their products, and so has a chip that gathers operands element by element.
    if constexpr (rows * cols >= 32) mix_instructions<2 * (rows < cols ? rows : cols), K / depth * rows * cols>();
}

/// The left operand's registers with all signs turned: the matrix unit only adds.
template <class Fragment>
TK_DEVICE Fragment negated(Fragment x) {
    TK_UNROLL
    for (auto& block : x.data)
        TK_UNROLL
        for (uint32_t& pair : block) pair ^= 0x80008000u;
    return x;
}

}  // namespace detail

namespace warpgroup {

/// acc += left @ right
template <class T, int R, int C, int K, class L>
TK_DEVICE void multiply(register_tile<float, R, C, L>& acc, const left_fragment<T, R, K, L>& left, const right_fragment<T, K, C, L>& right) {
    detail::multiply_fragments<T, K>(acc, [&](int i, int h) { return &left.data[i][2 * h]; }, [&](int j, int h) { return &right.data[j][2 * h]; });
}

/// acc += left @ right, left a tile of the worker's own, whose rows lie in one warp each.
template <class T, int R, int C, int K, class L>
    requires is_half<T>
TK_DEVICE void multiply(register_tile<float, R, C, L>& acc, const register_tile<T, R, K, L>& left, const right_fragment<T, K, C, L>& right) {
    static_assert(L::WarpCols == 1, "a row of the left operand must lie in one warp");
    constexpr int blocks = register_tile<T, R, K, L>::I;
    uint32_t pairs[blocks][K / 8];
    TK_UNROLL
    for (int i = 0; i < blocks; ++i)
        TK_UNROLL
        for (int n = 0; n < K / 8; ++n) pairs[i][n] = load_pair(left.data + left.number_of({i, n / 2, 0, n % 2 * 2}));
    detail::multiply_fragments<T, K>(acc, [&](int i, int h) { return &pairs[i][2 * h]; }, [&](int j, int h) { return &right.data[j][2 * h]; });
}

/// acc -= left @ right
template <int R, int C, class L, class Left, class Right>
TK_DEVICE void multiply_subtract(register_tile<float, R, C, L>& acc, const Left& left, const Right& right) {
    if constexpr (tile<Left>) {
        Left turned = left;
        TK_UNROLL
        for (int n = 0; n < Left::size; n += 2) store_pair(turned.data + n, load_pair(turned.data + n) ^ 0x80008000u);
        multiply(acc, turned, right);
    } else {
        multiply(acc, detail::negated(left), right);
    }
}

/// acc = left @ right
template <int R, int C, class L, class Left, class Right>
TK_DEVICE void multiply_zero(register_tile<float, R, C, L>& acc, const Left& left, const Right& right) {
    acc = fill<float, R, C, L>(0.0f);
    multiply(acc, left, right);
}

}  // namespace warpgroup

}  // namespace tk

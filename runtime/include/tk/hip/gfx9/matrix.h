// SPDX-License-Identifier: MIT
// MFMA 16x16x16: d (16 x 16) += a (16 x 16) b (16 x 16), f32 sums, one wave. Lane l holds, two to a register,
// a[l % 16][4 (l / 16) + e], b[4 (l / 16) + e][l % 16] and d[4 (l / 16) + e][l % 16], e = 0 .. 3.
// The compiler keeps the distance that the results need.
#pragma once

#include "tk/hip/gfx9/word.h"

#ifdef TK_SIM
#include "tk/sim/gfx9/matrix.h"
#else

namespace tk::gfx9 {

/// v_mfma_f32_16x16x16_bf16
TK_DEVICE void mfma_16x16x16_bf16(sums4& d, words2 a, words2 b) {
    using operand = short __attribute__((ext_vector_type(4)));
    using sums = float __attribute__((ext_vector_type(4)));
    const sums c = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(__builtin_bit_cast(operand, a), __builtin_bit_cast(operand, b),
                                                              __builtin_bit_cast(sums, d), 0, 0, 0);
    d = __builtin_bit_cast(sums4, c);
}

/// v_mfma_f32_16x16x16_f16
TK_DEVICE void mfma_16x16x16_f16(sums4& d, words2 a, words2 b) {
    using operand = _Float16 __attribute__((ext_vector_type(4)));
    using sums = float __attribute__((ext_vector_type(4)));
    const sums c = __builtin_amdgcn_mfma_f32_16x16x16f16(__builtin_bit_cast(operand, a), __builtin_bit_cast(operand, b),
                                                          __builtin_bit_cast(sums, d), 0, 0, 0);
    d = __builtin_bit_cast(sums4, c);
}

}  // namespace tk::gfx9

#endif

// SPDX-License-Identifier: MIT
// MFMA 16x16x32, gfx950 only: d (16 x 16) += a (16 x 32) b (32 x 16), f32 sums, one wave. Lane l holds
// a[l % 16][8 (l / 16) + e] and b[8 (l / 16) + e][l % 16], e = 0 .. 7, two to a register; d as with 16x16x16.
#pragma once

#include "tk/hip/gfx9/word.h"

#ifdef TK_SIM
#include "tk/sim/gfx950/matrix.h"
#else

namespace tk::gfx950 {

/// v_mfma_f32_16x16x32_bf16
TK_DEVICE void mfma_16x16x32_bf16(gfx9::sums4& d, gfx9::words4 a, gfx9::words4 b) {
    using operand = __bf16 __attribute__((ext_vector_type(8)));
    using sums = float __attribute__((ext_vector_type(4)));
    const sums c = __builtin_amdgcn_mfma_f32_16x16x32_bf16(__builtin_bit_cast(operand, a), __builtin_bit_cast(operand, b),
                                                            __builtin_bit_cast(sums, d), 0, 0, 0);
    d = __builtin_bit_cast(gfx9::sums4, c);
}

/// v_mfma_f32_16x16x32_f16
TK_DEVICE void mfma_16x16x32_f16(gfx9::sums4& d, gfx9::words4 a, gfx9::words4 b) {
    using operand = _Float16 __attribute__((ext_vector_type(8)));
    using sums = float __attribute__((ext_vector_type(4)));
    const sums c = __builtin_amdgcn_mfma_f32_16x16x32_f16(__builtin_bit_cast(operand, a), __builtin_bit_cast(operand, b),
                                                           __builtin_bit_cast(sums, d), 0, 0, 0);
    d = __builtin_bit_cast(gfx9::sums4, c);
}

}  // namespace tk::gfx950

#endif

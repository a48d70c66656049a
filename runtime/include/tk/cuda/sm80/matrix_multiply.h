// SPDX-License-Identifier: MIT
// mma.sync m16n8k16: D[16, 8] = A[16, 16] * B[16, 8] + C[16, 8] by one warp, f32 sums of bf16 or f16 products. In lane l
// register i of D and C is row l / 4 + 8 (i / 2), column 2 (l % 4) + i % 2; the pair in register i of A row
// l / 4 + 8 (i % 2), k = 2 (l % 4) + 8 (i / 2) and the next; that in register i of B column l / 4, k = 2 (l % 4) + 8 i.
#pragma once

#include "tk/platform.h"

#ifdef TK_SIM
#include "tk/sim/sm80/matrix_multiply.h"
#else

namespace tk::sm80 {

#define TK_MMA_16X8X16(TYPE)                                                                                           \
    TK_PTX("mma.sync.aligned.m16n8k16.row.col.f32." TYPE "." TYPE ".f32 "                                              \
           "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"                                       \
           : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])                                                            \
           : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]))

TK_DEVICE void mma_16x8x16_bf16(float* d, const uint32_t (&a)[4], const uint32_t (&b)[2], const float* c) { TK_MMA_16X8X16("bf16"); }
TK_DEVICE void mma_16x8x16_f16(float* d, const uint32_t (&a)[4], const uint32_t (&b)[2], const float* c) { TK_MMA_16X8X16("f16"); }

#undef TK_MMA_16X8X16

}  // namespace tk::sm80

#endif

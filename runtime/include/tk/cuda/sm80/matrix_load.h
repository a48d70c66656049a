// SPDX-License-Identifier: MIT
// ldmatrix: four 8x8 matrices of 16-bit elements from shared memory to registers.
// Lane l gives the address of row l % 8 of matrix l / 8 (16 bytes, 16-byte aligned). Register i of lane l
// holds row l / 4, columns 2 (l % 4) and + 1 of matrix i; transposed: rows and columns exchanged.
// movmatrix: one such matrix in registers, rows and columns exchanged.
#pragma once

#include "tk/platform.h"

#ifdef TK_SIM
#include "tk/sim/sm80/matrix_load.h"
#else

namespace tk::sm80 {

TK_DEVICE void load_matrix_x4(uint32_t (&r)[4], uint32_t address) {
    TK_PTX("ldmatrix.sync.aligned.m8n8.x4.shared::cta.b16 {%0, %1, %2, %3}, [%4];"
           : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
           : "r"(address)
           : "memory");
}

TK_DEVICE void load_matrix_x4_transposed(uint32_t (&r)[4], uint32_t address) {
    TK_PTX("ldmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 {%0, %1, %2, %3}, [%4];"
           : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
           : "r"(address)
           : "memory");
}

TK_DEVICE uint32_t transpose_matrix(uint32_t pair) {
    uint32_t result;
    TK_PTX("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(result) : "r"(pair));
    return result;
}

}  // namespace tk::sm80

#endif

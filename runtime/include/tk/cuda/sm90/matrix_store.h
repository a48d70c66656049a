// SPDX-License-Identifier: MIT
// stmatrix: four 8x8 matrices of 16-bit elements from registers to shared memory, the exact inverse of ldmatrix
// (tk/cuda/sm80/matrix_load.h).
#pragma once

#include "tk/platform.h"

#ifdef TK_SIM
#include "tk/sim/sm90/matrix_store.h"
#else

namespace tk::sm90 {

TK_DEVICE void store_matrix_x4(uint32_t address, const uint32_t (&r)[4]) {
    TK_PTX("stmatrix.sync.aligned.m8n8.x4.shared::cta.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(r[0]),
           "r"(r[1]), "r"(r[2]), "r"(r[3])
           : "memory");
}

TK_DEVICE void store_matrix_x4_transposed(uint32_t address, const uint32_t (&r)[4]) {
    TK_PTX("stmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(r[0]),
           "r"(r[1]), "r"(r[2]), "r"(r[3])
           : "memory");
}

}  // namespace tk::sm90

#endif

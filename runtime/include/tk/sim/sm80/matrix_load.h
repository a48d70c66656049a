// SPDX-License-Identifier: MIT
// ldmatrix on the simulator: each lane reads the row whose address it gives, and the warp meets to exchange the rows for
// the fragments. movmatrix: the warp meets to exchange what is in registers.
#pragma once

#include "tk/platform.h"

namespace tk::sim {

// runtime/sim/matrix_move.cpp
void load_matrix(uint32_t (&r)[4], uint32_t address, bool transposed);
uint32_t transpose_matrix(uint32_t pair);

}  // namespace tk::sim

namespace tk::sm80 {

TK_DEVICE void load_matrix_x4(uint32_t (&r)[4], uint32_t address) { sim::load_matrix(r, address, false); }
TK_DEVICE void load_matrix_x4_transposed(uint32_t (&r)[4], uint32_t address) { sim::load_matrix(r, address, true); }
TK_DEVICE uint32_t transpose_matrix(uint32_t pair) { return sim::transpose_matrix(pair); }

}  // namespace tk::sm80

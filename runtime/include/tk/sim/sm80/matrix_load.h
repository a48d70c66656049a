// SPDX-License-Identifier: MIT
// ldmatrix on the simulator: each lane reads the row whose address it gives, and the warp meets to exchange the rows for
// the fragments.
#pragma once

#include "tk/platform.h"

namespace tk::sim {

// runtime/sim/matrix_move.cpp
void load_matrix(uint32_t (&r)[4], uint32_t address, bool transposed);

}  // namespace tk::sim

namespace tk::sm80 {

TK_DEVICE void load_matrix_x4(uint32_t (&r)[4], uint32_t address) { sim::load_matrix(r, address, false); }
TK_DEVICE void load_matrix_x4_transposed(uint32_t (&r)[4], uint32_t address) { sim::load_matrix(r, address, true); }

}  // namespace tk::sm80

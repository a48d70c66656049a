// SPDX-License-Identifier: MIT
// ldmatrix and stmatrix on the simulator: each lane reads or writes the row whose address it gives, and the warp meets
// to exchange the rows for the fragments.
#pragma once

#include "tk/platform.h"

namespace tk::sim {

// runtime/sim/matrix_move.cpp
void load_matrix(uint32_t (&r)[4], uint32_t address, bool transposed);
void store_matrix(uint32_t address, const uint32_t (&r)[4], bool transposed);

}  // namespace tk::sim

namespace tk::sm90 {

TK_DEVICE void load_matrix_x4(uint32_t (&r)[4], uint32_t address) { sim::load_matrix(r, address, false); }
TK_DEVICE void load_matrix_x4_transposed(uint32_t (&r)[4], uint32_t address) { sim::load_matrix(r, address, true); }
TK_DEVICE void store_matrix_x4(uint32_t address, const uint32_t (&r)[4]) { sim::store_matrix(address, r, false); }
TK_DEVICE void store_matrix_x4_transposed(uint32_t address, const uint32_t (&r)[4]) {
    sim::store_matrix(address, r, true);
}

}  // namespace tk::sm90

// SPDX-License-Identifier: MIT
// stmatrix on the simulator: the warp meets to exchange the fragments for rows, and each lane writes the row whose address
// it gives.
#pragma once

#include "tk/platform.h"

namespace tk::sim {

// runtime/sim/matrix_move.cpp
void store_matrix(uint32_t address, const uint32_t (&r)[4], bool transposed);

}  // namespace tk::sim

namespace tk::sm90 {

TK_DEVICE void store_matrix_x4(uint32_t address, const uint32_t (&r)[4]) { sim::store_matrix(address, r, false); }
TK_DEVICE void store_matrix_x4_transposed(uint32_t address, const uint32_t (&r)[4]) {
    sim::store_matrix(address, r, true);
}

}  // namespace tk::sm90

// SPDX-License-Identifier: MIT
// Which thread of a warpgroup holds which element of a matrix instruction's operands (PTX ISA: register fragments of mma and wgmma).
#pragma once

namespace tk::sim {

struct element_place {
    int row, col;
};

/// f32 register `number` (0 .. N / 2 - 1) of D, m64nN: thread 0 .. 127 of the warpgroup.
constexpr element_place accumulator_place(int thread, int number) {
    const int warp = thread / 32, lane = thread % 32, half = number / 2 % 2;
    return {16 * warp + lane / 4 + 8 * half, number / 4 * 8 + 2 * (lane % 4) + number % 2};
}

/// Low half (`which` 0) or high half (1) of register `number` (0 .. 3) of A, m64k16: row and k.
constexpr element_place operand_place(int thread, int number, int which) {
    const int warp = thread / 32, lane = thread % 32;
    return {16 * warp + lane / 4 + 8 * (number & 1), 2 * (lane % 4) + which + 8 * (number >> 1)};
}

/// Low or high half of a lane's register of one 8x8 matrix of ldmatrix or stmatrix: row and column in the matrix as it
/// lies in memory.
constexpr element_place matrix_place(int lane, int which, bool transposed) {
    const int across = lane / 4, along = 2 * (lane % 4) + which;
    return transposed ? element_place{along, across} : element_place{across, along};
}

}  // namespace tk::sim

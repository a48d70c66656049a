// SPDX-License-Identifier: MIT
// ldmatrix and stmatrix: rows of 16 bytes in memory, fragments in registers. movmatrix: fragments alone.
#include <cstring>

#include "runtime/sim/fragment.h"
#include "tk/sim/engine.h"
#include "tk/sim/sm80/matrix_load.h"
#include "tk/sim/sm90/matrix_store.h"

namespace tk::sim {

namespace {

/// What one lane brings: row lane % 8 of matrix lane / 8, and its four registers.
struct lane_matrices {
    uint16_t row[8];
    uint32_t registers[4];
    bool transposed;
};

uint16_t& element(void* const* all, int matrix, element_place at) {
    return static_cast<lane_matrices*>(all[matrix * 8 + at.row])->row[at.col];
}

void rows_to_registers(void* const* all) {
    for (int lane = 0; lane < 32; ++lane) {
        auto& mine = *static_cast<lane_matrices*>(all[lane]);
        for (int m = 0; m < 4; ++m) {
            const uint32_t low = element(all, m, matrix_place(lane, 0, mine.transposed));
            const uint32_t high = element(all, m, matrix_place(lane, 1, mine.transposed));
            mine.registers[m] = low | high << 16;
        }
    }
}

void registers_to_rows(void* const* all) {
    for (int lane = 0; lane < 32; ++lane) {
        const auto& mine = *static_cast<lane_matrices*>(all[lane]);
        for (int m = 0; m < 4; ++m) {
            element(all, m, matrix_place(lane, 0, mine.transposed)) = uint16_t(mine.registers[m]);
            element(all, m, matrix_place(lane, 1, mine.transposed)) = uint16_t(mine.registers[m] >> 16);
        }
    }
}

/// What one lane has of one matrix.
struct lane_pair {
    uint16_t value[2], transposed[2];
};

void transpose_registers(void* const* all) {
    for (int lane = 0; lane < 32; ++lane) {
        for (int which = 0; which < 2; ++which) {
            const element_place from = matrix_place(lane, which, true);
            static_cast<lane_pair*>(all[lane])->transposed[which] =
                static_cast<const lane_pair*>(all[from.row * 4 + from.col / 2])->value[from.col % 2];
        }
    }
}

}  // namespace

void load_matrix(uint32_t (&r)[4], uint32_t address, bool transposed) {
    lane_matrices mine{};
    mine.transposed = transposed;
    load_shared(address, mine.row, 16, access::matrix);
    meet_warp(transposed ? "ldmatrix.trans" : "ldmatrix", rows_to_registers, &mine);
    std::memcpy(r, mine.registers, sizeof mine.registers);
}

void store_matrix(uint32_t address, const uint32_t (&r)[4], bool transposed) {
    lane_matrices mine{};
    mine.transposed = transposed;
    std::memcpy(mine.registers, r, sizeof mine.registers);
    meet_warp(transposed ? "stmatrix.trans" : "stmatrix", registers_to_rows, &mine);
    store_shared(address, mine.row, 16, access::matrix);
}

uint32_t transpose_matrix(uint32_t pair) {
    lane_pair mine{{uint16_t(pair), uint16_t(pair >> 16)}, {}};
    meet_warp("movmatrix", transpose_registers, &mine);
    return uint32_t(mine.transposed[0]) | uint32_t(mine.transposed[1]) << 16;
}

}  // namespace tk::sim

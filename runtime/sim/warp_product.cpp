// SPDX-License-Identifier: MIT
// mma.sync m16n8k16: the lanes of a warp bring their parts of the operands and get theirs of the result. The sum of an output
// is that of tensor_core.h, all 16 products at once, as measured for wgmma on an H200; that mma.sync adds the same way there is
// assumed. sm_80 is known to add eight products at a time and to keep fewer bits: bits may differ, not the exact sums of integers.
#include <array>

#include "runtime/sim/agent.h"
#include "runtime/sim/fragment.h"
#include "runtime/sim/machine.h"
#include "runtime/sim/tensor_core.h"
#include "tk/sim/sm80/matrix_multiply.h"

namespace tk::sim {

namespace {

constexpr int kCycles = 33;
constexpr int kPitch = 256;  // of the outputs of multiply_accumulate

struct lane_operands {
    float* d;
    const uint32_t *a, *b;
    const float* c;
    bool bf16;
};

float half_value(uint32_t pair, int which, operand_type type) { return operand_value(uint16_t(pair >> (16 * which)), type); }

void multiply_warp(void* const* all) {
    const operand_type type = static_cast<const lane_operands*>(all[0])->bf16 ? operand_type::bf16 : operand_type::f16;
    static thread_local product_operands operands;
    static thread_local std::array<float, 16 * kPitch> sums;
    const auto sum_at = [&](int lane, int number) -> float& {
        const element_place at = accumulator_place(lane, number);
        return sums[size_t(at.row * kPitch + at.col)];
    };
    for (int lane = 0; lane < 32; ++lane) {
        const auto& from = *static_cast<const lane_operands*>(all[lane]);
        for (int which = 0; which < 2; ++which) {
            for (int r = 0; r < 4; ++r) {
                const element_place at = operand_place(lane, r, which);
                operands.a[at.row][at.col] = half_value(from.a[r], which, type);
            }
            for (int r = 0; r < 2; ++r) operands.b[2 * (lane % 4) + which + 8 * r][lane / 4] = half_value(from.b[r], which, type);
        }
        for (int n = 0; n < 4; ++n) sum_at(lane, n) = from.c[n];
    }
    multiply_accumulate(operands, 16, 8, true, sums.data(), type);
    for (int lane = 0; lane < 32; ++lane)
        for (int n = 0; n < 4; ++n) static_cast<const lane_operands*>(all[lane])->d[n] = sum_at(lane, n);
}

}  // namespace

void multiply_in_warp(float* d, const uint32_t (&a)[4], const uint32_t (&b)[2], const float* c, bool bf16) {
    lane_operands mine{d, a, b, c, bf16};
    meet_warp(bf16 ? "mma.sync.bf16" : "mma.sync.f16", multiply_warp, &mine);
    the().current->time += kCycles;
}

}  // namespace tk::sim

// SPDX-License-Identifier: MIT
// MFMA on the simulator.
#pragma once

#include "tk/hip/gfx9/word.h"
#include "tk/sim/engine.h"

namespace tk::sim {

/// runtime/sim/mfma.cpp: k is 16 or 32.
void mfma(const char* what, float* d, const uint32_t* a, const uint32_t* b, int k, bool bf16);

template <class Operand, class Sums>
void mfma(const char* what, Sums& d, const Operand& a, const Operand& b, bool bf16) {
    float sums[4];
    uint32_t left[4], right[4];
    __builtin_memcpy(sums, &d, sizeof d);
    __builtin_memcpy(left, &a, sizeof a);
    __builtin_memcpy(right, &b, sizeof b);
    mfma(what, sums, left, right, int(sizeof a) * 2, bf16);
    __builtin_memcpy(&d, sums, sizeof d);
}

}  // namespace tk::sim

namespace tk::gfx9 {

TK_DEVICE void mfma_16x16x16_bf16(sums4& d, words2 a, words2 b) { sim::mfma("v_mfma_f32_16x16x16_bf16", d, a, b, true); }
TK_DEVICE void mfma_16x16x16_f16(sums4& d, words2 a, words2 b) { sim::mfma("v_mfma_f32_16x16x16_f16", d, a, b, false); }

}  // namespace tk::gfx9

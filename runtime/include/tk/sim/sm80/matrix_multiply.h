// SPDX-License-Identifier: MIT
// mma.sync on the simulator: the lanes of a warp meet, and all get their part of the result.
#pragma once

#include "tk/platform.h"

namespace tk::sim {

// runtime/sim/warp_product.cpp
void multiply_in_warp(float* d, const uint32_t (&a)[4], const uint32_t (&b)[2], const float* c, bool bf16);

}  // namespace tk::sim

namespace tk::sm80 {

TK_DEVICE void mma_16x8x16_bf16(float* d, const uint32_t (&a)[4], const uint32_t (&b)[2], const float* c) {
    sim::multiply_in_warp(d, a, b, c, true);
}
TK_DEVICE void mma_16x8x16_f16(float* d, const uint32_t (&a)[4], const uint32_t (&b)[2], const float* c) {
    sim::multiply_in_warp(d, a, b, c, false);
}

}  // namespace tk::sm80

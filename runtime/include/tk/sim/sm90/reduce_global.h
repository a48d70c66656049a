// SPDX-License-Identifier: MIT
// red of vectors and of bf16 on the simulator: one atomic access each.
#pragma once

#include "tk/platform.h"
#include "tk/sim/sm80/reduce_global.h"

namespace tk::sm90 {

TK_DEVICE void red_add_f32x2(float* p, float x, float y) {
    const float values[] = {x, y};
    sim::reduce_add(p, sim::reduce_f32, values, 2);
}
TK_DEVICE void red_add_f32x4(float* p, float x, float y, float z, float w) {
    const float values[] = {x, y, z, w};
    sim::reduce_add(p, sim::reduce_f32, values, 4);
}
TK_DEVICE void red_add_bf16(void* p, uint16_t bits) { sim::reduce_add(p, sim::reduce_bf16, &bits, 1); }

}  // namespace tk::sm90

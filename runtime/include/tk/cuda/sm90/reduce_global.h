// SPDX-License-Identifier: MIT
// red of vectors of f32, aligned to their 8 or 16 bytes, and of bf16.
#pragma once

#include "tk/platform.h"

#ifdef TK_SIM
#include "tk/sim/sm90/reduce_global.h"
#else

namespace tk::sm90 {

TK_DEVICE void red_add_f32x2(float* p, float x, float y) {
    TK_PTX("red.relaxed.gpu.global.add.v2.f32 [%0], {%1, %2};" ::"l"(p), "f"(x), "f"(y) : "memory");
}

TK_DEVICE void red_add_f32x4(float* p, float x, float y, float z, float w) {
    TK_PTX("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(p), "f"(x), "f"(y), "f"(z), "f"(w) : "memory");
}

TK_DEVICE void red_add_bf16(void* p, uint16_t bits) {
    TK_PTX("red.relaxed.gpu.global.add.noftz.bf16 [%0], %1;" ::"l"(p), "h"(bits) : "memory");
}

}  // namespace tk::sm90

#endif

// SPDX-License-Identifier: MIT
// red: adds into global memory, returning nothing. Vector forms need 8- or 16-byte alignment.
#pragma once

#include "tk/platform.h"
#ifdef TK_SIM
#pragma GCC system_header
#endif

namespace tk::sm90 {

TK_DEVICE void red_add_f32(float* p, float x) { TK_PTX("red.relaxed.gpu.global.add.f32 [%0], %1;" ::"l"(p), "f"(x) : "memory"); }

TK_DEVICE void red_add_f32x2(float* p, float x, float y) {
    TK_PTX("red.relaxed.gpu.global.add.v2.f32 [%0], {%1, %2};" ::"l"(p), "f"(x), "f"(y) : "memory");
}

TK_DEVICE void red_add_f32x4(float* p, float x, float y, float z, float w) {
    TK_PTX("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(p), "f"(x), "f"(y), "f"(z), "f"(w) : "memory");
}

TK_DEVICE void red_add_bf16(void* p, uint16_t bits) {
    TK_PTX("red.relaxed.gpu.global.add.noftz.bf16 [%0], %1;" ::"l"(p), "h"(bits) : "memory");
}

TK_DEVICE void red_add_f16(void* p, uint16_t bits) {
    TK_PTX("red.relaxed.gpu.global.add.noftz.f16 [%0], %1;" ::"l"(p), "h"(bits) : "memory");
}

TK_DEVICE void red_add_s32(void* p, int x) { TK_PTX("red.relaxed.gpu.global.add.s32 [%0], %1;" ::"l"(p), "r"(x) : "memory"); }

}  // namespace tk::sm90

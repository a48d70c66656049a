// SPDX-License-Identifier: MIT
// red: combines with global memory, returning nothing; atom: returns what was there.
#pragma once

#include "tk/platform.h"

#ifdef TK_SIM
#include "tk/sim/sm80/reduce_global.h"
#else

namespace tk::sm80 {

TK_DEVICE void red_add_f32(float* p, float x) { TK_PTX("red.relaxed.gpu.global.add.f32 [%0], %1;" ::"l"(p), "f"(x) : "memory"); }

TK_DEVICE void red_add_f16(void* p, uint16_t bits) {
    TK_PTX("red.relaxed.gpu.global.add.noftz.f16 [%0], %1;" ::"l"(p), "h"(bits) : "memory");
}

TK_DEVICE void red_add_s32(void* p, int x) { TK_PTX("red.relaxed.gpu.global.add.s32 [%0], %1;" ::"l"(p), "r"(x) : "memory"); }

TK_DEVICE void red_max_s32(void* p, int x) { TK_PTX("red.relaxed.gpu.global.max.s32 [%0], %1;" ::"l"(p), "r"(x) : "memory"); }
TK_DEVICE void red_min_s32(void* p, int x) { TK_PTX("red.relaxed.gpu.global.min.s32 [%0], %1;" ::"l"(p), "r"(x) : "memory"); }
TK_DEVICE void red_add_u32(void* p, uint32_t x) { TK_PTX("red.relaxed.gpu.global.add.u32 [%0], %1;" ::"l"(p), "r"(x) : "memory"); }
TK_DEVICE void red_max_u32(void* p, uint32_t x) { TK_PTX("red.relaxed.gpu.global.max.u32 [%0], %1;" ::"l"(p), "r"(x) : "memory"); }
TK_DEVICE void red_min_u32(void* p, uint32_t x) { TK_PTX("red.relaxed.gpu.global.min.u32 [%0], %1;" ::"l"(p), "r"(x) : "memory"); }
TK_DEVICE void red_add_u64(void* p, uint64_t x) { TK_PTX("red.relaxed.gpu.global.add.u64 [%0], %1;" ::"l"(p), "l"(x) : "memory"); }
TK_DEVICE void red_max_s64(void* p, int64_t x) { TK_PTX("red.relaxed.gpu.global.max.s64 [%0], %1;" ::"l"(p), "l"(x) : "memory"); }
TK_DEVICE void red_min_s64(void* p, int64_t x) { TK_PTX("red.relaxed.gpu.global.min.s64 [%0], %1;" ::"l"(p), "l"(x) : "memory"); }
TK_DEVICE void red_max_u64(void* p, uint64_t x) { TK_PTX("red.relaxed.gpu.global.max.u64 [%0], %1;" ::"l"(p), "l"(x) : "memory"); }
TK_DEVICE void red_min_u64(void* p, uint64_t x) { TK_PTX("red.relaxed.gpu.global.min.u64 [%0], %1;" ::"l"(p), "l"(x) : "memory"); }

/// What the memory held before x was added. Who uses it waits for it.
TK_DEVICE int fetch_add_s32(void* p, int x) {
    int held;
    TK_PTX("atom.relaxed.gpu.global.add.s32 %0, [%1], %2;" : "=r"(held) : "l"(p), "r"(x) : "memory");
    return held;
}

/// ld.relaxed: what may be changed atomically at the same time.
TK_DEVICE uint16_t load_relaxed_b16(const void* p) {
    uint16_t held;
    TK_PTX("ld.relaxed.gpu.global.b16 %0, [%1];" : "=h"(held) : "l"(p) : "memory");
    return held;
}

/// Stores `desired` if the memory holds `expected`; what it held either way.
TK_DEVICE uint16_t compare_and_swap_b16(void* p, uint16_t expected, uint16_t desired) {
    uint16_t held;
    TK_PTX("atom.relaxed.gpu.global.cas.b16 %0, [%1], %2, %3;" : "=h"(held) : "l"(p), "h"(expected), "h"(desired) : "memory");
    return held;
}

}  // namespace tk::sm80

#endif

// SPDX-License-Identifier: MIT
// red and atom on the simulator: one atomic access each. f32 additions flush subnormals, 16-bit ones do not.
#pragma once

#include "tk/platform.h"
#include "tk/sim/engine.h"

namespace tk::sim {

// runtime/sim/atomics.cpp: `count` neighbouring elements of a tk_dtype.
void reduce_add(void* p, int dtype, const void* values, int count);
void reduce_max(void* p, int dtype, const void* value);
void reduce_min(void* p, int dtype, const void* value);
uint16_t compare_and_swap(void* p, uint16_t expected, uint16_t desired);
int fetch_add(void* p, int x);

// Numbers of tk_dtype (tk/host/abi.h).
inline constexpr int reduce_bf16 = 0, reduce_f16 = 1, reduce_f32 = 2, reduce_i32 = 3, reduce_u32 = 4, reduce_i64 = 5, reduce_u64 = 6;

}  // namespace tk::sim

namespace tk::sm80 {

TK_DEVICE void red_add_f32(float* p, float x) { sim::reduce_add(p, sim::reduce_f32, &x, 1); }
TK_DEVICE void red_add_f16(void* p, uint16_t bits) { sim::reduce_add(p, sim::reduce_f16, &bits, 1); }
TK_DEVICE void red_add_s32(void* p, int x) { sim::reduce_add(p, sim::reduce_i32, &x, 1); }
TK_DEVICE void red_max_s32(void* p, int x) { sim::reduce_max(p, sim::reduce_i32, &x); }
TK_DEVICE void red_min_s32(void* p, int x) { sim::reduce_min(p, sim::reduce_i32, &x); }
TK_DEVICE void red_add_u32(void* p, uint32_t x) { sim::reduce_add(p, sim::reduce_u32, &x, 1); }
TK_DEVICE void red_max_u32(void* p, uint32_t x) { sim::reduce_max(p, sim::reduce_u32, &x); }
TK_DEVICE void red_min_u32(void* p, uint32_t x) { sim::reduce_min(p, sim::reduce_u32, &x); }
TK_DEVICE void red_add_u64(void* p, uint64_t x) { sim::reduce_add(p, sim::reduce_u64, &x, 1); }
TK_DEVICE void red_max_s64(void* p, int64_t x) { sim::reduce_max(p, sim::reduce_i64, &x); }
TK_DEVICE void red_min_s64(void* p, int64_t x) { sim::reduce_min(p, sim::reduce_i64, &x); }
TK_DEVICE void red_max_u64(void* p, uint64_t x) { sim::reduce_max(p, sim::reduce_u64, &x); }
TK_DEVICE void red_min_u64(void* p, uint64_t x) { sim::reduce_min(p, sim::reduce_u64, &x); }

TK_DEVICE int fetch_add_s32(void* p, int x) { return sim::fetch_add(p, x); }

TK_DEVICE uint16_t load_relaxed_b16(const void* p) {
    uint16_t held = 0;
    const auto read = [](void* place, void* to) { __builtin_memcpy(to, place, sizeof(uint16_t)); };
    sim::atomic_global(const_cast<void*>(p), sizeof held, read, &held);
    return held;
}
TK_DEVICE uint16_t compare_and_swap_b16(void* p, uint16_t expected, uint16_t desired) {
    return sim::compare_and_swap(p, expected, desired);
}

}  // namespace tk::sm80

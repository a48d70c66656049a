// SPDX-License-Identifier: MIT
// One value or a few neighbours combined with global memory, atomically. Nothing is returned, so it happens in L2.
#pragma once

#include "tk/arch.h"
#include "tk/types/dtype.h"

#if TK_HAS_SM90
#include "tk/cuda/sm90/reduce_global.h"
#endif

namespace tk::detail {

TK_DEVICE void add_global(float* p, float x) { arch::red_add_f32(p, x); }
TK_DEVICE void add_global(f16* p, f16 x) { arch::red_add_f16(p, x.bits); }
TK_DEVICE void add_global(int* p, int x) { arch::red_add_s32(p, x); }
TK_DEVICE void add_global(uint32_t* p, uint32_t x) { arch::red_add_u32(p, x); }
TK_DEVICE void add_global(int64_t* p, int64_t x) { arch::red_add_u64(p, uint64_t(x)); }
TK_DEVICE void add_global(uint64_t* p, uint64_t x) { arch::red_add_u64(p, x); }

TK_DEVICE void max_global(int* p, int x) { arch::red_max_s32(p, x); }
TK_DEVICE void min_global(int* p, int x) { arch::red_min_s32(p, x); }
TK_DEVICE void max_global(uint32_t* p, uint32_t x) { arch::red_max_u32(p, x); }
TK_DEVICE void min_global(uint32_t* p, uint32_t x) { arch::red_min_u32(p, x); }
TK_DEVICE void max_global(int64_t* p, int64_t x) { arch::red_max_s64(p, x); }
TK_DEVICE void min_global(int64_t* p, int64_t x) { arch::red_min_s64(p, x); }
TK_DEVICE void max_global(uint64_t* p, uint64_t x) { arch::red_max_u64(p, x); }
TK_DEVICE void min_global(uint64_t* p, uint64_t x) { arch::red_min_u64(p, x); }

// Floats order like their bits: the positive ones upwards, the negative ones downwards. A NaN is ignored; in memory,
// which begins as the preset, only sums can have left one.
TK_DEVICE void max_global(float* p, float x) {
    const int bits = __builtin_bit_cast(int, x);
    if (x != x) return;
    if (bits >= 0) arch::red_max_s32(p, bits);
    else arch::red_min_u32(p, uint32_t(bits));
}
TK_DEVICE void min_global(float* p, float x) {
    const int bits = __builtin_bit_cast(int, x);
    if (x != x) return;
    if (bits >= 0) arch::red_min_s32(p, bits);
    else arch::red_max_u32(p, uint32_t(bits));
}

/// Where there is no instruction for 16-bit floats: memory becomes `next` of what it holds; tried until nobody came between.
template <class T, class F>
    requires is_half<T>
TK_DEVICE void replace_global(T* p, F next) {
    T held;
    held.bits = arch::load_relaxed_b16(p);
    while (true) {
        const T wanted = next(held);
        if (wanted.bits == held.bits) return;
        const uint16_t found = arch::compare_and_swap_b16(p, held.bits, wanted.bits);
        if (found == held.bits) return;
        held.bits = found;
    }
}
/// The better of two, by value: a NaN loses.
template <class T, class F>
    requires is_half<T>
TK_DEVICE void keep_better_global(T* p, T x, F is_better) {
    const float value = float(x);
    replace_global(p, [&](T held) { return is_better(value, float(held)) || (float(held) != float(held) && value == value) ? x : held; });
}
template <class T>
    requires is_half<T>
TK_DEVICE void max_global(T* p, T x) { keep_better_global(p, x, [](float a, float b) { return a > b; }); }
template <class T>
    requires is_half<T>
TK_DEVICE void min_global(T* p, T x) { keep_better_global(p, x, [](float a, float b) { return a < b; }); }

TK_DEVICE void add_global(bf16* p, bf16 x) {
#if TK_HAS_SM90
    sm90::red_add_bf16(p, x.bits);
#elif defined(TK_GFX)
    arch::red_add_bf16(p, x.bits);
#else
    replace_global(p, [&](bf16 held) { return bf16(float(held) + float(x)); });
#endif
}

/// V neighbours, aligned to their size.
template <int V>
TK_DEVICE void add_global_vector(float* p, const float* x) {
    static_assert(V == 1 || V == 2 || V == 4);
#if TK_HAS_SM90
    if constexpr (V == 4) sm90::red_add_f32x4(p, x[0], x[1], x[2], x[3]);
    else if constexpr (V == 2) sm90::red_add_f32x2(p, x[0], x[1]);
    else arch::red_add_f32(p, x[0]);
#else
    TK_UNROLL
    for (int e = 0; e < V; ++e) arch::red_add_f32(p + e, x[e]);
#endif
}

}  // namespace tk::detail

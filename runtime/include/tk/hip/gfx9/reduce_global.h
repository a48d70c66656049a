// SPDX-License-Identifier: MIT
// Atomics on global memory that return nothing: global_atomic_add and the like.
#pragma once

#include "tk/platform.h"

#ifdef TK_SIM
#include "tk/sim/gfx9/reduce_global.h"
#else

namespace tk::gfx9 {

namespace detail {
template <class T>
using global_pointer = __attribute__((address_space(1))) T*;

/// The aligned word around a 16-bit element; -0 is added to the neighbour, which leaves every value as it is.
TK_DEVICE uint32_t beside_minus_zero(const void* p, uint16_t bits) {
    return reinterpret_cast<uint64_t>(p) & 2 ? uint32_t(bits) << 16 | 0x8000u : 0x80000000u | bits;
}
TK_DEVICE void* word_around(void* p) { return reinterpret_cast<void*>(reinterpret_cast<uint64_t>(p) & ~uint64_t(3)); }
}  // namespace detail

/// global_atomic_add_f32
TK_DEVICE void red_add_f32(float* p, float x) {
    (void)__builtin_amdgcn_global_atomic_fadd_f32((detail::global_pointer<float>)(p), x);
}

/// global_atomic_pk_add_bf16, global_atomic_pk_add_f16
TK_DEVICE void red_add_bf16(void* p, uint16_t bits) {
    using pair = short __attribute__((ext_vector_type(2)));
    const pair x = __builtin_bit_cast(pair, detail::beside_minus_zero(p, bits));
    (void)__builtin_amdgcn_global_atomic_fadd_v2bf16((detail::global_pointer<pair>)(detail::word_around(p)), x);
}
TK_DEVICE void red_add_f16(void* p, uint16_t bits) {
    using pair = _Float16 __attribute__((ext_vector_type(2)));
    const pair x = __builtin_bit_cast(pair, detail::beside_minus_zero(p, bits));
    (void)__builtin_amdgcn_global_atomic_fadd_v2f16((detail::global_pointer<pair>)(detail::word_around(p)), x);
}

// global_atomic_add, _smax, _smin, _umax, _umin and their _x2.
#define TK_ATOMIC(OPERATION) (void)__hip_atomic_fetch_##OPERATION(static_cast<decltype(x)*>(p), x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
TK_DEVICE void red_add_s32(void* p, int x) { TK_ATOMIC(add); }
TK_DEVICE void red_max_s32(void* p, int x) { TK_ATOMIC(max); }
TK_DEVICE void red_min_s32(void* p, int x) { TK_ATOMIC(min); }
TK_DEVICE void red_add_u32(void* p, uint32_t x) { TK_ATOMIC(add); }
TK_DEVICE void red_max_u32(void* p, uint32_t x) { TK_ATOMIC(max); }
TK_DEVICE void red_min_u32(void* p, uint32_t x) { TK_ATOMIC(min); }
TK_DEVICE void red_add_u64(void* p, uint64_t x) { TK_ATOMIC(add); }
TK_DEVICE void red_max_s64(void* p, int64_t x) { TK_ATOMIC(max); }
TK_DEVICE void red_min_s64(void* p, int64_t x) { TK_ATOMIC(min); }
TK_DEVICE void red_max_u64(void* p, uint64_t x) { TK_ATOMIC(max); }
TK_DEVICE void red_min_u64(void* p, uint64_t x) { TK_ATOMIC(min); }
#undef TK_ATOMIC

/// What another thread may be changing.
TK_DEVICE uint16_t load_relaxed_b16(const void* p) {
    return __hip_atomic_load(static_cast<const uint16_t*>(p), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

/// Stores `desired` if `expected` is there; returns what was there. The machine has 32 bits: the compiler makes a loop.
TK_DEVICE uint16_t compare_and_swap_b16(void* p, uint16_t expected, uint16_t desired) {
    __hip_atomic_compare_exchange_strong(static_cast<uint16_t*>(p), &expected, desired, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                         __HIP_MEMORY_SCOPE_AGENT);
    return expected;
}

}  // namespace tk::gfx9

#endif

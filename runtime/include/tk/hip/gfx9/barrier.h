// SPDX-License-Identifier: MIT
// The one barrier of a workgroup, and the counters of what is outstanding. The barrier waits for no memory: what must be
// complete in front of it is waited for in front of it.
#pragma once

#include "tk/platform.h"

#ifdef TK_SIM
#include "tk/sim/gfx9/barrier.h"
#else

namespace tk::gfx9 {

/// s_barrier: all waves of the block.
TK_DEVICE void barrier() {
    asm volatile("" ::: "memory");
    __builtin_amdgcn_s_barrier();
    asm volatile("" ::: "memory");
}

/// s_waitcnt vmcnt(N): at most the newest N vector memory instructions of this wave (copies, loads, stores) are unfinished.
template <int N>
TK_DEVICE void wait_vector_memory() {
    static_assert(N >= 0 && N < 64, "the counter has six bits");
    asm volatile("" ::: "memory");
    __builtin_amdgcn_s_waitcnt((N & 15) | (N >> 4) << 14 | 0x0f70);
    asm volatile("" ::: "memory");
}

/// s_waitcnt lgkmcnt(N): at most the newest N accesses to shared memory are unfinished. With scalar loads outstanding only 0 counts.
template <int N>
TK_DEVICE void wait_shared_memory() {
    static_assert(N >= 0 && N < 16, "the counter has four bits");
    asm volatile("" ::: "memory");
    __builtin_amdgcn_s_waitcnt(N << 8 | 0xc07f);
    asm volatile("" ::: "memory");
}

/// s_setprio: 0 (as started) to 3; the scheduler of a SIMD prefers the wave with the highest.
template <int N>
TK_DEVICE void set_priority() { __builtin_amdgcn_s_setprio(N); }

/// No instruction: the compiler moves none across.
TK_DEVICE void schedule_barrier() { __builtin_amdgcn_sched_barrier(0); }

/// Kinds of instructions, by the compiler's number.
enum class scheduled { scalars = 4, products = 8, shared_loads = 0x100 };
/// No instruction: N of this kind come next in the order that the calls in a straight run of code ask for.
template <scheduled Kind, int N>
TK_DEVICE void schedule_group() { __builtin_amdgcn_sched_group_barrier(int(Kind), N, 0); }

}  // namespace tk::gfx9

#endif

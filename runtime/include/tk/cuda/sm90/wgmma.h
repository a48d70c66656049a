// SPDX-License-Identifier: MIT
// wgmma: D[64, N] += A[64, 16] * B[16, N] by one warpgroup, f32 accumulators, bf16 or f16 operands.
// A comes from shared memory or registers, B from shared memory. The products run asynchronously: `fence`
// before the first one after registers were touched, then `commit`, and `wait` before reading D.
// The shapes, N = 8 to 256, come from wgmma_shapes.inc, written by tools/generate_wgmma.
#pragma once

#include "tk/platform.h"

#ifdef TK_SIM
#include "tk/sim/sm90/wgmma.h"
#else

namespace tk::sm90 {

/// Orders ordinary register accesses before the wgmma that follow.
TK_DEVICE void wgmma_fence() { TK_PTX("wgmma.fence.sync.aligned;" ::: "memory"); }

/// Closes a group of wgmma.
TK_DEVICE void wgmma_commit_group() { TK_PTX("wgmma.commit_group.sync.aligned;" ::: "memory"); }

/// Waits until at most the newest N groups are unfinished.
template <int N>
TK_DEVICE void wgmma_wait_group() {
    TK_PTX("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}

/// wgmma<N>::shared and ::registers. `d` holds the thread's N / 2 accumulators; `accumulate` 0 overwrites
/// them. SignA is 1 or -1; a transposition flag is 1 when M (or N) is contiguous in memory, 0 when K is.
template <int N>
struct wgmma;

#define TK_WGMMA_SHAPE(N, P0, P1, P2, P3, P4, P5, P6, P7)                                                              \
    template <>                                                                                                        \
    struct wgmma<N> {                                                                                                  \
        template <bool Bf16, int SignA, int TransposeA, int TransposeB>                                                \
        static TK_DEVICE void shared(float* d, uint64_t a, uint64_t b, int accumulate) {                               \
            if constexpr (Bf16) TK_WGMMA_SHARED(N, "bf16", P0, P1, P2, P3, P4, P5);                                    \
            else TK_WGMMA_SHARED(N, "f16", P0, P1, P2, P3, P4, P5);                                                    \
        }                                                                                                              \
        template <bool Bf16, int SignA, int TransposeB>                                                                \
        static TK_DEVICE void registers(float* d, const uint32_t (&a)[4], uint64_t b, int accumulate) {                \
            if constexpr (Bf16) TK_WGMMA_REGISTERS(N, "bf16", P0, P1, P2, P3, P4, P5, P6, P7);                         \
            else TK_WGMMA_REGISTERS(N, "f16", P0, P1, P2, P3, P4, P5, P6, P7);                                         \
        }                                                                                                              \
    };

#define TK_WGMMA_SHARED(N, TYPE, P0, P1, P2, P3, P4, P5)                                                               \
    TK_PTX("{\n.reg .pred p;\nsetp.ne.b32 p, " P2 ", 0;\n"                                                             \
           "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." TYPE "." TYPE " {" TK_WGMMA_NAMES_##N "}, " P0 ", " P1    \
           ", p, " P3 ", 1, " P4 ", " P5 ";\n}"                                                                        \
           : TK_WGMMA_VALUES_##N                                                                                       \
           : "l"(a), "l"(b), "r"(accumulate), "n"(SignA), "n"(TransposeA), "n"(TransposeB))

#define TK_WGMMA_REGISTERS(N, TYPE, P0, P1, P2, P3, P4, P5, P6, P7)                                                    \
    TK_PTX("{\n.reg .pred p;\nsetp.ne.b32 p, " P5 ", 0;\n"                                                             \
           "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." TYPE "." TYPE " {" TK_WGMMA_NAMES_##N "}, {" P0 ", " P1   \
           ", " P2 ", " P3 "}, " P4 ", p, " P6 ", 1, " P7 ";\n}"                                                       \
           : TK_WGMMA_VALUES_##N                                                                                       \
           : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate), "n"(SignA), "n"(TransposeB))

#include "tk/cuda/sm90/wgmma_shapes.inc"

#undef TK_WGMMA_SHAPE
#undef TK_WGMMA_SHARED
#undef TK_WGMMA_REGISTERS

}  // namespace tk::sm90

#endif

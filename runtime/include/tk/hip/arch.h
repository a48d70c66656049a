// SPDX-License-Identifier: MIT
// What generic headers ask of an architecture (tk/arch.h) and CDNA does by several instructions, or by another.
#pragma once

#include "tk/hip/gfx9/barrier.h"
#include "tk/hip/gfx9/convert.h"
#include "tk/hip/gfx9/global_memory.h"
#include "tk/hip/gfx9/math.h"
#include "tk/hip/gfx9/reduce_global.h"
#include "tk/hip/gfx9/shared_counter.h"
#include "tk/hip/gfx9/shared_memory.h"
#include "tk/hip/gfx9/special_registers.h"
#include "tk/hip/gfx9/warp.h"
#if TK_HAS_GFX950
#include "tk/hip/gfx950/warp.h"
#endif

namespace tk::gfx9 {

/// All threads of the block. What they did to shared memory before is complete: the barrier itself waits for nothing.
TK_DEVICE void block_sync() {
    wait_shared_memory<0>();
    barrier();
}

/// There is one barrier: whoever names another one means all threads of the block.
TK_DEVICE void named_barrier_sync(int, int) { block_sync(); }

/// What the lanes of a wave did to shared memory is complete.
TK_DEVICE void warp_sync() {
    wait_shared_memory<0>();
#ifdef TK_SIM
    sim::sync_warp();
#endif
}

/// The value of lane `lane ^ mask`; by moves between registers where they exist, and `mask` is known after inlining.
TK_DEVICE uint32_t shuffle_xor(uint32_t value, int mask) {
    switch (mask) {
        case 1: return move_dpp<0xb1>(value);   // quad_perm 1 0 3 2
        case 2: return move_dpp<0x4e>(value);   // quad_perm 2 3 0 1
        case 4: return swizzle_xor<4>(value);
        case 8: return move_dpp<0x128>(value);  // half a row of 16
#if TK_HAS_GFX950
        case 16: {
            uint32_t x = value, y = value;
            gfx950::swap_rows_16(x, y);
            return thread_index() & 16 ? x : y;
        }
        case 32: {
            uint32_t x = value, y = value;
            gfx950::swap_rows_32(x, y);
            return thread_index() & 32 ? x : y;
        }
#else
        case 16: return swizzle_xor<16>(value);
#endif
        default: return shuffle_lane(value, (thread_index() % lanes) ^ mask);
    }
}

}  // namespace tk::gfx9

// SPDX-License-Identifier: MIT
// gfx950's wide copy from a buffer into shared memory.
#pragma once

#include "tk/hip/gfx9/buffer.h"

#ifdef TK_SIM
#include "tk/sim/gfx950/buffer.h"
#else

namespace tk::gfx950 {

/// buffer_load_dwordx4 .. lds: 16 bytes of lane l go to shared memory at `to` + 16 l; otherwise as gfx9::copy_buffer_to_shared_b32.
TK_DEVICE void copy_buffer_to_shared_b128(uint32_t to, const gfx9::buffer& from, uint32_t offset, uint32_t more) {
    asm volatile("s_nop 4\n\tbuffer_load_dwordx4 %0, %1, %2 offen lds"
                 :
                 : "v"(offset), "s"(from.words), "s"(__builtin_amdgcn_readfirstlane(int(more))), "{m0}"(__builtin_amdgcn_readfirstlane(int(to)))
                 : "memory");
}

}  // namespace tk::gfx950

#endif

// SPDX-License-Identifier: MIT
// cp.async: a thread's copies from global to shared memory, past the registers. They run on their own; a thread closes
// groups of them and waits until all but the newest are complete, and then only it sees the data: others behind a barrier.
#pragma once

#include "tk/platform.h"

#ifdef TK_SIM
#include "tk/sim/sm80/async_copy.h"
#else

namespace tk::sm80 {

/// 4, 8 or 16 bytes, both addresses multiples of that. What follows the first `existing` bytes arrives as zeros; with 0 of
/// them `from` is not read.
template <int Bytes>
TK_DEVICE void copy_async(uint32_t to, const void* from, uint32_t existing) {
    static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16);
    if constexpr (Bytes == 16)
        TK_PTX("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(__cvta_generic_to_global(from)), "r"(existing) : "memory");
    else
        TK_PTX("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(__cvta_generic_to_global(from)), "n"(Bytes), "r"(existing) : "memory");
}

/// 16 bytes, both addresses multiples of that; zeros, and `from` is not read, where `exists` is false.
TK_DEVICE void copy_async_or_zeros(uint32_t to, const void* from, bool exists) {
    TK_PTX("{\n\t.reg .pred missing;\n\tsetp.eq.u32 missing, %2, 0;\n\tcp.async.cg.shared.global.L2::128B [%0], [%1], 16, missing;\n\t}" ::"r"(to),
           "l"(__cvta_generic_to_global(from)), "r"(uint32_t(exists))
           : "memory");
}

/// Closes a group of this thread's copies.
TK_DEVICE void copy_async_commit() { TK_PTX("cp.async.commit_group;" ::: "memory"); }

/// Waits until at most the newest N groups of this thread are unfinished.
template <int N>
TK_DEVICE void copy_async_wait() {
    TK_PTX("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

}  // namespace tk::sm80

#endif

// SPDX-License-Identifier: MIT
// A counter in shared memory that goes round, by which waves wait for each other: what CDNA has in place of mbarriers. It lies in eight
// bytes: its number, and the last number that it takes before 0.
#pragma once

#include "tk/hip/gfx9/shared_memory.h"

#ifdef TK_SIM
#include "tk/sim/gfx9/shared_counter.h"
#else

namespace tk::gfx9 {

/// ds_write_b64, by one lane.
TK_DEVICE void counter_start(uint32_t counter, uint32_t last) { store_shared(counter, uint64_t(last) << 32); }

/// ds_inc_u32: one on, and to 0 behind `last`. Shared memory executes what a wave asks of it in order.
TK_DEVICE void counter_step(uint32_t counter, uint32_t last) {
    asm volatile("ds_inc_u32 %0, %1" ::"v"(counter), "v"(last) : "memory");
}

/// ds_read_b32: the number as it is now.
TK_DEVICE uint32_t counter_read(uint32_t counter) {
    return *detail::shared_pointer<const volatile uint32_t>(counter);
}
/// ds_read_b32: the last one, which does not change.
TK_DEVICE uint32_t counter_last(uint32_t counter) { return load_shared<uint32_t>(counter + 4); }

/// s_sleep: 64 N cycles in which the wave takes no place at the scheduler.
template <int N>
TK_DEVICE void sleep() { __builtin_amdgcn_s_sleep(N); }

}  // namespace tk::gfx9

#endif

// SPDX-License-Identifier: MIT
// cp.async on the simulator: asynchronous operations of their lane.
#pragma once

#include "tk/platform.h"
#include "tk/sim/engine.h"

namespace tk::sim {

// runtime/sim/async_copy.cpp
void copy_to_shared(uint32_t to, const void* from, int bytes, uint32_t existing);

}  // namespace tk::sim

namespace tk::sm80 {

template <int Bytes>
TK_DEVICE void copy_async(uint32_t to, const void* from, uint32_t existing) {
    static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16);
    sim::copy_to_shared(to, from, Bytes, existing);
}

TK_DEVICE void copy_async_or_zeros(uint32_t to, const void* from, bool exists) { sim::copy_to_shared(to, from, 16, exists ? 16 : 0); }

TK_DEVICE void copy_async_commit() { sim::lane_copies_commit(); }

template <int N>
TK_DEVICE void copy_async_wait() {
    sim::lane_copies_wait(N);
}

}  // namespace tk::sm80

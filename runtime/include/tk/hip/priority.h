// SPDX-License-Identifier: MIT
// Priorities of the waves of a SIMD: where one loads while the other multiplies, the products are issued first.
#pragma once

#include "tk/hip/gfx9/barrier.h"
#include "tk/platform.h"

namespace tk::warp {

/// 0 (as started) to 3. No instruction moves from one side of it to the other: products, which touch no memory, stay where they stand
/// between two barriers.
template <int N>
TK_DEVICE void set_priority() {
    gfx9::schedule_barrier();
    gfx9::set_priority<N>();
    gfx9::schedule_barrier();
}

}  // namespace tk::warp

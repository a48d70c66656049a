// SPDX-License-Identifier: MIT
// Where a lane is, on the simulator.
#pragma once

#include "tk/platform.h"
#include "tk/sim/engine.h"

namespace tk::sm80 {

/// Of a warp.
inline constexpr int lanes = 32;

TK_DEVICE int thread_index() { return sim::self().thread; }
TK_DEVICE int block_index() { return sim::self().block; }
TK_DEVICE int block_count() { return sim::self().blocks; }
TK_DEVICE uint64_t clock() { return 0; }  // no result may depend on it

}  // namespace tk::sm80

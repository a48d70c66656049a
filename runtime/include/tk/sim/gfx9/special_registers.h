// SPDX-License-Identifier: MIT
// Where a lane is, on the simulator.
#pragma once

#include "tk/platform.h"
#include "tk/sim/engine.h"

namespace tk::gfx9 {

inline constexpr int lanes = 64;

TK_DEVICE int thread_index() { return sim::self().thread; }
TK_DEVICE int block_index() { return sim::self().block; }
TK_DEVICE int block_count() { return sim::self().blocks; }

}  // namespace tk::gfx9

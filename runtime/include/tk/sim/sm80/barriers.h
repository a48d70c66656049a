// SPDX-License-Identifier: MIT
// Barriers of warp and block on the simulator.
#pragma once

#include "tk/platform.h"
#include "tk/sim/engine.h"

namespace tk::sm80 {

TK_DEVICE void named_barrier_sync(int id, int threads) { sim::sync_named(id, threads); }
TK_DEVICE void named_barrier_arrive(int id, int threads) { sim::arrive_named(id, threads); }
TK_DEVICE void block_sync() { sim::sync_block(); }
TK_DEVICE void warp_sync() { sim::sync_warp(); }

}  // namespace tk::sm80

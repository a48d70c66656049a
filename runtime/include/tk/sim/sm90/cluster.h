// SPDX-License-Identifier: MIT
// A cluster of blocks on the simulator.
#pragma once

#include "tk/platform.h"
#include "tk/sim/engine.h"

namespace tk::sm90 {

TK_DEVICE uint32_t cluster_block_rank() { return uint32_t(sim::self().rank); }
TK_DEVICE uint32_t cluster_index() { return uint32_t(sim::self().block / sim::self().cluster); }
TK_DEVICE uint32_t cluster_count() { return uint32_t(sim::self().blocks / sim::self().cluster); }

TK_DEVICE void cluster_arrive() { sim::cluster_arrive(); }
TK_DEVICE void cluster_arrive_relaxed() { sim::cluster_arrive(false); }
TK_DEVICE void cluster_wait() { sim::cluster_wait(); }

TK_DEVICE uint32_t map_to_block(uint32_t address, uint32_t rank) { return sim::map_to_block(address, rank); }

TK_DEVICE void store_async_b32(uint32_t address, uint32_t word, uint32_t barrier) { sim::store_async(address, &word, 4, barrier); }
TK_DEVICE void store_async_f32x4(uint32_t address, const float (&v)[4], uint32_t barrier) { sim::store_async(address, v, 16, barrier); }

}  // namespace tk::sm90

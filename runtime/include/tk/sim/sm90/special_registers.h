// SPDX-License-Identifier: MIT
// Where a lane is, on the simulator.
#pragma once

#include "tk/platform.h"
#include "tk/sim/engine.h"

namespace tk::sm90 {

TK_DEVICE int thread_index() { return sim::self().thread; }
TK_DEVICE int block_index() { return sim::self().block; }
TK_DEVICE int block_count() { return sim::self().blocks; }
TK_DEVICE uint32_t cluster_block_rank() { return uint32_t(sim::self().rank); }
TK_DEVICE uint32_t cluster_index() { return uint32_t(sim::self().block / sim::self().cluster); }
TK_DEVICE uint32_t cluster_count() { return uint32_t(sim::self().blocks / sim::self().cluster); }

}  // namespace tk::sm90

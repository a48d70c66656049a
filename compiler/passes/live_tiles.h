// SPDX-License-Identifier: MIT
// How many registers of a thread the tiles of a role take where most of them are in use at once.
#pragma once

#include <vector>

#include "compiler/ir/ir.h"

namespace tkc::passes {

/// 32-bit registers a thread for a tile of this type in a warpgroup's registers: an even share of 128 threads of a tile; of a row
/// [1, C] every fourth column, of a column [R, 1] every 32nd row, as each is held by all threads that need it. 0 in shared memory.
int64_t RegistersOf(const ir::Type& type);

struct LiveTiles {
  int64_t registers = 0;
  const ir::Op* where = nullptr;    // the first operation, in program order, beside which as many are in use
  std::vector<ir::ValueId> in_use;  // there, the largest first
};

/// The most registers in use at once: what an operation reads for the last time and what it makes share their registers, as
/// elements are computed one by one. A tile that the next iteration of a loop reads is in use all around the loop.
LiveTiles MostLiveTiles(const ir::Kernel& kernel, const ir::Region& body);

}  // namespace tkc::passes

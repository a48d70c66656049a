// SPDX-License-Identifier: MIT
// Schedule item `spread WORKER = n`: the blocks of a cluster of n take the same tile, and each has an nth of the worker's
// instances, which know by the block's rank who they are. What they send each other through pipes goes to the slots of all blocks
// (insert_sync). Allowed where each of its instances fills a part of every slot and receives all of it, beside workers that load
// what one instance each receives (separate_rings): those of a block load for its own instances. Tile level.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

Result<void> SpreadInstances(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

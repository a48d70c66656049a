// SPDX-License-Identifier: MIT
// Schedule item `split = n`: the blocks of a cluster of n take the same tile, each adds up its part of the loop over blocks, and
// each finishes a part of the tile's columns. Narrows the loop on both sides of the pipes, exchanges the accumulator, and narrows
// what follows the loop. Allowed where the loop only adds products to one tile that starts at zero, and what follows treats columns
// alike. Targets whose blocks do not work together (Target::UsesClusters) get kernels without `split` and `cluster`, which change
// no result (sc-1). Tile level.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

Result<void> SplitSums(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

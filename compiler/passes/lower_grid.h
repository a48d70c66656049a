// SPDX-License-Identifier: MIT
// Turns the grid section into a numbering of tiles: each role gets the loop (or the one tile) it walks and computes its grid
// indices from the tile's number, in the order that the schedule asks for. The numbering is a bijection between 0 .. tiles and the
// grid's blocks; where blocks go to several chiplets in turn, each chiplet's take tiles that lie together.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

Result<void> LowerGrid(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

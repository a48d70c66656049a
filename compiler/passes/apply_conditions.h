// SPDX-License-Identifier: MIT
// What the condition of a schedule set, and the kernel's requirements of the launch, say of its dims: a loop that they leave
// without an iteration goes, a `let` that they leave one value is that value, and a choice by positions that are all on one side of
// a bound is made. Integers of one value are numbers where tiles are computed with them: to divide by a power of two is to
// multiply. A set for short rows so loses the loop over what does not fit registers, and one for rows of exactly a block the test
// for their end. Loops with traffic through pipes stay: both ends of a pipe must go round as often. Loops and branches that leave
// nothing behind, as they are written or by now, go as well, and of a branch that always goes one way that way is left: an index is
// below the end of its loop, and the number of a block is zero where the block begins at zero. A range that ends with its blocks,
// or with the tensor, hides nothing of them: accesses forget it, so that the copy engine may take them. Tile level.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"

namespace tkc::passes {

Result<void> ApplyConditions(ir::Kernel& kernel, Diagnostics& diagnostics);

}  // namespace tkc::passes

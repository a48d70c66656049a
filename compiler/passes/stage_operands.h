// SPDX-License-Identifier: MIT
// Decides where every tile of a computing worker lives: received values stay in their slot (shared memory) and are read from there
// by matrix products; everything else is in registers. Inserts the moves between the two: a load from a slot that is used
// elementwise, and an anonymous staging buffer for a register tile that must be in shared memory (right operand of a product,
// transposition, row part). What is the same in all iterations of a loop is staged in front of it; a variable of which other
// threads take parts, once until it changes. Folds transpositions into reads, positions and stores. Turns products into matrix
// operations. Checks shapes against the matrix unit.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

Result<void> StageOperands(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

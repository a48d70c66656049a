// SPDX-License-Identifier: MIT
// Where copies are folded and a block's buffers are more than its shared memory: buffers that hold something at different times lie
// over each other. It walks the programs as they will be executed and finds, for each tile, from where it is filled to where it is
// read last; what is needed at once keeps places apart. insert_sync lets all meet before one tile is written over another, and the
// certificate shows that nothing of it was still wanted.
//
// Slots of rings, of pipes between workers and the scratch of reductions keep rooms of their own, and so does what some instances
// use where others do not. Reports what does not fit, with the arithmetic.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

Result<void> ShareRoom(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

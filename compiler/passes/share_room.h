// SPDX-License-Identifier: MIT
// Where a block's buffers are more than its shared memory: buffers that hold something at different times lie over each other. It
// walks the programs as they will be executed and finds, for each tile, from where it is filled to where it is read last; what is
// needed at once keeps places apart. insert_sync lets all meet before one tile is written over another, and the certificate shows
// that nothing of it was still wanted.
//
// On a matrix unit that works beside the warps, the operands of a product keep their place until the next one is issued, if there
// is room: of products that follow each other each brings its tiles while the one before it is computed.
//
// Slots of rings, of pipes between workers and the scratch of reductions keep rooms of their own, and so does what some instances
// use where others do not. Reports what does not fit, with the arithmetic.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

/// What the kernel's buffers and barriers take where those that can lie over each other.
int64_t BytesAtOnce(const ir::Kernel& kernel, const Target& target);

/// How much less that is than side by side, in kernels whose slots have barriers and which lack room. 0 in others.
int64_t BytesSaved(const ir::Kernel& kernel, const Target& target);

Result<void> ShareRoom(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

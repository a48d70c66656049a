// SPDX-License-Identifier: MIT
// Chooses how tiles move between global memory and the block.
// Loads of a copy role: the tensor copy engine where shape, clipping and fill allow it, else a guarded copy by the whole warp.
// Stores of a computing role: through a staging chunk where the tile is wide enough, and from it by the copy engine or, behind a
// launch-time flag for tensors that the engine cannot serve, by a guarded copy; narrow tiles by a guarded store from registers.
// Creates the buffers of the pipes, the staging buffers and the tensor maps. Each tile gets the swizzle that serves the
// copy engine and NVIDIA's matrix units (layout::ChooseSwizzle); where waves of 64 lanes load operands, select_swizzle chooses
// again.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

Result<void> SelectTransfer(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

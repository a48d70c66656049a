// SPDX-License-Identifier: MIT
// Conversions in front of moves. What is computed and then turned, or taken in parts that other threads hold, goes through shared
// memory; where only what it is converted to afterwards is used, and that is narrower, it goes there converted:
//
//     t = transpose x : f32[128, 64]               c = convert x : bf16[64, 128]
//     c = convert t : bf16[128, 64]      becomes   t = transpose c : bf16[128, 64]
//
// Each element is converted as before, and takes half of the memory, or less. Tiles that are received or read lie in memory
// already. Tile level.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"

namespace tkc::passes {

Result<void> NarrowMoves(ir::Kernel& kernel, Diagnostics& diagnostics);

}  // namespace tkc::passes

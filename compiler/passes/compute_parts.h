// SPDX-License-Identifier: MIT
// What is computed element by element, and then taken in one part only, is computed of that part of what it is made of:
//
//     x = convert p : f32[128, 64]                      q = part p at w * 64, 0 : bf16[64, 64]
//     y = part x at w * 64, 0 : f32[64, 64]  becomes    y = convert q : f32[64, 64]
//
// Each instance would compute all parts, and take its own through shared memory. Tiles that are received or read lie in memory
// already, where a part is a place; there it ends. Parts whose place is known may stay with their threads, and stay as they are.
// Tile level.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"

namespace tkc::passes {

Result<void> ComputeParts(ir::Kernel& kernel, Diagnostics& diagnostics);

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
// A worker's program on tiles some of which registers hold turned around: reads and stores of tensors turn them, rows are reduced
// where columns were, what the source turns is held as it is.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/passes/turned_tiles.h"

namespace tkc::passes {

void TurnTiles(ir::Kernel& kernel, const TurnedTiles& tiles, ir::Worker& worker);

}  // namespace tkc::passes

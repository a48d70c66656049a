// SPDX-License-Identifier: MIT
// Where blocks of a cluster take neighbouring tiles, the last cluster of an uneven number has blocks past the last tile: they load
// what they share and find nothing in their rows. A store that ends where the range of these rows does stores nothing there; any
// other, as the sum of an element for each tile, gets a condition. Tile level.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

Result<void> GuardPadding(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

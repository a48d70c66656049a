// SPDX-License-Identifier: MIT
// What a block needs to draw its tiles from a counter (`dynamic`): the counter, a scratch tensor that is zero when the kernel
// begins, and a pipe of one number, through which the role that draws hands the next tile to all (insert_sync).
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

Result<void> DrawTiles(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

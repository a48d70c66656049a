// SPDX-License-Identifier: MIT
// A pipe of which a worker holds several values at once becomes several pipes, one for each: which slot a receive brings is known,
// as senders and receivers have the same loops and branches around it, so the slots that meet in one hand can go through pipes of
// their own. Each ring then turns when its only value is done with, and a slot goes back as early as it may. The slots are shared
// out among the pipes. Where the loops or branches of the two ends are not the same, the pipe stays as it is. Tile level.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"

namespace tkc::passes {

/// Whether an instance of the worker receives from the pipe while it holds a value that it has received there.
bool HoldsSeveral(const ir::Kernel& kernel, const ir::Worker& worker, const std::string& pipe);

Result<void> SeparatePipes(ir::Kernel& kernel, Diagnostics& diagnostics);

}  // namespace tkc::passes

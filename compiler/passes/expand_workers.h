// SPDX-License-Identifier: MIT
// Finds the endpoints of every pipe: how many worker instances send to it and receive from it, after specialising the conditions on
// the instance number. Fills Pipe::senders and Pipe::receivers. Tile level.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"

namespace tkc::passes {

Result<void> ExpandWorkers(ir::Kernel& kernel, Diagnostics& diagnostics);

}  // namespace tkc::passes

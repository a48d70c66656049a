// SPDX-License-Identifier: MIT
// Decides who executes each worker on a warp-specialised target: a worker that only reads tensors and sends what it read becomes a
// copy role (one warp of the first warpgroup); every other worker becomes `instances` warpgroups. Numbers the warps.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

/// Only reads, each of which is sent, and control flow.
bool OnlyCopies(const ir::Worker& worker);

Result<void> AssignRoles(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

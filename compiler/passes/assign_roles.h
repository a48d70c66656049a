// SPDX-License-Identifier: MIT
// Decides who executes each worker. A worker that only reads tensors and sends what it read becomes a copy role: one warp of the
// first warpgroup, or where copies are folded (Target::folds_copies) of none, as fold_copies gives them to those who compute. Every
// other worker becomes `instances` warpgroups. Numbers the warps.
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

// SPDX-License-Identifier: MIT
// On targets with bank rules of their own (waves of 64 lanes), the swizzle of every shared tile that warps load operands from, in
// place of the one that select_transfer has given it: the one with which those loads take the fewest clocks of the banks, which for
// most tiles is as many as without conflicts. Needs: select_transfer (tiles have buffers). Guarantees: nothing else changes.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

Result<void> SelectSwizzle(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

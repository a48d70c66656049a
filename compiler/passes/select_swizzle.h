// SPDX-License-Identifier: MIT
// The swizzle of every shared tile that warps load operands from, where the matrix unit does not dictate it: the one with which
// those loads take the fewest clocks of the banks, which for most tiles is as many as without conflicts. Needs: select_transfer
// (tiles have buffers). Guarantees: nothing else changes.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

Result<void> SelectSwizzle(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
// In a cluster, the blocks take tiles below each other and walk the same loops: what they read at the same place is loaded once.
// Each block copies its share of such a tile and the copy engine delivers it to all of them. Loads that depend on the block's row
// stay its own.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

Result<void> Multicast(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
// Operands on targets whose copies go through registers: on their way they can be turned.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

/// A field of a pipe that all receivers use as the right operand of products, or turned around as the left one, and as nothing
/// else, is sent turned, so that the terms of a sum lie side by side: loads then bring whole pieces where the target has none that
/// turn. On tiles, before they have places.
Result<void> TurnOperands(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

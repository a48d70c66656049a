// SPDX-License-Identifier: MIT
// Reads of tensors into registers, of workers that compute, stand above the conversions that widen, the reshapes, and what is
// computed of larger tiles, in front of them: to convert or compute a tile is to wait for it, and all reads of a statement sequence
// are to be under way before the first is waited for. What is kept longer is the smaller of two tiles.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"

namespace tkc::passes {

Result<void> HoistReads(ir::Kernel& kernel, Diagnostics& diagnostics);

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
// In a kernel whose condition says `aligned` or `contiguous`: what else is known at compile time of the places that reads and
// stores go to. Rows, of elements or of small structures, that begin at multiples of 16 bytes; axes of which every element exists;
// where loops end. What is known is not asked when the kernel runs, and no other way is compiled: a short kernel spends more time
// on such questions than on its data.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"

namespace tkc::passes {

Result<void> MarkAccesses(ir::Kernel& kernel, Diagnostics& diagnostics);

}  // namespace tkc::passes

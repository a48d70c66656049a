// SPDX-License-Identifier: MIT
// Reads of tensors that every iteration of a loop would repeat stand before it, where registers suffice to keep what they bring.
// What an iteration makes wider tiles of it for is converted anew in each: kept is the narrow one, whatever the compiler of the
// output would prefer. (Weights of a norm in persistent blocks: read for every row they cost the second-level cache twice what the
// row does.)
// Quotients of launch scalars have names, too: a division branches, and what stands between the arithmetic of many elements parts
// it.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

Result<void> HoistInvariants(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
// Divisions of integers that are the same in every iteration of a loop, in what says where its accesses begin and in its numbers,
// are done once, in front of the outermost such loop, and have a name there:
//
//     for j .. { k <- K[j, h / group] }      becomes      let quotient = h / group; for j .. { k <- K[j, quotient] }
//
// The compiler of the output leaves them in the loop: none of it is sure to be executed, behind the loop's first wait. Divisions by
// literals stay, which take no time. A quotient by zero is 0 there as well, so that it may be taken where no iteration follows.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"

namespace tkc::passes {

Result<void> NameQuotients(ir::Kernel& kernel, Diagnostics& diagnostics);

}  // namespace tkc::passes

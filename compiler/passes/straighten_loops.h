// SPDX-License-Identifier: MIT
// A loop that is known to have one iteration at most becomes what stands in it, under a condition if it may have none:
//
//     for j = 0 to min(64, N) step 64 { .. j .. }      becomes      if min(64, N) > 0 { .. 0 .. }
//
// ptxas takes any loop for one that turns, and serialises products that it would see in flight over its end. A loop with traffic
// goes only where all workers that use its pipes are left with as many: the certificate pairs their iterations. Programs in which
// copies are folded stay as they are: their copies for later iterations are told from the loop.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"

namespace tkc::passes {

Result<void> StraightenLoops(ir::Kernel& kernel, Diagnostics& diagnostics);

}  // namespace tkc::passes

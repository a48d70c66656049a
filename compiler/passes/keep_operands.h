// SPDX-License-Identifier: MIT
// Left operands in registers are copied for the matrix unit, which reads them while the worker goes on. A copy of a value that is
// needed again, behind the product or in the next iteration of the loop around it, is marked `kept`: registers that ptxas can't
// take for the value's own (tk::warpgroup::own_copy says why).
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"

namespace tkc::passes {

Result<void> KeepOperands(ir::Kernel& kernel, Diagnostics& diagnostics);

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
// Shares out the registers: copy roles give theirs up, computing roles take them, within the pool the block was launched with
// (registers per thread at entry times warpgroups). Reports a worker whose tiles cannot fit, with the arithmetic.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

Result<void> PlanRegisters(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
// Products that warps do by themselves load their operands' fragments from shared memory, each product its own. Where two products
// of one sequence read the same operand, the second multiplies what the first has loaded, if registers hold it meanwhile:
//
//     x_0 = load_left x                      becomes     x_0 = load_left x
//     multiply p, x_0, u_0                               multiply p, x_0, u_0
//     x_0_1 = load_left x                                multiply q, x_0, v_0
//     multiply q, x_0_1, v_0
//
// (A layer with its low-rank correction: the second product is narrow, and loads little beside that operand.)
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

Result<void> ShareFragments(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

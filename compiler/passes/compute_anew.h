// SPDX-License-Identifier: MIT
// Where tiles in use at once take more registers than there are, one that was computed element by element from others that are
// there anyway is not kept, but computed once more where it is used:
//
//     e = exp (acc - top)            becomes     e = exp (acc - top)
//     s = reduce e                               s = reduce e
//     store e / s                                e_1 = exp ((anew acc) - top);  store e_1 / s
//     t = reduce (e * acc)                       e_2 = ..
//
// Only what loads by parts (cut_statements) would not help: tiles beside reductions and products, which these need whole. It costs
// instructions, where the alternative is not to be compiled.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

Result<void> ComputeAnew(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

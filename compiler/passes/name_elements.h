// SPDX-License-Identifier: MIT
// An element of a tensor that is the same in all iterations of a loop is read in front of it, once, and has a name there: threads
// meet in loops and wait for copies, across which the compiler of the output reads it anew.
//
//   for j = 0 to n { .. read X[j, 0 .. len[b]] .. }   =>   let len_element = len[b]
//                                                          for j = 0 to n { .. read X[j, 0 .. len_element] .. }
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

Result<void> NameElements(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

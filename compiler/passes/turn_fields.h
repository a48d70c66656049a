// SPDX-License-Identifier: MIT
// Rows that are sent are columns of tensors: what a tensor of one axis holds is a column, and `.T` makes a row of it. In memory the
// two are the same, so the field is the column, which copies can bring, and who receives it turns what it sees:
//
//     x = read s[k : 64]                              x = read s[k : 64]
//     t = transpose x : f32[1, 64]        becomes     send p x
//     send p t
//
//     c = receive p : f32[1, 64]                      v = receive p : f32[64, 1]
//                                                     c = transpose v : f32[1, 64]
//
// A worker that only loads would otherwise compute, and bring through registers all that it sends.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"

namespace tkc::passes {

Result<void> TurnFields(ir::Kernel& kernel, Diagnostics& diagnostics);

}  // namespace tkc::passes

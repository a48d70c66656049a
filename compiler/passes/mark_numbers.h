// SPDX-License-Identifier: MIT
// Where random bits are drawn for numbers that follow each other along rows, four of them share a block of the generator if the
// first is a multiple of four. Where that follows from the grid's steps and the set's condition, it is written beside the numbers:
//
//     rows = positions rows from m; t = rows * N               becomes     ..
//     cols = positions cols from n; at = t + cols                          known = aligned at
//     bits = random seed, at                                               bits = random seed, known
//
// What is known is not asked when the kernel runs, and no other way is compiled: the one for any numbers takes more registers.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"

namespace tkc::passes {

Result<void> MarkNumbers(ir::Kernel& kernel, Diagnostics& diagnostics);

}  // namespace tkc::passes

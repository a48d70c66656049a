// SPDX-License-Identifier: MIT
// A tile that is read again behind nothing but elementwise operations and other reads, while the tensor and what says where stay as
// they are, is the one that is there, if that takes no more registers where most are in use:
//
//     a = read A[m, k]               becomes     a = read A[m, k]
//     s += a * 1                                 s += a * 1
//     b = read A[m, k]                           s += a * 2
//     s += b * 2
//
// A loop over a range known at compile time is written out, and repeats what it reads. What is read again behind a reduction or a
// product stays: source does it to save registers there. So does, outside of loops, what is read again beside a long function.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"

namespace tkc::passes {

Result<void> ShareReads(ir::Kernel& kernel, Diagnostics& diagnostics);

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
// Columns of which the threads of a worker would have unequal numbers. Where the matrix unit takes them in larger steps than the
// language (16 on AMD's GPUs, where 8 are allowed), tiles of a worker that multiplies are made as wide as it wants. Of a worker
// that does not, rows are dealt to lanes in powers of two, and most would be idle with 1000 columns: its tiles become 1024 columns
// wide where threads then have less. An extent is widened wherever it stands: in all tiles of the kernel that have it from one
// another, in the fields of pipes between them and in the blocks of tensors that they are read from and stored to:
//
//     a = read A[k : 64, n : 24]        becomes     a = read A[k : 64, n : 32 to n + 24]
//     e = reduce max rows p                         inside = positions < 24
//     store C[m : 64, n : 24] = p                   e = reduce max rows (select inside, p, -inf)
//                                                   store C[m : 64, n : 32 to n + 24] = p
//
// What was not there before reads as the fill and is not stored; reductions leave it out, but for sums of what is zero there;
// nothing else asks what it is. Extents that an operation takes apart or joins (parts, cat, reshape), or that products sum over,
// stay as they are; so do, for the sake of lanes, those of pipes, which the copy engine fills.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

Result<void> WidenColumns(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
// Where the operands of a store take more registers than the schedule leaves to a thread, it is done by parts of its columns, each
// of which loads, computes and stores what belongs to it. The fewest equal parts for which the registers suffice:
//
//     g = read G[0 : 8192]           becomes     unroll c 4 times
//     y = x * g                                    g = read G[c * 2048 : 2048]
//     store Y[m, 0 : 8192] = y                     y = columns(x, c * 2048) * g
//                                                  store Y[m, c * 2048 : 2048] = y
//
// Where parts of columns do not suffice, by parts of its rows, if every tile of the statement with as many rows is its own.
// Only what is loaded or computed for the store alone, elementwise, right before it. Tiles that others need as well stay whole, and
// so do loads of what the kernel writes. Not for fragments, whose stores are staged in parts of their own.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

Result<void> CutStores(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

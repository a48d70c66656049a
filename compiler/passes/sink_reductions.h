// SPDX-License-Identifier: MIT
// Sums, maxima and minima over the rows, or the columns, of all tiles of a loop: each thread keeps those of its own elements, and
// they meet once, behind the loop, or behind all loops around it that do nothing else with them.
//
//     for .. { s += rowsum(x) }     becomes     var part = 0: in each thread a number for each of its rows
//                                               for .. { part += what the thread's own elements of x add up to }
//                                               s += what the threads of each row have in part
//
// A reduction goes over lanes and warps, which wait for each other, and nothing of the next iteration could begin meanwhile. se-10
// leaves the order of sums open. Only for tiles that lie in lanes, not in fragments, and for variables that the loop does not look
// at.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"

namespace tkc::passes {

Result<void> SinkReductions(ir::Kernel& kernel, Diagnostics& diagnostics);

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
// Where a store is done by parts, as registers want it (cut_stores), and the instances of its worker meet in front of it, each part
// would begin with its loads and wait for them. So the loads of the first part stand in front of the meeting, and those of each
// further one in front of what the part before computes and stores:
//
//     send; receive; s = ..          becomes     g = read G[0 : 2048]
//     g = read G[0 : 8192]                       send; receive; s = ..
//     y = x * s * g                              unroll c 3 times
//     store Y[m, 0 : 8192] = y                     g_present = g;  g = read G[c * 2048 + 2048 : 2048]
//                                                  y = columns(x, c * 2048) * s * g_present
//                                                  store Y[m, c * 2048 : 2048] = y
//                                                y = columns(x, 6144) * s * g
//                                                store Y[m, 6144 : 2048] = y
//
// The fewest parts that fit, where the schedule says how many blocks share a multiprocessor, and so what registers there are; if
// none do, cut_stores has the store. What is kept meanwhile is converted anew. All the loads are not put in front even where they
// would fit: they were slower than none in layer_norm's rows of 16384, which by parts are faster.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

Result<void> AdvanceReads(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

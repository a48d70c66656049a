// SPDX-License-Identifier: MIT
// The only source of synchronisation: inside the roles, and of the frame around them, which initialises barriers and keeps a
// cluster together (sync_frame.cpp).
//
// Turns sends and receives into waits, copies and arrivals; closes matrix groups and waits for them where their results are used;
// releases a slot when its last read has completed; fences ordinary stores to shared memory before the copy engine or the matrix
// unit reads them; keeps staging buffers from being overwritten early. All of it from dependences between operations, so that a
// poor order is slow and never wrong.
//
// A matrix group stays in flight over the back edge of a loop only in the form that ptxas keeps asynchronous: the loop body holds
// nothing but products of slots, into accumulators that nothing else in the body touches, and branches that compute with other
// registers, be it from the slots. A slot is then released behind the product that follows the last one to read it, which may be
// the first of the next iteration:
//
//     for k = lo to hi                     becomes     for k = lo to hi
//       x, g, u = receive p                              wait p_full;  acc += x @ g;  commit
//       acc += x @ g                                     wait until one product is in flight;  if k > lo: release p's previous slot
//       sum += x @ u                                     sum += x @ u;  commit;  advance p
//                                                      wait for all;  if lo < hi: release p's previous slot
//
// The last line comes when something touches a sum, or before another slot is received; an instance that takes turns gives its turn
// on before it. An instance that waits at the end of each iteration leaves the unit idle until its next slots are there and
// products under way.
//
// Of products behind each other two at most have left operands in registers: a third is written when the first is over.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

Result<void> InsertSync(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

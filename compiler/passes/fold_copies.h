// SPDX-License-Identifier: MIT
// For targets without an engine that copies by itself: the workers that only load are folded into those that compute, each pipe
// into the one that receives it. All of its threads issue the copies, some iterations ahead of the loop that reads them.
//
// The programs are walked along the loops and branches that they have in common (sema has proved that they meet at every slot).
//   - A send in the body of a loop runs ahead: the first slots - 1 blocks are copied before the loop, and right behind each receive
//     the block that many turns of the ring on, into the slot that was read last. An iteration may receive several slots: where the
//     turns are told from iterations, what stands before the loop is what it would copy in the iterations before its first.
//   - The only slot of a pipe is filled again behind the last operation of the iteration that reads it, beside what is left of it.
//     Blocks beyond the end are copied like others: they lie outside the range and cost nothing, and so every path issues the same
//     copies.
//   - A send outside loops moves to the start of its region, unless slots are to share room (share_room).
//   - Where a block begins may be read from memory, as pages by a table are; behind the end of the loop nothing is asked there, and
//     the block lies outside of its tensor.
//   - A send under a condition, or of which an element says more than that, stands before its receive. So does one into an only
//     slot that is read with nothing to do beside the copy, that shares room, or that other workers receive.
// Slots are named relative to the ring: "ab", "ab+stage", "ab.previous". Waits and barriers come from insert_sync.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

Result<void> FoldCopies(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

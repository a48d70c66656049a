// SPDX-License-Identifier: MIT
// Operands across the back edge of a loop. Where an iteration receives a slot, loads its parts from there and multiplies, its first
// products would wait for the slot, for everybody and then for their loads, with nothing to multiply meanwhile. So the fragments of
// the first product are loaded an iteration earlier, in front of the last product there, and held in variables over the back edge:
//
//     receive early; a_0 = load ..          before the loop
//     for .. {
//       a_1 = load ..; multiply a_0         the slot that is here already
//       ..
//       receive early; a_0 = load ..        the next slot
//       copy into the slot just read        that all are done with, as all have received the next
//       multiply a_1
//     }
//
// The copies stand behind those loads: the meeting is for both, and compilers of the output, which see nothing that waits for
// what is loaded for the next iteration, leave it in front of the copies.
// A receive that is early says that the slot is there; the next iteration receives it, too, and waits for nothing. For a loop of no
// iterations, and behind its last one, what is loaded comes from slots that were filled and is not used.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

/// Whether the loop receives, loads and multiplies as above. fold_copies then has all its slots filled in advance, and each filled
/// again at the end of the iteration that reads it.
bool CanLoadAhead(const ir::Op& loop);

/// Whether the worker's registers hold the operands of two steps beside the sum, and beside those of the loop's other products, for
/// each of its products; else each step loads its
/// own (stage_operands), and none is loaded over the end of an iteration.
bool HasRoomAhead(const ir::Kernel& kernel, const ir::Worker& worker, const Target& target);

Result<void> LoadAhead(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

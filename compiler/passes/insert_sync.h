// SPDX-License-Identifier: MIT
// The only source of synchronisation. Turns sends and receives into waits, copies and arrivals; closes matrix groups and waits for
// them where their results are used; releases a slot when its last read has completed; fences ordinary stores to shared memory
// before the copy engine or the matrix unit reads them; keeps staging buffers from being overwritten early. All of it from
// dependences between operations, so that a poor order is slow and never wrong.
//
// A matrix group stays in flight over the back edge of a loop only in the form that ptxas keeps asynchronous: the loop body holds
// one product, into an accumulator that nothing else in the body touches. The slots it reads are then released one iteration later.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

Result<void> InsertSync(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
// Gives every pipe its slots and every buffer its place in shared memory. Slots that the source leaves open are shared out evenly
// from what the fixed buffers leave, up to the target's most_slots a pipe; what no loop fills, up to as many as are filled ahead.
// A block has its share where the schedule wants several resident. Reports what does not fit, with the arithmetic,
// but for what share_room may still find room for.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

Result<void> PlanShared(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

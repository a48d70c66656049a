// SPDX-License-Identifier: MIT
// Copies of a loop whose block moves on by as many elements in each iteration: where a thread's pieces lie is computed once, before
// the loop, and advanced behind each copy (`pieces`, `move_pieces`). What is left of a copy in the loop is a pointer, an addition
// and a comparison for each piece, on which no product waits.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

Result<void> AdvanceCopies(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

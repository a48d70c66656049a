// SPDX-License-Identifier: MIT
// Where tiles in use at once take more registers than the schedule leaves to a thread, what is computed element by element is done
// by parts of its columns, of which each loads its part of the operands:
//
//     x = load_shared X                            z = var
//     y = read Y                     becomes       unroll c { x = load_shared X[c]; y = read Y[c]
//     z = x * x + y * exp(x)                                  z[c] = x * x + y * exp(x) }
//
// Stores of what is computed are done by parts, too, and where lanes lie side by side along whole rows, parts are of rows. Loops
// that store by parts, by way of shared memory, become one, with all that is computed for them and between them: threads meet at
// each of these stores, so that what others need as well would be there whole behind it. What only the statement needs is there for
// one part at a time. A variable that is used here for the last time, and is of the result's type, becomes the result: its elements
// are replaced part by part. A store whose operands are its own is cut before (cut_stores).
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

Result<void> CutStatements(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

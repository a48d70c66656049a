// SPDX-License-Identifier: MIT
// A slip that is no error: `let` where an assignment was meant.
#pragma once

#include "compiler/support/diagnostic.h"
#include "compiler/syntax/ast.h"

namespace tkc::sema {

/// A `let` in a loop or branch that hides the name which it computes from, as `let x = x * 2`, and that nothing uses: what was
/// meant is an assignment. Warnings only.
void WarnOfLostAssignments(const ast::File& file, Diagnostics& diagnostics);

}  // namespace tkc::sema

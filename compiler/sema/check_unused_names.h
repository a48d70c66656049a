// SPDX-License-Identifier: MIT
// Slips that are no errors: names that nothing uses, and values that nothing reads.
#pragma once

#include "compiler/support/diagnostic.h"
#include "compiler/syntax/ast.h"

namespace tkc::sema {

/// Warns of values, variables that are only assigned, and parameters that nothing in the file uses, unless their names begin with
/// `_`; of a `let` in a loop or branch that hides the name which it computes from, as `let x = x * 2`, where an assignment was
/// meant; and of assignments in a loop that each iteration does anew, where a sum was meant.
void WarnOfUnusedNames(const ast::File& file, Diagnostics& diagnostics);

}  // namespace tkc::sema

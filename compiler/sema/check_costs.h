// SPDX-License-Identifier: MIT
// The costs of schedule sets, by which the launcher chooses among them; checked for all sets of the file together.
#pragma once

#include "compiler/support/diagnostic.h"
#include "compiler/syntax/ast.h"

namespace tkc::sema {

/// Costs of the file's schedule sets that nothing compares, whatever the target.
void CheckCosts(const ast::File& file, Diagnostics& diagnostics);

}  // namespace tkc::sema

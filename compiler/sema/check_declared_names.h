// SPDX-License-Identifier: MIT
// Names that the declarations of a file, and the command line, give to each other; checked before any kernel is elaborated.
#pragma once

#include "compiler/sema/check.h"
#include "compiler/support/diagnostic.h"
#include "compiler/syntax/ast.h"

namespace tkc::sema {

/// What kernels, instances and schedule sets of the file, and `-D`, name by their declarations: each once, and of what there is.
void CheckDeclaredNames(const ast::File& file, const CheckOptions& options, Diagnostics& diagnostics);

}  // namespace tkc::sema

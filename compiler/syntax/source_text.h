// SPDX-License-Identifier: MIT
// An expression as a .tk file has it, for what a diagnostic tells the user to write.
#pragma once

#include <string>

#include "compiler/syntax/ast.h"

namespace tkc::ast {

/// With the parentheses that the source has, and spaces around operators.
std::string SourceText(const Expr& expr);

}  // namespace tkc::ast

// SPDX-License-Identifier: MIT
// The syntax tree as text (`--emit=ast`): declarations and statements one a line, indented by nesting; expressions
// fully bracketed with the operator first, so that grouping is visible: `(+ acc (@ a b))`.
#pragma once

#include <string>

#include "compiler/syntax/ast.h"

namespace tkc::ast {

std::string Print(const File& file);
std::string Print(const Expr& expr);
std::string Print(const TypeExpr& type);

}  // namespace tkc::ast

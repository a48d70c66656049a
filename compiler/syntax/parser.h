// SPDX-License-Identifier: MIT
// Tokens to the syntax tree. Reports every error it can tell apart (no cascades) and returns what it understood;
// only when `diagnostics` has no error is the tree whole.
#pragma once

#include "compiler/support/diagnostic.h"
#include "compiler/support/source_manager.h"
#include "compiler/syntax/ast.h"

namespace tkc {

/// Blocks, brackets and operators nest at most this deep.
inline constexpr int kMaxNesting = 200;

ast::File ParseFile(const SourceManager& sources, uint32_t file, Diagnostics& diagnostics);

/// The value of `-D NAME=value`: one expression from byte `begin` on, and nothing after it.
Result<ast::ExprPtr> ParseExpression(const SourceManager& sources, uint32_t file, uint32_t begin, Diagnostics& diagnostics);

}  // namespace tkc

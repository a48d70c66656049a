// SPDX-License-Identifier: MIT
// Typed scalars as a person would write them, for messages.
#pragma once

#include <string>
#include <vector>

#include "compiler/sema/typed.h"

namespace tkc::sema {

/// `k`, `K`, `cdiv(M, 64) + 1`, `M % 8 == 0`; `..` for what is longer than a line of a message bears.
std::string ScalarText(const typed::Kernel& kernel, const typed::Expr& expr);

/// `k in 0 .. K by 64`, `k in K by 64`.
std::string LoopText(const typed::Kernel& kernel, const typed::Stmt& loop);

/// The dims, launch scalars and variables that `expr` mentions (kDim, kParam, kVar), each once, in order of mention.
std::vector<const typed::Expr*> MentionedNames(const typed::Expr& expr);

}  // namespace tkc::sema

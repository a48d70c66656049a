// SPDX-License-Identifier: MIT
// A scalar expression of the typed tree as text close to the source, for messages: `M % 8 == 0`.
#pragma once

#include <string>
#include <vector>

#include "compiler/sema/typed.h"

namespace tkc::interp {

std::string ExprText(const typed::Kernel& kernel, const typed::Expr& expr);

/// The dims, launch scalars and variables that `expr` mentions (kDim, kParam, kVar), each once, in order of mention.
std::vector<const typed::Expr*> MentionedNames(const typed::Expr& expr);

}  // namespace tkc::interp

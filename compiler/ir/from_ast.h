// SPDX-License-Identifier: MIT
// Lowers the typed tree to the tile level of the IR: expressions become operations on named values, scalars become symbolic trees,
// and a product that is added to or subtracted from in its own expression becomes an accumulation (rule 12 of the language).
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/sema/typed.h"

namespace tkc::ir {

/// One kernel per grid section of each schedule set, for `target`.
Module FromAst(const typed::Program& program, const std::string& target);

}  // namespace tkc::ir

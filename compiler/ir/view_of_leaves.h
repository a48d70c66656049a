// SPDX-License-Identifier: MIT
// Transposes and parts of what is computed element by element.
#pragma once

#include "compiler/sema/typed.h"

namespace tkc::ir {

/// `view`, a transpose or a part, taken of what its operand is computed from: of positions, which are counted where they are
/// wanted, and of columns of tensors, which are read there. `valid(n).T` then needs no tile that is turned through shared memory.
/// Null where the operand is anything else, or would cost more to compute for a row than for a column.
typed::ExprPtr ViewOfLeaves(const typed::Expr& view);

}  // namespace tkc::ir

// SPDX-License-Identifier: MIT
// Where rows of a tile that its tensor does not have may hold anything: where nothing that is stored depends on them. A row of a
// left operand is a row of the product, one of a turned right operand a column; element by element, by reductions along the other
// axis, in variables, pipes and staging buffers it stays what it is; and a store that begins at the same row of a tensor as long as
// that one clips it. Everything else may carry it further, and is taken to.
#pragma once

#include "compiler/ir/ir.h"

namespace tkc::passes {

/// What a copy leaves out: the rows of a view that lie at `extent` or behind it, of which the view's first lies at `first`.
struct MissingRows {
  ir::ValueId view;
  ir::Scalar first, extent;
  bool of_all_blocks;  // of the cluster: it leaves them out in the tiles of all
};

MissingRows MissingRowsOf(const ir::Kernel& kernel, const ir::Op& load);

/// Whether no element that is stored depends on them, and nothing else does that is seen outside. Of a kernel whose grid is
/// lowered: the names of its axes are taken to be of one tile in all workers.
bool AreNeverStored(const ir::Kernel& kernel, const MissingRows& rows);

}  // namespace tkc::passes

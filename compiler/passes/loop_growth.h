// SPDX-License-Identifier: MIT
// How the work of a tile depends on its place in the grid: a triangle's rows are of different length, and where they lie in the
// list of tiles decides how evenly the multiprocessors are busy at its end.
#pragma once

#include <string>

#include "compiler/ir/ir.h"

namespace tkc::passes {

/// Of a number, as another becomes larger.
enum class Growth { kStays, kGrows, kShrinks, kUnknown };

/// The lengths of all loops of all workers, for larger values of the index `axis` of the grid. What one loop says must hold of all.
Growth LoopGrowth(const ir::Kernel& kernel, const std::string& axis);

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
// Arrays of small structures: interleaved complex numbers, pairs, quadruples. In a tensor whose last axis has 2 or 4 elements,
// tiles of one part of each structure have neighbours that lie that many elements apart, and memory would be visited once for each
// part. Accesses to all parts that agree in everything else, with nothing between them that could tell, become one operation:
// read_parts where the first of them stood, store_parts where the last did. Before select_layout, which gives a lane whole
// structures.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"

namespace tkc::passes {

Result<void> JoinParts(ir::Kernel& kernel, Diagnostics& diagnostics);

}  // namespace tkc::passes

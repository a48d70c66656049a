// SPDX-License-Identifier: MIT
// A mask that compares positions leaves something out at the edges of a tensor or of a triangle only, and is asked for every
// element of every block. Beside matrix products, which the instructions of such masks hold up, it is asked once for the block:
//
//     mask = j + cols < S                    becomes     s = x
//     s = select mask, x, -inf                           if j + 128 > S
//                                                          s = select (j + cols < S), s, -inf
//
// The least and the most that a tile of positions holds decide (mask_conditions). A mask in which anything else could decide is
// left as it is; data that only the mask asks for is loaded in its branch.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"

namespace tkc::passes {

Result<void> SkipMasks(ir::Kernel& kernel, Diagnostics& diagnostics);

}  // namespace tkc::passes

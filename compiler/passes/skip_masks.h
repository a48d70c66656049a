// SPDX-License-Identifier: MIT
// A mask that compares positions leaves something out at the edges of a tensor or of a triangle only, and is asked for every
// element of every block. Beside matrix products, which the instructions of such masks hold up, it is asked once for the block:
//
//     mask = j + cols < S                    becomes     s = x
//     s = select mask, x, -inf                           if j + 128 > S
//                                                          s = select (j + cols < S), s, -inf
//
// The least and the most that a tile of positions holds decide. A mask with anything else in it is left as it is.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"

namespace tkc::passes {

Result<void> SkipMasks(ir::Kernel& kernel, Diagnostics& diagnostics);

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
// Rows cut, joined and turned for nothing. The language gathers by columns of numbers; what is gathered by a tile's elements is cut
// into a column and joined again:
//
//     r = reshape rows : [2048, 1]                 g = gather X at rows, cols : [64, 32]
//     c = reshape cols : [2048, 1]     becomes     .. g
//     g = gather X at r, c : [2048, 1]
//     .. reshape g : [64, 32]
//
// A gather asks for each element by itself, so it takes tiles of any shape here, and tiles that are shaped back are what they were.
// A column would be dealt out by rows, each of which every lane beside another one holds. For the same reason a column that is
// wanted only as a row, joined or turned, is made as one, if it is read, counted, gathered or computed element by element:
//
//     x = read b[0 : 4096] : [4096, 1]             x_column = read b[0 : 4096] : [4096, 1]
//     .. reshape x : [64, 64]           becomes    x = transpose x_column : [1, 4096]
//                                                  .. reshape x : [64, 64]
//
//     g = gather g[c] : [4096, 1]       becomes    g = gather g[c] : [1, 4096]
//     .. transpose g : [1, 4096]                   .. g
//
// Tile level.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"

namespace tkc::passes {

Result<void> FoldReshapes(ir::Kernel& kernel, Diagnostics& diagnostics);

}  // namespace tkc::passes

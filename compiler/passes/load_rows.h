// SPDX-License-Identifier: MIT
// Rows that no tensor has are not copied. The engine writes zero for each row of a box that lies outside its tensor, and takes
// longer for it than for a row that exists (H200, test/gpu/engine_edges.cu: 128 rows of 128 bytes, of which one exists, take more
// than twice as long as all of them). A product of one row would spend most of its time so.
//
//     load_async slot = A_map at m, k        becomes     load_rows slot = A_map at m, k, M - m
//     map A_map : A box [64, 64]                         map A_map : A box [64, 64], map A_map_rows : A box [16, 64]
//
// Where nothing that is stored depends on such rows (missing_rows.h), a tile that lacks some comes in boxes of few, and those that
// hold none that exist are left out. A slot has there what it had before. So does a share that a block of a cluster copies for all
// (load_multicast): in the last tile some blocks may have nothing to copy.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"

namespace tkc::passes {

Result<void> LoadRows(ir::Kernel& kernel, Diagnostics& diagnostics);

}  // namespace tkc::passes

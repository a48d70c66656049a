// SPDX-License-Identifier: MIT
// Layouts: how the threads of a computing role share its register tiles.
#pragma once

#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/layout/row_layout.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

/// Chooses one register layout per computing role: the matrix unit's fragment where it multiplies, else rows over lanes.
Result<void> SelectLayout(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

/// What the layout of a worker that does not multiply has to hold: its tiles but those on the far side of a reshape.
std::vector<layout::TileShape> ShapesOfRows(const ir::Kernel& kernel, const ir::Worker& worker);

/// The error for a tile that the fragments of a worker that multiplies do not make up.
DiagnosticBuilder ReportMatrixShape(const ir::Worker& worker, const ir::Type& type, Span span, Diagnostics& diagnostics);

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
#include "compiler/passes/select_layout.h"

#include <set>

#include <fmt/format.h>

#include "compiler/layout/row_layout.h"
#include "compiler/passes/walk.h"

namespace tkc::passes {
namespace {

/// Columns that are read or counted and only used as rows: they are loaded as rows (stage_operands).
std::set<ir::ValueId> TurnedColumns(const ir::Kernel& kernel, const ir::Worker& worker) {
  std::set<ir::ValueId> turned, kept;
  ForEachOp(worker.body, [&](const ir::Op& op) {
    for (ir::ValueId value : op.operands) (op.code == ir::OpCode::kTranspose ? turned : kept).insert(value);
  });
  std::set<ir::ValueId> columns;
  ForEachOp(worker.body, [&](const ir::Op& op) {
    if (op.code != ir::OpCode::kRead && op.code != ir::OpCode::kPositions) return;
    const ir::ValueId value = op.results[0];
    if (kernel.values[value].type.cols == 1 && turned.contains(value) && !kept.contains(value)) columns.insert(value);
  });
  return columns;
}

/// A layout that holds every tile of the worker.
ir::RegisterLayout RowLayout(const ir::Kernel& kernel, const ir::Worker& worker) {
  std::vector<layout::TileShape> shapes;
  const std::set<ir::ValueId> columns = TurnedColumns(kernel, worker);
  ForEachOp(worker.body, [&](const ir::Op& op) {
    if (!op.results.empty() && columns.contains(op.results[0])) return;
    const bool is_transpose = op.code == ir::OpCode::kTranspose;
    const bool is_row = is_transpose && columns.contains(op.operands[0]);
    const bool is_load = op.code == ir::OpCode::kRead || op.code == ir::OpCode::kReceive || is_row;
    const auto add = [&](ir::ValueId value, bool in_memory) {
      const ir::Type& type = kernel.values[value].type;
      const bool is_turned = is_transpose && !is_row && type.rows > 1 && type.cols > 1;
      shapes.push_back({type.rows, type.cols, type.dtype, in_memory, is_turned});
    };
    for (ir::ValueId value : op.results) add(value, is_load);
    if (op.code == ir::OpCode::kStore) add(op.operands[0], true);
  });
  const layout::RegisterLayout chosen = layout::ChooseRowLayout(shapes);
  return {chosen.lanes, chosen.vec, chosen.halves, chosen.lane_rows, chosen.warp_rows, chosen.warp_cols};
}

/// A worker that multiplies keeps all its tiles as the matrix unit does: 64 rows at a time, 8 columns at a time.
void CheckMatrixTiles(const ir::Kernel& kernel, const ir::Worker& worker, Diagnostics& diagnostics) {
  constexpr int64_t kRows = 64, kCols = 8;
  std::set<Span, decltype([](Span a, Span b) { return a.begin < b.begin; })> reported;
  ForEachOp(worker.body, [&](const ir::Op& op) {
    if (op.code == ir::OpCode::kReceive || op.code == ir::OpCode::kTranspose) return;  // may stay in shared memory
    for (ir::ValueId value : op.results) {
      const ir::Type& type = kernel.values[value].type;
      const bool rows_fit = type.rows == 1 || type.rows % kRows == 0;
      const bool cols_fit = type.cols == 1 || type.cols % kCols == 0;
      if ((rows_fit && cols_fit) || op.code == ir::OpCode::kPart) continue;
      if (!reported.insert(op.span).second) continue;
      diagnostics
          .Error(DiagnosticKind::kMatrixShape, op.span,
                 fmt::format("a tile of {} x {} in worker `{}`; a worker that multiplies takes rows in multiples of {} and columns "
                             "in multiples of {}",
                             type.rows, type.cols, worker.name, kRows, kCols))
          .Label(op.span,
                 fmt::format("`{}[{}, {}]` in each of {} instances", Name(type.dtype), type.rows, type.cols, worker.instances));
    }
  });
}

}  // namespace

Result<void> SelectLayout(ir::Kernel& kernel, const Target&, Diagnostics& diagnostics) {
  const size_t errors = diagnostics.ErrorCount();
  for (ir::Worker& worker : kernel.workers) {
    if (worker.kind != ir::RoleKind::kCompute) continue;
    bool multiplies = false;
    ForEachOp(worker.body, [&](const ir::Op& op) { multiplies |= IsProduct(op.code); });
    if (multiplies)
      CheckMatrixTiles(kernel, worker, diagnostics);
    else
      worker.layout = RowLayout(kernel, worker);
  }
  return diagnostics.ErrorCount() == errors ? Result<void>() : Failure{};
}

ir::Swizzle ChooseSwizzle(DType dtype, int64_t rows, int64_t cols) {
  constexpr int64_t kGranule = 16;  // bytes: what a swizzle permutes, and what the copy engine moves
  const auto swizzle = static_cast<ir::Swizzle>(layout::ChooseSwizzle(dtype, rows, cols));
  // The matrix unit reads swizzled tiles only: where no width divides, the last panel of the narrowest is partly unused.
  const bool can_pad = rows > 1 && cols > 1 && cols * Bytes(dtype) % kGranule == 0;
  return swizzle == ir::Swizzle::kNone && can_pad ? ir::Swizzle::k32 : swizzle;
}

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
#include "compiler/passes/select_layout.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "compiler/passes/walk.h"

namespace tkc::passes {
namespace {

constexpr int64_t kLanes = 32;
constexpr int64_t kWarps = 4;
constexpr int64_t kVectorBytes = 16;  // of the widest access to global memory

/// The largest power of two that divides `value`, at most `limit`.
int64_t PowerDivisor(int64_t value, int64_t limit) {
  int64_t power = 1;
  while (power * 2 <= limit && value % (power * 2) == 0) power *= 2;
  return power;
}

/// Rows over warps and groups of lanes, columns over the lanes of a group in vectors. What does not divide is replicated, so every
/// shape has a layout; wide rows get the widest vectors and whole rows within one warp, where sums along a row stay.
ir::RegisterLayout RowLayout(const ir::Kernel& kernel, const ir::Worker& worker) {
  int64_t rows = 0, cols = 0, narrowest = 8;
  ForEachOp(worker.body, [&](const ir::Op& op) {
    for (ir::ValueId value : op.results) {
      const ir::Type& type = kernel.values[value].type;
      if (type.rows > 1) rows = std::gcd(rows, type.rows);
      if (type.cols > 1) cols = std::gcd(cols, type.cols);
      if (op.code == ir::OpCode::kRead || op.code == ir::OpCode::kReceive) narrowest = std::min<int64_t>(narrowest, Bytes(type.dtype));
    }
  });
  rows = std::max<int64_t>(rows, 1);
  cols = std::max<int64_t>(cols, 1);
  ir::RegisterLayout layout;
  layout.vec = static_cast<int>(PowerDivisor(cols, kVectorBytes / narrowest));
  layout.lanes = static_cast<int>(PowerDivisor(cols / layout.vec, kLanes));
  layout.halves = 1;
  layout.lane_rows = static_cast<int>(PowerDivisor(rows, kLanes / layout.lanes));
  layout.warp_rows = static_cast<int>(PowerDivisor(rows / layout.lane_rows, kWarps));
  return layout;
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
                 fmt::format("a tile of {} x {} in worker `{}`; a worker that multiplies takes rows in multiples of {} and columns in multiples of {}",
                             type.rows, type.cols, worker.name, kRows, kCols))
          .Label(op.span, fmt::format("`{}[{}, {}]` in each of {} instances", Name(type.dtype), type.rows, type.cols, worker.instances));
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
    if (multiplies) CheckMatrixTiles(kernel, worker, diagnostics);
    else worker.layout = RowLayout(kernel, worker);
  }
  return diagnostics.ErrorCount() == errors ? Result<void>() : Failure{};
}

ir::Swizzle ChooseSwizzle(DType dtype, int64_t rows, int64_t cols) {
  if (rows == 1 || cols == 1) return ir::Swizzle::kNone;
  for (const ir::Swizzle swizzle : {ir::Swizzle::k128, ir::Swizzle::k64, ir::Swizzle::k32}) {
    if (cols * Bytes(dtype) % static_cast<int64_t>(swizzle) == 0) return swizzle;
  }
  return ir::Swizzle::kNone;
}

}  // namespace tkc::passes

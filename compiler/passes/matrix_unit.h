// SPDX-License-Identifier: MIT
// What a target's matrix instructions multiply.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/internal_error.h"
#include "compiler/target/target.h"

namespace tkc::passes {

inline constexpr int64_t kDepthOfWarp = 16;  // K of a step where each warp multiplies by itself, 16-bit operands

/// The matrix instruction of 16-bit operands: all products are of these.
inline const MatrixShape& ShapeOf(const Target& target) {
  const MatrixShape* shape = FindMatrixShape(target, DType::kBF16);
  Ensure(shape != nullptr, "a target without products of 16-bit operands");
  return *shape;
}

/// Rows that the warps of an instance multiply side by side, each those of its instruction.
inline int64_t RowsOfWarps(const Target& target) {
  return ShapeOf(target).m * (target.has_matrix_group ? 1 : ir::kWarpsOfInstance);
}

/// What a worker instance's product is made of: of one instruction of the warpgroup, or of one of each warp, side by side.
struct ProductUnit {
  int64_t rows = 0, cols = 0, depth = 0;
  int64_t wide = 0;  // K of a step where it divides the operands': their loads then bring 16 bytes a lane

  int64_t StepOf(int64_t k) const { return wide != 0 && k % wide == 0 ? wide : depth; }
};

inline ProductUnit UnitOf(const Target& target, const ir::RegisterLayout& l) {
  if (!target.has_matrix_group) return {l.RowsPerBlock(), l.ColsPerBlock(), kDepthOfWarp, target.wide_depth};
  const MatrixShape& shape = ShapeOf(target);
  return {shape.m, shape.n_step, shape.k};
}

}  // namespace tkc::passes

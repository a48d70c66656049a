// SPDX-License-Identifier: MIT
// What a target's matrix instructions multiply.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/target/target.h"

namespace tkc::passes {

inline constexpr int64_t kMatrixRows = 64;       // of one warpgroup's matrix instruction
inline constexpr int64_t kMatrixCols = 8;        // granularity of N
inline constexpr int64_t kMatrixMostCols = 256;  // of one instruction
inline constexpr int64_t kMatrixDepth = 16;      // K of one instruction, 16-bit operands

/// What a worker instance's product is made of: of one instruction of the warpgroup, or of one of each warp, side by side.
struct ProductUnit {
  int64_t rows = kMatrixRows, cols = kMatrixCols, depth = kMatrixDepth;
  int64_t wide = 0;  // K of a step where it divides the operands': their loads then bring 16 bytes a lane

  int64_t StepOf(int64_t k) const { return wide != 0 && k % wide == 0 ? wide : depth; }
};

inline ProductUnit UnitOf(const Target& target, const ir::RegisterLayout& l) {
  if (target.has_matrix_group) return {};
  return {l.RowsPerBlock(), l.ColsPerBlock(), kMatrixDepth, target.is_hip ? 2 * kMatrixDepth : 0};
}

}  // namespace tkc::passes

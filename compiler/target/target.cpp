// SPDX-License-Identifier: MIT
#include "compiler/target/target.h"

#include <algorithm>

#include "compiler/target/tables.h"

namespace tkc {

int RegisterRule::AtEntry(int threads) const {
  if (threads <= 0) return 0;
  // The count is a multiple of the unit, but 255 is the largest a kernel can be compiled for: two warpgroups enter with 256 and
  // trade from there.
  return std::min(file / threads, most_per_thread + 1) / unit * unit;
}

std::span<const Target> Targets() {
  static constexpr Target kAll[] = {targets::kSm90a, targets::kSm80,   targets::kSm86,   targets::kSm89,
                                    targets::kSm120, targets::kSm100a, targets::kGfx942, targets::kGfx950};
  return kAll;
}

const Target* FindTarget(std::string_view name) {
  for (const Target& target : Targets()) {
    if (target.name == name) return &target;
  }
  return nullptr;
}

const MatrixShape* FindMatrixShape(const Target& target, DType operand) {
  for (const MatrixShape& shape : target.matrix_shapes) {
    if (shape.operand == operand) return &shape;
  }
  return nullptr;
}

}  // namespace tkc

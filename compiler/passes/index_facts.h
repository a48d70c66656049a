// SPDX-License-Identifier: MIT
// What is known at compile time of the integers of a kernel: grid axes, loop variables, dims and what is computed from them.
#pragma once

#include <cstdint>

#include "compiler/ir/ir.h"
#include "compiler/passes/known_ranges.h"

namespace tkc::passes {

/// Facts about the names of one kernel before lower_grid; what workers name alike shares what is known.
class IndexFacts {
 public:
  explicit IndexFacts(const ir::Kernel& kernel);

  /// A number that divides the expression whatever the names in it are, at least 1; 0 for zero itself.
  int64_t Divisor(const ir::Scalar& scalar) const;
  /// Whether it is at least zero; false also where nothing is known.
  bool IsNonNegative(const ir::Scalar& scalar) const;

 private:
  void Learn(const ir::Region& region);

  KnownRanges known_;
};

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
// What is known at compile time of the integers of a kernel: grid axes, loop variables, dims and what is computed from them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "compiler/ir/ir.h"

namespace tkc::passes {

/// Facts about the names of one kernel before lower_grid; those that a worker defines count for its own code.
class IndexFacts {
 public:
  explicit IndexFacts(const ir::Kernel& kernel);

  /// A number that divides the expression whatever the names in it are, at least 1; 0 for zero itself.
  int64_t Divisor(const ir::Scalar& scalar) const;
  /// Whether it is at least zero; false also where nothing is known.
  bool IsNonNegative(const ir::Scalar& scalar) const;

 private:
  struct Fact {
    int64_t divisor = 1;
    bool is_non_negative = false;
  };
  void Learn(const ir::Region& region);
  /// A name that starts at `first` and grows in steps.
  void LearnSteps(const std::string& name, const ir::Scalar& first, int64_t step);

  std::map<std::string, Fact> facts_;
};

}  // namespace tkc::passes

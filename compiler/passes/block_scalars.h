// SPDX-License-Identifier: MIT
// What a worker computes once and for all: scalars that are the same as long as its block lives.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/ir.h"

namespace tkc::passes {

class BlockScalars {
 public:
  /// Of a worker as lower_grid leaves it.
  explicit BlockScalars(const ir::Region& body);

  /// The scalar without names of the worker's lets: by those of the launch.
  ir::Scalar Expanded(ir::Scalar scalar) const;

  /// Whether it is the same as long as the block lives. `scalar` is expanded.
  bool IsConstant(const ir::Scalar& scalar) const;

 private:
  std::vector<std::pair<std::string, ir::Scalar>> values_;  // in the order of the lets
  std::set<std::string> changing_;
};

}  // namespace tkc::passes

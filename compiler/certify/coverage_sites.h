// SPDX-License-Identifier: MIT
// The rectangles of a tensor that a tile stores, as coverage_stores finds them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/certify/finding.h"
#include "compiler/ir/ir.h"
#include "compiler/symbolic/index_digits.h"

namespace tkc::certify {

/// A grid axis or a loop around a store: its variable is lo, lo + step, .. below hi. Or a digit of such.
struct Iteration {
  std::string name;
  ir::Scalar lo, hi;
  int64_t step = 1;
  bool is_told = false;                                 // known already: other values of it store elsewhere
  std::shared_ptr<const symbolic::IndexDigit> digit{};  // null: an axis or a loop
};

/// One store, in one agent, of one copy of an unrolled loop.
struct Site {
  const ir::Op* op = nullptr;
  std::string who;
  std::vector<int64_t> first{}, extent{};  // of each axis, beside what `base` names
  std::vector<ir::Scalar> base{};
  std::vector<ir::Scalar> ends{};  // of each axis, or null: what lies behind is not stored
  std::vector<Iteration> around{};
};

/// Sites of one tensor that have their base in common: in other tiles, and in other iterations of the loops around, they store
/// other elements.
std::optional<Finding> CheckTold(const std::string& tensor, const std::vector<Site>& sites, const ir::Kernel& kernel);

}  // namespace tkc::certify

// SPDX-License-Identifier: MIT
// Which variables one axis of a store tells apart: by strides that are numbers, or that the launch fixes.
#pragma once

#include <cstdint>
#include <set>

#include "compiler/sema/grid_stores.h"

namespace tkc::sema {

constexpr int64_t kLargestSpan = int64_t{1} << 20;  // of coefficients of a loop's start, and of iterations that are counted

/// to += factor * from; false, and nothing is added, where symbolic::Sum has no sum.
[[nodiscard]] bool Add(symbolic::Polynomial& to, const symbolic::Polynomial& from, int64_t factor);

/// Whether all that the axis stores lies at or behind where the run begins.
bool BeginsIn(const Run& run, const StoredAxis& axis, const GridStore& store);

/// What one axis tells apart.
struct Apart {
  std::set<typed::VarId> vars;  // all that occur in it, or none
  bool is_all = true;
  int64_t covered = 0;  // elements that all their values span, 0: unbounded
};

/// Variables that an axis of `store` tells apart. Of executions that could meet in it, those in `known` have the same values, so
/// that terms of them shift all of these alike.
Apart ApartAlong(const StoredAxis& axis, const GridStore& store, const std::set<typed::VarId>& known);

/// Likewise where strides are numbers or what the launch fixes, as in `Y[g * n + c]` of `c in n`: all variables of the axis, or
/// none.
std::set<typed::VarId> ApartBySymbols(const StoredAxis& axis, const GridStore& store, const std::set<typed::VarId>& known);

}  // namespace tkc::sema

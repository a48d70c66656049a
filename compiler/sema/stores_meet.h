// SPDX-License-Identifier: MIT
// Whether conditions keep stores apart that a block of the grid would store both, as those of both triangles of a symmetric matrix.
#pragma once

#include "compiler/sema/grid_stores.h"

namespace tkc::sema {

/// Each axis lies in a block of one grid axis for the one and of one, cut alike, for the other, as in `C[i, j]` and `C[j, i]`:
/// where they meet these blocks are the same, and conditions around the one exclude those around the other.
bool ExclusiveWhereTheyMeet(const GridStore& a, const GridStore& b);

/// On one axis the one ends where the other begins or before, as ranges, conditions and requirements show it. `tied`: variables
/// that have one value where they meet.
bool ApartByFacts(const GridStore& a, const GridStore& b, const std::set<typed::VarId>& tied);

/// The same of two executions of one store that have different values of the variable, and the same of those that are `known`.
bool IsToldByFacts(const GridStore& store, const Iteration& iteration, const std::set<typed::VarId>& known);

}  // namespace tkc::sema

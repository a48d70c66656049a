// SPDX-License-Identifier: MIT
// Whether executions of stores meet: the arithmetic behind check_grid_map.
//
// The axes of a store start at affine forms over the variables around it. A variable is told apart by an axis in which its step,
// times its coefficient, reaches beyond what the smaller ones of that axis cover; if every variable is told apart, no two
// executions meet.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "compiler/sema/grid_stores.h"

namespace tkc::sema {

/// Variables of `store` that some axis tells apart.
std::set<typed::VarId> Separated(const GridStore& store);

/// Whether a loop around the store begins at an element that the variable selects.
bool IsBoundByData(const GridStore& store, typed::VarId var);

/// Variables that have one value where the two meet: which the axes that they have in common tell apart.
std::set<typed::VarId> Tied(const GridStore& a, const GridStore& b);

/// Conditions around them exclude one another, for the same values of all variables that they mention.
bool Exclusive(const GridStore& a, const GridStore& b);

/// On one axis `before` ends where the loops around `after` begin, for the same values of the variables that are mentioned there:
/// different ones are told apart by the axes that both have in common.
bool EndsBefore(const GridStore& before, const GridStore& after);

/// A store, and where its axes start beside the others of its form.
struct PlacedStore {
  const GridStore* store;
  std::vector<int64_t> offsets;  // elements, one an axis
};

/// The form of the store, its axes with their constants taken out: these become `offsets`.
std::string FormOf(const GridStore& store, std::vector<int64_t>& offsets);

/// For the same values of all variables: some elements are stored by both.
bool Overlap(const PlacedStore& a, const PlacedStore& b);

/// Whether stores of one form store different elements wherever their variables differ: all of them together are told apart, too.
bool ApartIfVariablesDiffer(const std::vector<PlacedStore>& group);

/// On one axis, whose variables have one value wherever stores of one form meet, they store different elements.
bool ApartWhereTied(const PlacedStore& a, const PlacedStore& b);

/// On one axis stores of one form are further apart than all values of the variables reach.
bool OutOfReach(const PlacedStore& a, const PlacedStore& b);

}  // namespace tkc::sema

// SPDX-License-Identifier: MIT
// The stores of a grid section, one entry for each instance that executes one: where the axes of what is stored start, by the grid
// axes and loops around it. What check_grid_map compares.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/sema/typed.h"
#include "compiler/symbolic/condition.h"
#include "compiler/symbolic/index_digits.h"
#include "compiler/symbolic/polynomial.h"

namespace tkc::sema {

/// A grid axis or a loop around a store, or a digit of such.
struct Iteration {
  typed::VarId var = typed::kNone;       // of loops that run alike: the first one's
  typed::VarId declared = typed::kNone;  // its own
  int64_t step = 1;
  std::optional<int64_t> span{};  // hi - lo at most, where that is a number
  bool is_grid = false;
  bool is_block = false;                                // a grid axis cut `by` a size
  std::optional<symbolic::Polynomial> lo{};             // where it starts
  std::optional<symbolic::Polynomial> end{};            // below which it stays
  symbolic::Scalar first{}, hi{};                       // both as they are written; of digits null
  std::shared_ptr<const symbolic::IndexDigit> digit{};  // null: a grid axis or a loop

  bool RunsOnce() const { return span && *span <= step; }
};

/// Elements from one number in an index tensor, `off[e]`, up to the next, `off[e + 1]`: as these don't decrease, runs are disjoint.
struct Run {
  std::string tensor;
  symbolic::Polynomial number;  // e
  symbolic::Polynomial first;   // off[e], or what lies behind it in the run: max(off[e], 0)
};

/// The elements of one axis that one execution stores.
struct StoredAxis {
  symbolic::Polynomial start;
  int64_t extent = 1;
  std::vector<symbolic::Polynomial> ends{};  // elements at each of these and behind are not stored
  std::vector<Run> runs{};                   // each of which ends at one of the `ends`
  symbolic::Scalar first{}, hi{};            // where it starts, and below which it stays, as they are written; both may be null
  int64_t apart = 0, span = 0;  // several stores begin at distances from `start` that are multiples of `apart`, up to `span`
};

struct GridStore {
  const typed::Stmt* stmt = nullptr;
  std::vector<StoredAxis> axes;
  std::vector<Iteration> around;
  std::vector<symbolic::Polynomial> zeros{};    // integers that are zero wherever it is executed, as conditions say
  std::vector<symbolic::Condition> conditions;  // that hold
  std::string name;                             // of the instance
  std::vector<symbolic::Scalar> facts{};        // the conditions, each as what holds, none of them an `and`
};

/// The variable's own term in a polynomial.
std::string KeyOf(typed::VarId var);
/// Whether the term, or a term of the polynomial, names the variable: `v3`, but not the beginning of `v30`.
bool Mentions(const std::string& term, typed::VarId var);
bool Mentions(const symbolic::Polynomial& polynomial, typed::VarId var);

/// Whether what tells by `mentions` which variables it names is the same in all executions of the store that have those in `known`
/// in common.
template <typename MentionsVar>
bool IsAlike(const GridStore& store, const std::set<typed::VarId>& known, const MentionsVar& mentions) {
  return std::all_of(store.around.begin(), store.around.end(),
                     [&](const Iteration& each) { return known.contains(each.var) || !mentions(each.var); });
}

/// The stores to each tensor, `+=` and its like among them, in the order of the source.
std::map<typed::ParamId, std::vector<GridStore>> CollectGridStores(const typed::Kernel& kernel, const typed::Section& section);

/// Names of tensors whose elements bound runs that are stored: they must not decrease.
std::set<std::string> TensorsOfRuns(const typed::Kernel& kernel);

}  // namespace tkc::sema

// SPDX-License-Identifier: MIT
#include "compiler/sema/stores_apart.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "compiler/sema/axis_strides.h"
#include "compiler/sema/stores_meet.h"

namespace tkc::sema {
namespace {

using symbolic::Polynomial;
using typed::VarId;

/// Of what is told apart, variables that have one value where executions meet: all but loops that begin where others are standing
/// which do not. Of those the distance from there is the same. Digits of what is known are known, and told apart.
void AddKnown(const GridStore& store, std::set<VarId>& separated, std::set<VarId>& known) {
  const auto is_known = [&](const Polynomial& polynomial) {
    return std::all_of(store.around.begin(), store.around.end(),
                       [&](const Iteration& other) { return known.count(other.var) > 0 || !Mentions(polynomial, other.var); });
  };
  for (const Iteration& iteration : store.around) {
    if (iteration.digit) {
      if (is_known(iteration.digit->base)) separated.insert(iteration.var);
      if (separated.count(iteration.var) > 0) known.insert(iteration.var);
      continue;
    }
    if (iteration.lo && is_known(*iteration.lo) && separated.count(iteration.var) > 0) known.insert(iteration.var);
  }
}

/// Integers of which the digits that are known say all: axes on which executions that meet store the same element.
std::vector<StoredAxis> DeterminedAxes(const GridStore& store, const std::set<VarId>& known) {
  std::vector<const symbolic::IndexDigit*> digits;
  for (const Iteration& iteration : store.around) {
    if (iteration.digit && known.count(iteration.var) > 0) digits.push_back(&*iteration.digit);
  }
  std::vector<StoredAxis> axes;
  for (const symbolic::Scalar& base : symbolic::DeterminedBases(digits)) {
    if (std::optional<Polynomial> start = symbolic::ToPolynomial(base)) axes.push_back({std::move(*start), 1});
  }
  return axes;
}

/// The next variable that nothing else tells apart. A digit follows from what it is a digit of.
void AddToldByFacts(const GridStore& store, std::set<VarId>& separated, std::set<VarId>& known) {
  const auto told = std::find_if(store.around.begin(), store.around.end(), [&](const Iteration& iteration) {
    return !separated.contains(iteration.var) && !iteration.RunsOnce() && IsToldByFacts(store, iteration, known);
  });
  if (told == store.around.end()) return;
  separated.insert(told->var);
  AddKnown(store, separated, known);
}

/// What is zero wherever either is executed.
std::vector<Polynomial> CommonZeros(const GridStore& a, const GridStore& b) {
  std::vector<Polynomial> common;
  std::copy_if(a.zeros.begin(), a.zeros.end(), std::back_inserter(common),
               [&](const Polynomial& zero) { return std::find(b.zeros.begin(), b.zeros.end(), zero) != b.zeros.end(); });
  return common;
}

/// Whether not both can be zero: their difference is a number other than zero.
bool DifferByNumber(const Polynomial& a, const Polynomial& b) {
  Polynomial difference = a;
  return Add(difference, b, -1) && symbolic::NonzeroNumber(difference);
}

/// Leaves of what bounds one axis what bounds the other as well.
void KeepCommonEnds(StoredAxis& axis, const StoredAxis& other) {
  const auto is_end = [&](const Polynomial& end) {
    return std::find(other.ends.begin(), other.ends.end(), end) != other.ends.end();
  };
  const auto is_run = [&](const Run& run) {
    return std::any_of(other.runs.begin(), other.runs.end(), [&](const Run& of_other) {
      return run.tensor == of_other.tensor && run.number == of_other.number && run.first == of_other.first;
    });
  };
  std::erase_if(axis.ends, std::not_fn(is_end));
  std::erase_if(axis.runs, std::not_fn(is_run));
}

/// The store of the axes that both have in common: what it tells apart has one value where they meet.
GridStore Common(const GridStore& a, const GridStore& b) {
  GridStore common{.stmt = a.stmt, .axes = {}, .around = a.around, .zeros = CommonZeros(a, b), .conditions = {}, .name = {}};
  for (size_t i = 0; i < a.axes.size(); ++i) {
    if (a.axes[i].start != b.axes[i].start || a.axes[i].extent != b.axes[i].extent) continue;
    common.axes.push_back(a.axes[i]);
    KeepCommonEnds(common.axes.back(), b.axes[i]);
    common.axes.back().first = nullptr;  // what is said of one's loops and conditions need not hold of the other's
  }
  return common;
}

/// Where an axis of `store` starts at the earliest: loops and blocks that `other` does not mention there begin where their range
/// does. A block that can't be put there stays: it may be told apart.
std::optional<Polynomial> Earliest(const GridStore& store, const Polynomial& start, const Polynomial& other) {
  Polynomial earliest = start;
  for (const Iteration& iteration : store.around) {
    if (Mentions(other, iteration.var) || !Mentions(start, iteration.var)) continue;
    const auto own = earliest.find(KeyOf(iteration.var));
    if (own == earliest.end() || own->second < 0 || own->second > kLargestSpan || !iteration.lo) {
      if (iteration.is_grid) continue;
      return std::nullopt;
    }
    const int64_t coefficient = own->second;
    earliest.erase(own);
    if (Mentions(earliest, iteration.var) || !Add(earliest, *iteration.lo, coefficient)) return std::nullopt;
  }
  return earliest;
}

}  // namespace

std::set<VarId> Separated(const GridStore& store) {
  // What is zero in each execution is an axis, too, on which all of them store the same element.
  std::vector<StoredAxis> axes = store.axes;
  for (const Polynomial& zero : store.zeros) axes.push_back({zero, 1});
  // An element belongs to one run, so that the number of the run is another.
  for (const StoredAxis& axis : store.axes) {
    for (const Run& run : axis.runs) {
      if (BeginsIn(run, axis, store)) axes.push_back({run.number, 1});
    }
  }
  std::set<VarId> separated, known;
  // Axes whose start depends on what others tell apart come after them, in whichever order they stand.
  for (size_t before = ~size_t{0}; before != separated.size() + known.size();) {
    before = separated.size() + known.size();
    for (const StoredAxis& axis : axes) {
      separated.merge(ApartAlong(axis, store, known).vars);
      separated.merge(ApartBySymbols(axis, store, known));
    }
    AddKnown(store, separated, known);
    for (const StoredAxis& base : DeterminedAxes(store, known)) {
      separated.merge(ApartAlong(base, store, known).vars);
      separated.merge(ApartBySymbols(base, store, known));
    }
    AddKnown(store, separated, known);
    if (before == separated.size() + known.size()) AddToldByFacts(store, separated, known);
  }
  return separated;
}

std::set<VarId> Tied(const GridStore& a, const GridStore& b) { return Separated(Common(a, b)); }

bool IsBoundByData(const GridStore& store, VarId var) {
  return std::any_of(store.around.begin(), store.around.end(), [&](const Iteration& loop) {
    return loop.lo && std::any_of(loop.lo->begin(), loop.lo->end(),
                                  [&](const auto& term) { return Mentions(term.first, var) && term.first != KeyOf(var); });
  });
}

bool Exclusive(const GridStore& a, const GridStore& b) {
  const std::set<VarId> apart = Tied(a, b);
  const auto is_fixed = [&](const auto& of) {  // a condition's text, or a polynomial
    return std::all_of(a.around.begin(), a.around.end(),
                       [&](const Iteration& it) { return apart.count(it.var) > 0 || !Mentions(of, it.var); }) &&
           std::all_of(b.around.begin(), b.around.end(),
                       [&](const Iteration& it) { return apart.count(it.var) > 0 || !Mentions(of, it.var); });
  };
  std::vector<symbolic::Condition> held;
  for (const GridStore* store : {&a, &b}) {
    std::copy_if(store->conditions.begin(), store->conditions.end(), std::back_inserter(held),
                 [&](const symbolic::Condition& condition) { return is_fixed(condition.text); });
  }
  if (symbolic::KnownConditions(held).IsContradiction()) return true;
  for (const Polynomial& one : a.zeros) {
    for (const Polynomial& other : b.zeros) {
      if (DifferByNumber(one, other) && is_fixed(one)) return true;
    }
  }
  return false;
}

bool EndsBefore(const GridStore& before, const GridStore& after) {
  const std::set<VarId> apart = Tied(before, after);
  /// Whether what lies at `end` and behind begins no later than the axis of `after`.
  const auto is_before = [&](const Polynomial& end, const StoredAxis& axis) {
    const std::optional<Polynomial> then = Earliest(after, axis.start, end);
    if (!then) return false;
    const auto is_tied = [&](const Iteration& iteration) {
      return apart.count(iteration.var) > 0 || !(Mentions(end, iteration.var) || Mentions(*then, iteration.var));
    };
    Polynomial gap = *then;
    if (!Add(gap, end, -1)) return false;
    const bool is_behind = gap.empty() || symbolic::NonzeroNumber(gap).value_or(-1) >= 0;
    return is_behind && std::all_of(before.around.begin(), before.around.end(), is_tied) &&
           std::all_of(after.around.begin(), after.around.end(), is_tied);
  };
  for (size_t i = 0; i < before.axes.size(); ++i) {
    std::vector<Polynomial> ends = before.axes[i].ends;
    if (Polynomial end = before.axes[i].start; Add(end, {{"", before.axes[i].extent}}, 1)) ends.push_back(std::move(end));
    if (std::any_of(ends.begin(), ends.end(), [&](const Polynomial& end) { return is_before(end, after.axes[i]); })) return true;
  }
  return false;
}

std::string FormOf(const GridStore& store, std::vector<int64_t>& offsets) {
  std::string text;
  for (const StoredAxis& axis : store.axes) {
    int64_t offset = 0;
    for (const auto& [key, coefficient] : axis.start) {
      if (key.empty())
        offset = coefficient;
      else
        text += fmt::format("{}{} ", coefficient, key);
    }
    offsets.push_back(offset);
    text += "|";
  }
  return text;
}

bool Overlap(const PlacedStore& a, const PlacedStore& b) {
  for (size_t i = 0; i < a.offsets.size(); ++i) {
    if (a.offsets[i] + a.store->axes[i].extent <= b.offsets[i] || b.offsets[i] + b.store->axes[i].extent <= a.offsets[i])
      return false;
  }
  return true;
}

/// One store of what all of them store, of one form.
static GridStore Together(const std::vector<PlacedStore>& group) {
  GridStore together = *group[0].store;
  for (StoredAxis& axis : together.axes) axis.first = group.size() > 1 ? nullptr : axis.first;  // facts are of one of them
  for (size_t i = 0; i < together.axes.size(); ++i) {
    int64_t first = group[0].offsets[i], end = first;
    for (const PlacedStore& placed : group) {
      together.zeros = CommonZeros(together, *placed.store);
      KeepCommonEnds(together.axes[i], placed.store->axes[i]);
      first = std::min(first, placed.offsets[i]);
      end = std::max(end, placed.offsets[i] + placed.store->axes[i].extent);
    }
    together.axes[i].start.erase("");
    if (first != 0) together.axes[i].start[""] = first;  // where the first of them begins
    int64_t apart = 0, extent = 0;
    for (const PlacedStore& placed : group) {
      apart = std::gcd(apart, placed.offsets[i] - first);
      extent = std::max(extent, placed.store->axes[i].extent);
    }
    if (apart > extent)
      together.axes[i].extent = extent, together.axes[i].apart = apart, together.axes[i].span = end - extent - first;
    else
      together.axes[i].extent = end - first;
  }
  return together;
}

bool ApartIfVariablesDiffer(const std::vector<PlacedStore>& group) {
  const std::set<VarId> apart = Separated(Together(group));
  return std::all_of(group.begin(), group.end(), [&](const PlacedStore& placed) {
    const std::set<VarId> alone = Separated(*placed.store);
    // Digits follow from what they are digits of.
    return std::all_of(placed.store->around.begin(), placed.store->around.end(), [&](const Iteration& iteration) {
      return iteration.digit || alone.count(iteration.var) == 0 || apart.count(iteration.var) > 0;
    });
  });
}

bool ApartWhereTied(const PlacedStore& a, const PlacedStore& b) {
  const std::set<VarId> tied = Separated(Together({a, b}));
  for (size_t i = 0; i < a.offsets.size(); ++i) {
    const Polynomial& start = a.store->axes[i].start;
    const auto is_tied = [&](const Iteration& iteration) {
      return tied.contains(iteration.var) || !Mentions(start, iteration.var);
    };
    const PlacedStore &lower = a.offsets[i] < b.offsets[i] ? a : b, &upper = &lower == &a ? b : a;
    const bool are_apart = lower.offsets[i] + lower.store->axes[i].extent <= upper.offsets[i];
    if (are_apart && std::ranges::all_of(a.store->around, is_tied) && std::ranges::all_of(b.store->around, is_tied)) return true;
  }
  return false;
}

bool OutOfReach(const PlacedStore& a, const PlacedStore& b) {
  for (size_t i = 0; i < a.offsets.size(); ++i) {
    const int64_t distance = b.offsets[i] - a.offsets[i];
    const PlacedStore& lower = distance < 0 ? b : a;
    const Apart apart = ApartAlong(lower.store->axes[i], *lower.store, {});
    if (apart.is_all && apart.covered != 0 && std::abs(distance) >= apart.covered) return true;
  }
  return false;
}

}  // namespace tkc::sema

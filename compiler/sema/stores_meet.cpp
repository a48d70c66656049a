// SPDX-License-Identifier: MIT
#include "compiler/sema/stores_meet.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "compiler/sema/symbolic_table.h"
#include "compiler/symbolic/cases.h"
#include "compiler/symbolic/solved_names.h"

namespace tkc::sema {
namespace {

using symbolic::Polynomial;
using typed::VarId;

/// The grid axis in one block of which the axis of a store lies.
const Iteration* BlockOf(const GridStore& store, const StoredAxis& axis) {
  Polynomial start = axis.start;
  int64_t offset = 0;
  if (const auto number = start.find(""); number != start.end()) {
    offset = number->second;
    start.erase(number);
  }
  for (const Iteration& iteration : store.around) {
    const bool begins_alike = iteration.is_grid && iteration.lo && start == Polynomial{{KeyOf(iteration.var), 1}};
    const auto depends = [&](const Iteration& other) { return Mentions(*iteration.lo, other.var); };
    if (!begins_alike || std::any_of(store.around.begin(), store.around.end(), depends)) continue;
    const bool is_within = offset >= 0 && offset + std::max(axis.extent, axis.span + axis.extent) <= iteration.step;
    return is_within ? &iteration : nullptr;
  }
  return nullptr;
}

/// For the variables around one store those of another, where they store the same elements; nothing if they may differ.
std::optional<std::map<VarId, VarId>> WhereTheyMeet(const GridStore& a, const GridStore& b) {
  std::map<VarId, VarId> same;
  for (size_t i = 0; i < a.axes.size(); ++i) {
    const Iteration *one = BlockOf(a, a.axes[i]), *other = BlockOf(b, b.axes[i]);
    if (!one || !other || one->step != other->step || *one->lo != *other->lo) continue;
    if (!same.emplace(other->var, one->var).second) return std::nullopt;
  }
  return same;
}

/// One execution of a store: its variables have names of its own, or are what `same` says. Of steps of more than one those count
/// the steps.
class Execution {
 public:
  Execution(const GridStore& store, std::string_view own, std::map<VarId, symbolic::Scalar> same)
      : store_(store), own_(own), same_(std::move(same)) {}

  symbolic::Scalar Of(symbolic::Scalar scalar) const {
    for (auto iteration = store_.around.rbegin(); iteration != store_.around.rend(); ++iteration) {
      if (symbolic::Mentions(scalar, SymbolicTable::NameOf(iteration->var)))
        scalar = symbolic::Substitute(scalar, SymbolicTable::NameOf(iteration->var), ValueOf(*iteration));
    }
    return scalar;
  }

  symbolic::Scalar ValueOf(const Iteration& iteration) const {
    if (const auto same = same_.find(iteration.var); same != same_.end()) return same->second;
    const symbolic::Scalar own = symbolic::Name(own_ + SymbolicTable::NameOf(iteration.var));
    if (iteration.step == 1 || !iteration.first) return own;
    return symbolic::Add(Of(iteration.first), symbolic::Mul(own, symbolic::Int(iteration.step)));
  }

  void AddNotNegative(std::vector<symbolic::Scalar>& not_negative) const {
    for (const symbolic::Scalar& fact : store_.facts) symbolic::AddNotNegative(Of(fact), true, not_negative);
    for (const Iteration& iteration : store_.around) {
      if (!iteration.first) continue;
      const symbolic::Scalar value = ValueOf(iteration);
      not_negative.push_back(symbolic::Sub(value, Of(iteration.first)));
      not_negative.push_back(symbolic::Sub(symbolic::Sub(Of(iteration.hi), value), symbolic::Int(1)));
      if (iteration.step > 1 && !same_.contains(iteration.var))
        not_negative.push_back(symbolic::Name(own_ + SymbolicTable::NameOf(iteration.var)));
    }
  }

  symbolic::Scalar Begin(size_t axis) const { return Of(store_.axes[axis].first); }

  /// Behind the last element: the end of the extent, and of the range.
  std::vector<symbolic::Scalar> Ends(size_t axis) const {
    const StoredAxis& stored = store_.axes[axis];
    std::vector<symbolic::Scalar> ends{symbolic::Add(Begin(axis), symbolic::Int(stored.extent))};
    if (stored.hi) ends.push_back(Of(stored.hi));
    return ends;
  }

  bool HasAxis(size_t axis) const { return store_.axes[axis].first != nullptr; }

 private:
  const GridStore& store_;
  std::string own_;
  std::map<VarId, symbolic::Scalar> same_;
};

const std::string kMore = "more";  // steps between two executions, beside one

/// On one axis one of the two ends where the other begins or before.
bool AreApart(const Execution& one, const Execution& other, size_t axes) {
  symbolic::Known known;
  one.AddNotNegative(known.not_negative);
  other.AddNotNegative(known.not_negative);
  known.is_count = [](const symbolic::Scalar& atom) {
    return atom->kind == symbolic::Kind::kName &&
           (SymbolicTable::IsCount(atom->name) || symbolic::SolvedNames::IsQuotient(atom->name) || atom->name == kMore);
  };
  symbolic::AddCounts(known);
  const auto ends_before = [&](const Execution& before, const Execution& after, size_t axis) {
    const std::vector<symbolic::Scalar> ends = before.Ends(axis);
    return std::any_of(ends.begin(), ends.end(), [&](const symbolic::Scalar& end) {
      return symbolic::IsAtLeast(symbolic::Sub(after.Begin(axis), end), 0, known);
    });
  };
  for (size_t axis = 0; axis < axes; ++axis) {
    const bool has = one.HasAxis(axis) && other.HasAxis(axis);
    if (has && (ends_before(one, other, axis) || ends_before(other, one, axis))) return true;
  }
  return false;
}

std::map<VarId, symbolic::Scalar> Own(const std::set<VarId>& vars) {
  std::map<VarId, symbolic::Scalar> own;
  for (const VarId var : vars) own.emplace(var, symbolic::Name(SymbolicTable::NameOf(var)));
  return own;
}

/// Whether the range begins, as it is written, at the same place in two executions with these variables alike.
bool FirstIsAlike(const Iteration& iteration, const GridStore& store, const std::set<VarId>& alike) {
  const auto mentions = [&](VarId var) { return symbolic::Mentions(iteration.first, SymbolicTable::NameOf(var)); };
  return iteration.first && IsAlike(store, alike, mentions);
}

/// Where `before` has an earlier value of the variable than `after`.
bool AreApartInOrder(const GridStore& before, const GridStore& after, const Iteration& iteration, const std::set<VarId>& alike) {
  std::map<VarId, symbolic::Scalar> first = Own(alike), then = Own(alike);
  const symbolic::Scalar var = symbolic::Name(SymbolicTable::NameOf(iteration.var));
  const symbolic::Scalar steps = symbolic::Add(symbolic::Name(kMore), symbolic::Int(1));
  first[iteration.var] = var;
  then[iteration.var] = symbolic::Add(var, symbolic::Mul(steps, symbolic::Int(iteration.step)));
  return AreApart({before, "a.", std::move(first)}, {after, "b.", std::move(then)}, before.axes.size());
}

}  // namespace

bool ApartByFacts(const GridStore& a, const GridStore& b, const std::set<VarId>& tied) {
  if (AreApart({a, "a.", Own(tied)}, {b, "b.", Own(tied)}, a.axes.size())) return true;
  // Or, of one variable that both have, whether it is the same in both, less or greater.
  return std::any_of(a.around.begin(), a.around.end(), [&](const Iteration& iteration) {
    const auto is_it = [&](const Iteration& other) { return other.var == iteration.var; };
    const bool is_of_both = std::any_of(b.around.begin(), b.around.end(), is_it);
    if (!is_of_both || iteration.digit || tied.contains(iteration.var) || !FirstIsAlike(iteration, a, tied)) return false;
    std::set<VarId> alike = tied;
    alike.insert(iteration.var);
    return AreApart({a, "a.", Own(alike)}, {b, "b.", Own(alike)}, a.axes.size()) && AreApartInOrder(a, b, iteration, tied) &&
           AreApartInOrder(b, a, iteration, tied);
  });
}

bool IsToldByFacts(const GridStore& store, const Iteration& iteration, const std::set<VarId>& known) {
  return !iteration.digit && FirstIsAlike(iteration, store, known) && AreApartInOrder(store, store, iteration, known);
}

bool ExclusiveWhereTheyMeet(const GridStore& a, const GridStore& b) {
  const auto same = WhereTheyMeet(a, b);
  if (!same || same->empty()) return false;
  std::set<VarId> known;
  for (const auto& [other, one] : *same) known.insert(one);
  const auto is_known = [&](const symbolic::Scalar& fact, const GridStore& store, const std::set<VarId>& of) {
    const std::string text = symbolic::CanonicalText(fact);
    return std::all_of(store.around.begin(), store.around.end(),
                       [&](const Iteration& it) { return of.contains(it.var) || !Mentions(text, it.var); });
  };
  std::vector<symbolic::Condition> facts;
  for (const symbolic::Scalar& fact : a.facts) {
    if (is_known(fact, a, known)) facts.push_back(symbolic::ConditionOf(fact));
  }
  std::set<VarId> of_other;
  for (const auto& [other, one] : *same) of_other.insert(other);
  for (symbolic::Scalar fact : b.facts) {
    if (!is_known(fact, b, of_other)) continue;
    for (const auto& [other, one] : *same)
      fact = symbolic::Substitute(fact, fmt::format("v{}", other), symbolic::Name(fmt::format("met.v{}", one)));
    for (const VarId one : known)
      fact = symbolic::Substitute(fact, fmt::format("met.v{}", one), symbolic::Name(fmt::format("v{}", one)));
    facts.push_back(symbolic::ConditionOf(fact));
  }
  return symbolic::KnownConditions(facts).IsContradiction();
}

}  // namespace tkc::sema

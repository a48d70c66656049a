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

/// Whether two conditions exclude one another, or three: neither is above the other, and they differ.
bool Contradict(const std::vector<symbolic::Scalar>& facts) {
  std::map<std::string, bool> known;
  for (const symbolic::Scalar& fact : facts) {
    const symbolic::Condition condition = symbolic::ConditionOf(fact);
    if (condition.text.empty()) continue;
    const auto [place, is_new] = known.emplace(condition.text, condition.is_negated);
    if (!is_new && place->second != condition.is_negated) return true;
  }
  const auto holds = [&](const symbolic::Scalar& a, const symbolic::Scalar& b) {
    const symbolic::Condition at_most = symbolic::ConditionOf(symbolic::Make(symbolic::Kind::kLe, DType::kBool, {a, b}));
    const auto place = known.find(at_most.text);
    return place != known.end() && place->second == at_most.is_negated;
  };
  return std::any_of(facts.begin(), facts.end(), [&](const symbolic::Scalar& fact) {
    return fact->kind == symbolic::Kind::kNe && !IsFloat(fact->args[0]->dtype) && holds(fact->args[0], fact->args[1]) &&
           holds(fact->args[1], fact->args[0]);
  });
}

/// With the store's own names for its variables but those that are `tied`: of steps of more than one these count the steps.
class Named {
 public:
  Named(const GridStore& store, const std::set<VarId>& tied, std::string_view own) : store_(store), tied_(tied), own_(own) {}

  symbolic::Scalar Of(symbolic::Scalar scalar) const {
    for (const Iteration& iteration : store_.around) {
      const std::string name = SymbolicTable::NameOf(iteration.var);
      if (tied_.contains(iteration.var) || !symbolic::Mentions(scalar, name)) continue;
      symbolic::Scalar own = symbolic::Name(own_ + name);
      if (iteration.step > 1 && iteration.first)
        own = symbolic::Add(Of(iteration.first), symbolic::Mul(own, symbolic::Int(iteration.step)));
      scalar = symbolic::Substitute(scalar, name, own);
    }
    return scalar;
  }

  void AddNotNegative(std::vector<symbolic::Scalar>& not_negative) const {
    for (const symbolic::Scalar& fact : store_.facts) symbolic::AddNotNegative(Of(fact), true, not_negative);
    for (const Iteration& iteration : store_.around) {
      if (!iteration.first) continue;
      const symbolic::Scalar var = Of(symbolic::Name(SymbolicTable::NameOf(iteration.var)));
      not_negative.push_back(symbolic::Sub(var, Of(iteration.first)));
      if (iteration.step > 1 && !tied_.contains(iteration.var))
        not_negative.push_back(symbolic::Name(own_ + SymbolicTable::NameOf(iteration.var)));
      not_negative.push_back(symbolic::Sub(symbolic::Sub(Of(iteration.hi), var), symbolic::Int(1)));
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

 private:
  const GridStore& store_;
  const std::set<VarId>& tied_;
  std::string own_;
};

}  // namespace

bool ApartByFacts(const GridStore& a, const GridStore& b, const std::set<VarId>& tied) {
  const Named one(a, tied, "a."), other(b, tied, "b.");
  symbolic::Known known;
  one.AddNotNegative(known.not_negative);
  other.AddNotNegative(known.not_negative);
  known.is_count = [](const symbolic::Scalar& atom) {
    return atom->kind == symbolic::Kind::kName &&
           (SymbolicTable::IsCount(atom->name) || symbolic::SolvedNames::IsQuotient(atom->name));
  };
  const auto ends_before = [&](const Named& before, const Named& after, size_t axis) {
    const std::vector<symbolic::Scalar> ends = before.Ends(axis);
    return std::any_of(ends.begin(), ends.end(), [&](const symbolic::Scalar& end) {
      return symbolic::IsAtLeast(symbolic::Sub(after.Begin(axis), end), 0, known);
    });
  };
  for (size_t axis = 0; axis < a.axes.size(); ++axis) {
    if (ends_before(one, other, axis) || ends_before(other, one, axis)) return true;
  }
  return false;
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
  std::vector<symbolic::Scalar> facts;
  for (const symbolic::Scalar& fact : a.facts) {
    if (is_known(fact, a, known)) facts.push_back(fact);
  }
  std::set<VarId> of_other;
  for (const auto& [other, one] : *same) of_other.insert(other);
  for (symbolic::Scalar fact : b.facts) {
    if (!is_known(fact, b, of_other)) continue;
    for (const auto& [other, one] : *same)
      fact = symbolic::Substitute(fact, fmt::format("v{}", other), symbolic::Name(fmt::format("met.v{}", one)));
    for (const VarId one : known)
      fact = symbolic::Substitute(fact, fmt::format("met.v{}", one), symbolic::Name(fmt::format("v{}", one)));
    facts.push_back(std::move(fact));
  }
  return Contradict(facts);
}

}  // namespace tkc::sema

// SPDX-License-Identifier: MIT
// The normal form of conditions, by which they are compared: the same, or each the negation of the other (`a != b` of `a == b`,
// `a >= b` of `a < b`, `not (p or q)` of `p or q`), or one following from others, as `not n == 2` does from `n == 1`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/symbolic/integer_set.h"
#include "compiler/symbolic/scalar.h"

namespace tkc::symbolic {

/// That an integer is one of a set.
struct Comparison {
  std::string integer{};  // for comparison only, as the condition's text; empty: the condition is no such
  IntegerSet holds{};
  IntegerSet possible{};  // what it can be at all
};

/// Conditions that share their text are equal, or where only one of them is negated, exclude one another.
struct Condition {
  std::string text{};  // for comparison only, not for reading
  bool is_negated = false;
  Comparison comparison{};         // what the text says
  std::vector<Condition> parts{};  // the text says that all of them hold; empty: it is no such
};

Condition ConditionOf(const Scalar& scalar);
Condition Negated(Condition condition);

/// What conditions that hold say of others.
class KnownConditions {
 public:
  KnownConditions() = default;
  explicit KnownConditions(const std::vector<Condition>& held);

  /// Whether it holds, as far as that follows.
  std::optional<bool> Decide(const Condition& condition) const;
  /// Whether they can't hold all at once.
  bool IsContradiction() const { return is_contradiction_; }

 private:
  void Learn(const Condition& condition, bool holds);
  /// Of parts that do not all hold, the one that is left where the others do.
  bool LearnFromLast(const Condition& all);
  std::optional<bool> DecideText(const Condition& condition) const;

  std::map<std::string, bool> texts_;
  std::map<std::string, IntegerSet> integers_;
  std::vector<Condition> not_all_;
  bool is_contradiction_ = false;
};

}  // namespace tkc::symbolic

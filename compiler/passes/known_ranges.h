// SPDX-License-Identifier: MIT
// What is known at compile time of an integer scalar, whatever its names stand for: between which integers it lies, and what
// divides it. It knows only what it is told: for a pass that walks over a program and tells it of each definition, loop and
// condition as it meets them. A pass that asks about a whole kernel, as it was before lower_grid, takes IndexFacts.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/symbolic/int_range.h"
#include "compiler/symbolic/scalar.h"

namespace tkc::passes {

using symbolic::IntRange;

class KnownRanges {
 public:
  /// `name`, a dim or a function of the launch, lies in this range and is a multiple of `divisor`, beside what is known of it.
  void Learn(const std::string& name, IntRange range, int64_t divisor = 1);
  /// `condition` holds: its conjuncts of the forms name < c, c <= name, name == c, name % c == 0 and the like are kept.
  void Assume(const symbolic::Scalar& condition);
  /// Code defines `name`: a `let`, of which nothing is known where it `changes` later; a loop or an axis, that starts at `first`
  /// and grows in steps; anything in a range. Workers may give one name to several things: then only what holds for all of them is
  /// known.
  void Define(const std::string& name, const symbolic::Scalar& value, bool changes);
  void DefineSteps(const std::string& name, const symbolic::Scalar& first, int64_t step);
  void DefineWithin(const std::string& name, IntRange range);
  /// Until it is left, the loop's index is below the loop's end, whatever that is.
  void EnterLoop(const ir::Op& loop);
  void LeaveLoop();

  IntRange Of(const symbolic::Scalar& scalar) const;
  /// Of a - b, by what Of(a - b) has of its parts and by the loops around.
  IntRange Difference(const symbolic::Scalar& a, const symbolic::Scalar& b) const;
  /// Whether the loop has one iteration at most.
  bool IsOneStepAtMost(const ir::Op& loop) const;
  /// A number that divides it, at least 1; 0 for zero itself.
  int64_t Divisor(const symbolic::Scalar& scalar) const;
  /// The same scalar with what is known put in: integers of one value, and the side that a minimum or maximum always takes.
  symbolic::Scalar Fold(const symbolic::Scalar& scalar) const;

 private:
  struct Fact {
    IntRange range{};
    int64_t divisor = 1;
  };
  struct Below {
    symbolic::Scalar index, end;
  };
  void Define(const std::string& name, Fact fact);
  void Compare(symbolic::Kind kind, const symbolic::Scalar& left, const symbolic::Scalar& right);

  std::map<std::string, Fact> facts_;
  std::set<std::string> defined_;  // by code
  std::vector<Below> loops_;       // axes of the grid, and the loops around

  friend KnownRanges KnownAtLaunch(const ir::Kernel& kernel);
};

/// Of dimensions, of what the condition of the schedule set and the launch's requirements say, and of the grid's axes.
KnownRanges KnownAtLaunch(const ir::Kernel& kernel);

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
// What is known at compile time of the integers of a kernel: grid axes, loop variables, dims and what is computed from them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/passes/known_ranges.h"

namespace tkc::passes {

/// Facts about the names of one kernel before lower_grid, where it is launched at all: its condition and requirements hold.
class IndexFacts {
 public:
  /// A loop or an axis: from `first` on in steps, each of which has so many elements, the last one up to `end`.
  struct Steps {
    std::string name;
    ir::Scalar first, end;
    int64_t step;
  };

  /// Of all workers: of what they name alike, only what holds for all of it is known.
  explicit IndexFacts(const ir::Kernel& kernel);
  /// Of one worker.
  IndexFacts(const ir::Kernel& kernel, const ir::Worker& worker);

  IntRange Of(const ir::Scalar& scalar) const { return known_.Of(scalar); }
  /// A number that divides the expression whatever the names in it are, at least 1; 0 for zero itself.
  int64_t Divisor(const ir::Scalar& scalar) const { return known_.Divisor(scalar); }
  /// Whether it is at least zero; false also where nothing is known.
  bool IsNonNegative(const ir::Scalar& scalar) const { return Of(scalar).lo >= 0; }

  /// The same number without the names of lets, but those that stand for several things.
  ir::Scalar WithoutLets(const ir::Scalar& scalar) const { return Expanded(scalar, false); }
  /// Nor of loops and axes: `k` is the first element of a step, of which only its number, `k'`, stays unknown.
  ir::Scalar WithoutSteps(const ir::Scalar& scalar) const { return Expanded(scalar, true); }

  /// Of blocks of a loop or an axis, that their own range begins with one of: where it may end in front of the tensor's end, after
  /// `extent` elements, inside a block. None, if it ends with a block or there. Nothing, if that is not known.
  std::optional<std::vector<ir::Scalar>> EndsInsideBlocks(const ir::AxisRange& axis, const ir::Scalar& extent) const;

  const std::vector<Steps>& AllSteps() const { return steps_; }
  /// Whether the name is that of steps and of nothing else.
  bool IsOfStepsOnly(const std::string& name) const { return !others_.contains(name); }

 private:
  /// What a name stands for; null: for several things, or what is not known.
  struct Meaning {
    ir::Scalar value{};
    bool is_steps = false;
  };

  void LearnLaunch(const ir::Kernel& kernel);
  void LearnWorker(const ir::Worker& worker);
  void Learn(const ir::Region& region);
  void Learn(const Steps& steps);
  void Define(const std::string& name, const Meaning& meaning);
  /// Adds what of `end`, of which the range ends at the least, may lie inside a block. False where there seems to be no end of it.
  bool AddEndsInside(const ir::Scalar& end, const ir::AxisRange& axis, const ir::Scalar& extent, std::vector<ir::Scalar>& inside,
                     int& ends) const;
  ir::Scalar Expanded(ir::Scalar scalar, bool with_steps) const;
  /// What a let names, as it was written: names in it stay.
  ir::Scalar Named(ir::Scalar scalar) const;

  KnownRanges known_;
  std::map<std::string, Meaning> meanings_;
  std::vector<Steps> steps_;
  std::set<std::string> others_;  // names of something else than steps
};

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
// What is known at compile time of the integers of a kernel: grid axes, loop variables, dims and what is computed from them.
// Collected from the kernel as a whole, into KnownRanges and what these do not keep: the blocks of loops, the values of lets.
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

/// Facts about the names in one kernel, for passes before lower_grid. They assume that the kernel's condition and its requirements
/// hold, since it is not launched otherwise.
class IndexFacts {
 public:
  /// A loop or a grid axis: its variable takes the values first, first + step, ... below `end`. Each value begins a block of `step`
  /// elements; the last block may be cut off by `end`.
  struct Steps {
    std::string name;
    ir::Scalar first, end;
    int64_t step;
  };

  /// About the names of all workers. If two workers use one name for different things, only what holds for both is known of it.
  explicit IndexFacts(const ir::Kernel& kernel);
  /// About the names of one worker.
  IndexFacts(const ir::Kernel& kernel, const ir::Worker& worker);

  IntRange Of(const ir::Scalar& scalar) const { return known_.Of(scalar); }
  /// A number that divides the expression whatever the names in it are, at least 1; 0 for zero itself.
  int64_t Divisor(const ir::Scalar& scalar) const { return known_.Divisor(scalar); }
  /// Whether it is at least zero; false also where nothing is known.
  bool IsNonNegative(const ir::Scalar& scalar) const { return Of(scalar).lo >= 0; }

  /// The same number with the names of lets replaced by their values. Names that stand for several things stay.
  ir::Scalar WithoutLets(const ir::Scalar& scalar) const { return Expanded(scalar, false); }
  /// In addition with the variables of loops and axes replaced: `k` becomes `first + step * k'`, where `k'` counts the steps.
  ir::Scalar WithoutSteps(const ir::Scalar& scalar) const { return Expanded(scalar, true); }

  /// Where an access to blocks of a loop or an axis may stop short: the ends of that loop's range which may lie inside a block and
  /// before the end of the tensor's axis, which has `extent` elements. Empty if every block is whole or ends with the tensor;
  /// nothing if that is not known.
  std::optional<std::vector<ir::Scalar>> EndsInsideBlocks(const ir::AxisRange& axis, const ir::Scalar& extent) const;

  const std::vector<Steps>& AllSteps() const { return steps_; }
  /// Whether the name is that of steps and of nothing else.
  bool IsOfStepsOnly(const std::string& name) const { return !others_.contains(name); }

 private:
  /// What a name stands for. `value` is null if that is several things, or unknown.
  struct Meaning {
    ir::Scalar value{};
    bool is_steps = false;
  };

  void LearnLaunch(const ir::Kernel& kernel);
  void LearnWorker(const ir::Worker& worker);
  void Learn(const ir::Region& region);
  void Learn(const Steps& steps);
  void Define(const std::string& name, const Meaning& meaning);
  /// `end` may be a minimum: adds those of its arguments that may lie inside a block. `ends` counts the arguments that it has seen.
  /// False if there are too many.
  bool AddEndsInside(const ir::Scalar& end, const ir::AxisRange& axis, const ir::Scalar& extent, std::vector<ir::Scalar>& inside,
                     int& ends) const;
  ir::Scalar Expanded(ir::Scalar scalar, bool with_steps) const;
  /// The value of the let that is named, as it is written: names inside it are not replaced.
  ir::Scalar Named(ir::Scalar scalar) const;

  KnownRanges known_;
  std::map<std::string, Meaning> meanings_;
  std::vector<Steps> steps_;
  std::set<std::string> others_;  // names that also stand for something other than the variable of a loop or an axis
};

}  // namespace tkc::passes

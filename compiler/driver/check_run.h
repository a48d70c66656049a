// SPDX-License-Identifier: MIT
// One case of `tkc check`: the reference interpreter, the simulator and, where there is one, the GPU; and how a failing case is
// made smaller.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "compiler/driver/compare.h"
#include "compiler/driver/gpu_run.h"
#include "compiler/driver/shapes.h"
#include "compiler/driver/simulate.h"

namespace tkc {

/// What all cases of an entry share.
struct CheckTarget {
  const typed::Entry& entry;
  const SimulatedKernel& simulated;
  const GpuKernel* gpu;  // null: there is none
  const SourceManager& sources;
  Arithmetic arithmetic;
};

struct CheckOutcome {
  std::string problem;  // the code of the first diagnostic, or empty: all agree
  bool exact = false;   // bit for bit, and not within rounding
  std::unique_ptr<Diagnostics> diagnostics;
};

/// `seconds`: when a run that does not end counts as failed.
CheckOutcome RunCase(const CheckTarget& target, const CheckCase& check_case, double seconds);

/// The smallest case that still `fails`, reached by smaller extents, seeds, processors and dense tensors in turn; at most `tries`
/// calls of `fails`.
CheckCase Shrink(const typed::Entry& entry, CheckCase failing, const std::function<bool(const CheckCase&)>& fails, int tries);

}  // namespace tkc

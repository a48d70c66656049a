// SPDX-License-Identifier: MIT
// What a kernel is run on: its arguments by name, and the same bound to the ids of the typed tree. Binding checks all
// that the launcher of a compiled kernel checks: types, ranks, extents against each other, the kernel's requirements.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/interp/faults.h"
#include "compiler/interp/measure.h"
#include "compiler/interp/placement.h"
#include "compiler/interp/tensor.h"
#include "compiler/interp/value.h"
#include "compiler/sema/typed.h"

namespace tkc::interp {

/// The arguments of a run. Tensors are changed in place by what the kernel stores.
struct Arguments {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, Value> scalars;
  std::map<std::string, int64_t> dims;  // only needed for dims that no tensor's shape gives; checked if given
  int64_t sms = 132;                    // multiprocessors, for `when`
  Placement placement;                  // of all tensors where a compiled kernel runs, for `when`
};

/// Arguments bound to ids.
struct Launch {
  const typed::Kernel* kernel = nullptr;
  std::vector<int64_t> dims;               // by DimId
  std::vector<Value> scalars;              // by ParamId; empty values for tensors
  std::vector<Tensor*> tensors;            // by ParamId; null for scalars
  std::vector<Tensor> work;                // by ParamId; storage of `work` tensors
  std::vector<std::vector<bool>> written;  // by ParamId; for `out` tensors, what this grid section has stored
  int64_t sms = 132;
  bool aligned = true;      // rows of all tensors begin at multiples of 16 bytes
  bool contiguous = true;   // all tensors do and have no gaps
  bool magnitudes = false;  // Signs::kDropped
  bool flushes = false;     // Subnormals::kZero
  Measures* measures = nullptr;
  TermsHeld terms;
};

/// Binds `arguments` to `launch`; faults name the parameters concerned. Does not touch any tensor.
void Bind(const typed::Kernel& kernel, Arguments& arguments, Launch& launch, Faults& faults);

/// "`M % 8 == 0`: `M` is 12": a condition, and what stands in it.
std::string ConditionText(const Launch& launch, const typed::Expr& condition, Faults& faults);

/// Checks `requires_at_launch`.
void CheckRequirements(Launch& launch, Faults& faults);

/// Allocates `work` tensors (NaN or the smallest integer where no preset is given, so that a read of what was never
/// written shows) and writes the presets of `out` tensors.
void Prepare(Launch& launch, Faults& faults);

/// Finds what follows from this placement of every tensor parameter, as the launcher does (runtime/include/tk/host/tensor.h).
/// `aligned`: each begins at a multiple of 16 bytes, and so does each of its rows, whose elements follow each other; rows of whole
/// structures, where the last axis counts their parts. `contiguous`: each begins there, and all its elements follow each other.
void LearnPlacement(Launch& launch, const Placement& placement, Faults& faults);

/// The variables at the start of a kernel: all unset, what only the launcher knows given.
std::vector<Value> InitialVars(const Launch& launch);

}  // namespace tkc::interp

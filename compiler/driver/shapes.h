// SPDX-License-Identifier: MIT
// On what `tkc check` runs a kernel: extents around the sizes of its blocks and pipes, schedule sets in turn, tensors at awkward
// places. The same seed gives the same cases on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/driver/placement.h"
#include "compiler/interp/run_arguments.h"
#include "compiler/sema/typed.h"

namespace tkc {

/// One run, all of it: what `tkc run` needs to do it again.
struct CheckCase {
  std::vector<int64_t> dims;         // by DimId
  std::vector<std::string> scalars;  // by ParamId; empty for tensors
  int64_t sms = 132;
  uint64_t seed = 1;
  interp::FillKind fill = interp::FillKind::kSmall;
  Placement placement;
  std::string schedule;  // the set that these arguments choose

  bool operator==(const CheckCase&) const = default;
};

/// The options of `tkc run` for `check_case`.
interp::RunOptions RunOptionsOf(const typed::Entry& entry, const CheckCase& check_case);

/// `--dims M=1,N=2 --sms 4 ..`
std::string CommandOptions(const typed::Entry& entry, const CheckCase& check_case);

/// Fills in `schedule`; false if the kernel's requirements exclude the case or no set applies.
bool Choose(const typed::Entry& entry, CheckCase& check_case);

/// `count` different cases, one data set each; fewer where the kernel admits fewer. `seed` varies the choice.
std::vector<CheckCase> MakeCases(const typed::Entry& entry, int count, uint64_t seed);

}  // namespace tkc

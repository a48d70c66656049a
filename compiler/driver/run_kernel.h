// SPDX-License-Identifier: MIT
// `tkc run`: one kernel on one set of arguments, on the simulator, the GPU or the reference interpreter.
#pragma once

#include "compiler/driver/options.h"
#include "compiler/driver/session.h"
#include "compiler/interp/launch.h"

namespace tkc {

/// Prints the outputs or what went wrong; an exit status.
int RunKernel(const Options& options, const RunCommand& command);

/// The arguments of a run. Tensors that the machine has no memory for are an error, not the end of the process.
Result<interp::Arguments> MakeRunArguments(const typed::Kernel& kernel, const interp::RunOptions& options,
                                           Diagnostics& diagnostics);

/// Keeps the schedule set `name` of `entry` only; reports if there is none of that name. Its condition stays: the set is compiled
/// for what satisfies it, so that arguments that do not are refused (interp::ChooseKernel).
Result<void> KeepSchedule(typed::Entry& entry, const std::string& name, Diagnostics& diagnostics);

/// The entry that the options name, to be changed.
Result<typed::Entry*> FindOwnEntry(typed::Program& program, const interp::RunOptions& options, Diagnostics& diagnostics);

}  // namespace tkc

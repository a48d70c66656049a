// SPDX-License-Identifier: MIT
// `tkc run`: one kernel on one set of arguments, on the simulator, the GPU or the reference interpreter.
#pragma once

#include "compiler/driver/options.h"
#include "compiler/interp/run_arguments.h"

namespace tkc {

/// Prints the outputs or what went wrong; an exit status.
int RunKernel(const Options& options, const interp::RunOptions& run);

}  // namespace tkc

// SPDX-License-Identifier: MIT
// The road from .tk to C++: compile.cpp is the list of passes.
#pragma once

#include "compiler/driver/options.h"
#include "compiler/interp/run_arguments.h"

namespace tkc {

/// Compiles one file, prints diagnostics to standard error, writes what was asked for. Returns an exit status.
int Compile(const Options& options);

/// `tkc run`: compiles up to the typed tree and executes it.
int RunKernel(const Options& options, const interp::RunOptions& run);

}  // namespace tkc

// SPDX-License-Identifier: MIT
// `tkc run --on reference`: one kernel in the reference interpreter; and what every `tkc run` does with the outputs, wherever it
// has executed the kernel. run_arguments.h has the options.
#pragma once

#include <iosfwd>

#include "compiler/interp/run_arguments.h"
#include "compiler/sema/typed.h"
#include "compiler/support/diagnostic.h"

namespace tkc::interp {

/// Runs the kernel that the options name, prints one line per output tensor (shape, checksum, smallest, largest, mean; with
/// `print` also its elements) to `output`, writes the `--out` files. Returns the exit status: 0, or 1 with the reasons in
/// `diagnostics`; then nothing was printed and no file was changed. The caller renders the diagnostics.
int Run(const typed::Program& program, const RunOptions& options, Diagnostics& diagnostics, std::ostream& output);

/// Whether a run gives a tensor back: `out` and `inout`.
bool IsOutput(const typed::Param& param);

/// The pairs of `--out` against the parameters, before anything runs.
void CheckOutputs(const typed::Kernel& kernel, const RunOptions& options, Diagnostics& diagnostics);

/// Writes the `--out` files under temporary names beside their places and renames them: a failure leaves none half written.
/// The tensors are row-major.
Result<void> WriteOutputs(const RunOptions& options, const Arguments& arguments, Diagnostics& diagnostics);

/// The lines that Run prints.
void PrintOutputs(const typed::Kernel& kernel, const RunOptions& options, const Arguments& arguments, std::ostream& output);

}  // namespace tkc::interp

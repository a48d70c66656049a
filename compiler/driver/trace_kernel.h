// SPDX-License-Identifier: MIT
// `tkc trace kernel.tk --dims .. -o t.svg`: one run with nominal latencies, as a timeline.
#pragma once

#include "compiler/driver/options.h"

namespace tkc {

/// Writes the file that `command.trace` names: `.svg` a picture, `.json` for Perfetto. An exit status.
int TraceKernel(const Options& options, const RunCommand& command);

}  // namespace tkc

// SPDX-License-Identifier: MIT
// `tkc check kernel.tk`: the kernel on many shapes and seeds, everywhere it can be executed; what fails is shrunk and told.
#pragma once

#include "compiler/driver/options.h"

namespace tkc {

/// Prints one line for each entry (or one JSON object), and the diagnostics of a failure; an exit status.
int CheckKernel(const Options& options, const CheckCommand& command);

}  // namespace tkc

// SPDX-License-Identifier: MIT
// Executes generated code on the GPU of this machine: nvcc makes one program of it and a small runner that reads the same images
// as the simulator does.
#pragma once

#include <string>

#include "compiler/driver/compile.h"
#include "compiler/driver/placement.h"
#include "compiler/interp/launch.h"

namespace tkc {

/// Whether there are a GPU and an nvcc; if not, `why` says what is missing.
bool HasGpu(std::string& why);

/// Runs `entry`; its outputs replace the tensors of `arguments`. `arguments.sms` is not heeded: a GPU has as many as it has.
Result<void> RunOnGpu(Session& session, const Generated& code, const typed::Entry& entry, const Placement& placement,
                      interp::Arguments& arguments);

}  // namespace tkc

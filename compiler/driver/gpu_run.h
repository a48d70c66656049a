// SPDX-License-Identifier: MIT
// Executes generated code on the GPU of this machine: nvcc makes one program of it and a small runner that reads the same images
// as the simulator does.
#pragma once

#include <string>

#include "compiler/driver/build_cache.h"
#include "compiler/driver/compile.h"
#include "compiler/driver/placement.h"
#include "compiler/interp/launch.h"

namespace tkc {

/// Whether there are an nvcc and a GPU that runs code for `target`; if not, `why` says what is missing.
bool HasGpu(const Target& target, std::string& why);

/// A program that runs one entry on the GPU.
struct GpuKernel {
  Build build;
  std::string entry;
};

/// Compiles with nvcc, or takes it from the cache; reports if there is no GPU.
Result<GpuKernel> PrepareGpu(Session& session, const Generated& code, const typed::Entry& entry);

/// Runs the kernel; its outputs replace the tensors of `arguments`. `arguments.sms` is not heeded: a GPU has as many as it has.
Result<void> RunOnGpu(const GpuKernel& kernel, const typed::Kernel& parameters, const Placement& placement,
                      interp::Arguments& arguments, Diagnostics& diagnostics);

}  // namespace tkc

// SPDX-License-Identifier: MIT
// Compiles a generated file with the compiler of this machine, for the simulator: a shared object that tkc-sim loads.
#pragma once

#include <string>

#include "compiler/codegen/emit.h"
#include "compiler/driver/build_cache.h"
#include "compiler/support/diagnostic.h"

namespace tkc {

/// Where the runtime's headers lie: $TKC_RUNTIME_INCLUDE, ../include beside an installed tkc, or the tree that tkc was built from.
Result<std::string> RuntimeInclude(Diagnostics& diagnostics);

/// `files` (source_name.cu and its header) with -DTK_SIM by $CXX, c++, g++ or clang++, whichever comes first. Of a file for several
/// targets the part of this number; else `part` is 0.
Result<Build> CompileForSimulator(const codegen::Emitted& files, const codegen::EmitOptions& names, int part,
                                  Diagnostics& diagnostics);

}  // namespace tkc

// SPDX-License-Identifier: MIT
// The road from .tk to C++: compile.cpp is the list of passes.
#pragma once

#include <vector>

#include "compiler/codegen/emit.h"
#include "compiler/driver/options.h"
#include "compiler/driver/session.h"
#include "compiler/ir/ir.h"
#include "compiler/sema/typed.h"
#include "compiler/target/target.h"

namespace tkc {

/// Compiles one file, prints diagnostics to standard error, writes what was asked for. Returns an exit status.
int Compile(const Options& options);

/// The first half, for commands that execute the kernel: the file that the options name, parsed and checked.
Result<typed::Program> CheckFile(Session& session, const Target& target);
/// The same for several targets, in their order.
Result<std::vector<typed::Program>> CheckFile(Session& session, const std::vector<const Target*>& targets);

/// A module at schedule level and the text that it stands in.
struct Generated {
  ir::Module module;
  codegen::Emitted emitted;
  const Target* target;
  bool is_part = false;  // the text has parts for other targets, too
};

/// The second half: all passes over `program`, and the C++ of all its kernels.
Result<Generated> Generate(Session& session, const typed::Program& program, const Target& target);

/// The same for several targets, programs[i] checked for targets[i]: one text, and the module of each part.
Result<std::vector<Generated>> GenerateParts(Session& session, const std::vector<typed::Program>& programs,
                                             const std::vector<const Target*>& targets);

}  // namespace tkc

// SPDX-License-Identifier: MIT
// Between options and phases: what --target and -D mean, and which files come out.
#pragma once

#include <vector>

#include "compiler/codegen/emit.h"
#include "compiler/driver/session.h"
#include "compiler/sema/check.h"
#include "compiler/target/target.h"

namespace tkc {

/// Prints the targets, one a line; kExitOk.
int ListTargets();

/// The target that the options name, or null and reported.
const Target* RequireTarget(Session& session);

/// False and reported when source and header would be one file.
bool RequireOutput(Session& session);

/// The -D options as expressions. Their text is in `session.sources`, so that messages can show it.
Result<std::vector<Define>> ParseDefines(Session& session);

codegen::EmitOptions EmitOptionsOf(const Options& options);

/// `-o x.cu`: x.cu and x.h; `--emit=source` or `header`: that one; and the make rule of --depfile.
std::vector<OutputFile> CodeFiles(const Session& session, codegen::Emitted emitted);

}  // namespace tkc

// SPDX-License-Identifier: MIT
// Between options and phases: what --target and -D mean, and which files come out.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/codegen/emit.h"
#include "compiler/driver/session.h"
#include "compiler/sema/check.h"
#include "compiler/target/target.h"

namespace tkc {

/// The last part of a path.
std::string BaseName(const std::string& path);

/// Prints the targets, one a line; kExitOk.
int ListTargets();

/// The targets that the options name, `sm_80,sm_90a`; none and reported if one is unknown, or if they can't be compiled for into
/// one file where that is wanted.
std::vector<const Target*> RequireTargets(Session& session, bool for_one_file = true);
/// The one target that the options name, or null and reported. `what` is done for one at a time.
const Target* RequireTarget(Session& session, std::string_view what);

/// False and reported when source and header would be one file, or the header would replace one that tkc has not made.
bool RequireOutput(Session& session);
/// Warns where the name of the source tells host compilers that it is in the language of the other vendor than `target`'s, or where
/// what has the name of a source is none.
void WarnOfOutputName(Session& session, const Target& target);

/// The -D options as expressions. Their text is in `session.sources`, so that messages can show it.
Result<std::vector<Define>> ParseDefines(Session& session);

codegen::EmitOptions EmitOptionsOf(const Options& options);

/// `-o x.cu`: x.cu and x.h; `--emit=source` or `header`: that one.
std::vector<OutputFile> CodeFiles(const Session& session, codegen::Emitted emitted);

}  // namespace tkc

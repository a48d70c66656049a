// SPDX-License-Identifier: MIT
// Reads the given file and everything it imports.
#pragma once

#include <string>
#include <vector>

#include "compiler/support/diagnostic.h"
#include "compiler/support/source_manager.h"
#include "compiler/syntax/ast.h"

namespace tkc {

/// Parses `path` and, once each, the files it imports: beside the importing file, then in `include_dirs` in turn.
/// files[0] is `path`. All files are parsed before anything is given up, so that their errors come together.
Result<ast::Program> LoadProgram(const std::string& path, const std::vector<std::string>& include_dirs, SourceManager& sources,
                                 Diagnostics& diagnostics);

}  // namespace tkc

// SPDX-License-Identifier: MIT
// Output files appear whole or not at all: they are written beside their place, which symbolic links may lead to, and renamed.
#pragma once

#include <string>
#include <vector>

#include "compiler/support/diagnostic.h"
#include "compiler/support/source_manager.h"

namespace tkc {

struct OutputFile {
  std::string path;  // empty or `-`: standard output
  std::string text;
};

/// Reports what would replace a source that has been read, by whatever name, or another output.
void CheckOutputPaths(const std::vector<std::string>& paths, const SourceManager& sources, Diagnostics& diagnostics);

/// Writes all of `files` or reports; nothing is renamed before everything is written, and the first one last: a build tool that
/// finds it new finds new what was written beside it. A stop (interrupt.h) waits until all are there.
Result<void> WriteFiles(const std::vector<OutputFile>& files, Diagnostics& diagnostics);

}  // namespace tkc

// SPDX-License-Identifier: MIT
// What one run of the compiler owns: the sources and what is said about them.
#pragma once

#include <string>
#include <vector>

#include "compiler/driver/options.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/output_file.h"
#include "compiler/support/source_manager.h"

namespace tkc {

class Session {
 public:
  explicit Session(const Options& options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const Options& options;
  SourceManager sources;
  Diagnostics diagnostics;

  /// Prints what has been reported; the exit status it amounts to.
  int Finish();
  /// Writes files and the make rule of --depfile, unless an error has been reported, then Finish.
  int Write(std::vector<OutputFile> files);
  /// Write for one text to where the options say.
  int Write(std::string text);
};

}  // namespace tkc

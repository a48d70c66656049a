// SPDX-License-Identifier: MIT
// argv taken apart: which command, with what.
#pragma once

#include <optional>

#include "compiler/driver/options.h"

namespace tkc {

enum class Command { kCompile, kRun, kCheck, kTrace };

struct CommandLine {
  Command command = Command::kCompile;
  Options options;
  RunCommand run;      // kRun, kTrace
  CheckCommand check;  // kCheck
};

/// Fills `line`; or has answered already (--help, --version, a mistake) and gives the exit status.
std::optional<int> ParseCommandLine(int argc, char** argv, CommandLine& line);

}  // namespace tkc

// SPDX-License-Identifier: MIT
// Starts a program and waits for it. It gets a process group of its own, so that it ends with all that it has started.
#pragma once

#include <string>
#include <vector>

namespace tkc {

struct ProcessResult {
  int status = -1;  // exit status; -1 if it did not end by itself
  int signal = 0;   // that ended it
  bool timed_out = false;
  std::string output;       // standard output and standard error together, at most 1 MiB
  std::string not_started;  // why it could not be started; empty if it was

  bool ok() const { return not_started.empty() && status == 0; }
};

/// `arguments[0]` is looked up in PATH if it has no slash. `folder`: where it runs; empty: here. `seconds`: by the clock, and
/// `of_processor`, of which the program takes less where others take the processor, too; 0 for no limit.
ProcessResult RunProcess(const std::vector<std::string>& arguments, const std::string& folder = {}, double seconds = 0,
                         double of_processor = 0);

/// The program that `name` starts, with its folder; empty if there is none.
std::string FindProgram(const std::string& name);

/// The folder of the running tkc.
std::string ProgramFolder();

}  // namespace tkc

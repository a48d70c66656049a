// SPDX-License-Identifier: MIT
// argv -> one command -> exit status.
#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <string>

#include "compiler/command_line.h"
#include "compiler/command_line_faults.h"
#include "compiler/driver/check_kernel.h"
#include "compiler/driver/compile.h"
#include "compiler/driver/run_kernel.h"
#include "compiler/driver/trace_kernel.h"
#include "compiler/support/internal_error.h"
#include "compiler/support/interrupt.h"

namespace {

/// A crash that no check foresaw is still an internal error that says how to repeat it. It prints and ends the process, which a
/// signal handler is not sure to be able to: where that crashes as well, the signal does what it does without us.
[[maybe_unused]] void OnCrash(int signal) {
  std::signal(signal, SIG_DFL);
  switch (signal) {
    case SIGSEGV:
    case SIGBUS: tkc::InternalError("memory was accessed where there is none");
    case SIGFPE: tkc::InternalError("an integer was divided by zero, or its quotient is too large");
    case SIGILL: tkc::InternalError("the program came to an instruction that is none");
    default: tkc::InternalError("the program was aborted");
  }
}

int Execute(const tkc::CommandLine& line) {
  switch (line.command) {
    case tkc::Command::kCompile: return tkc::Compile(line.options);
    case tkc::Command::kCheck: return tkc::CheckKernel(line.options, line.check);
    case tkc::Command::kTrace: return tkc::TraceKernel(line.options, line.run);
    default: return tkc::RunKernel(line.options, line.run);
  }
}

int ReportNoMemory(const tkc::CommandLine& line) {
  const bool compiles = line.command == tkc::Command::kCompile;
  return tkc::Report({compiles ? "the compile needs more memory than there is" : "the run needs more memory than there is",
                      compiles ? "give it more, or compile a file in parts" : "take smaller dimensions", "out-of-memory"},
                     line.options.json_diagnostics);
}

/// Whether all of standard output has arrived; else it is said. Each command prints to it, and none looks.
bool FlushOutput(const tkc::CommandLine& line) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
  const std::string why = errno == 0 ? "" : fmt::format(": {}", std::strerror(errno));  // an earlier write may have failed
  tkc::Report({"standard output can't be written" + why, "let it lead to where there is room", "cannot-write-file"},
              line.options.json_diagnostics);
  return false;
}

}  // namespace

int main(int argc, char** argv) {
#ifndef __SANITIZE_ADDRESS__
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) std::signal(signal, OnCrash);
#endif
  tkc::CommandLine line;
  if (const std::optional<int> status = tkc::ParseCommandLine(argc, argv, line))
    return *status == tkc::kExitOk && !FlushOutput(line) ? tkc::kExitUser : *status;
  tkc::WatchInterrupts();
  int status = 1;
  try {
    status = Execute(line);
  } catch (const std::bad_alloc&) {
    status = ReportNoMemory(line);
  }
  if (status == tkc::kExitOk && !FlushOutput(line)) status = tkc::kExitUser;
#ifndef __SANITIZE_ADDRESS__
  if (line.command == tkc::Command::kCompile)
    std::_Exit(status);  // all is written: the system takes back threads and memory faster
#endif
  return status;
}

// SPDX-License-Identifier: MIT
// What the command line asks for. command_line.cpp fills it; the driver reads it and nothing else.
#pragma once

#include <string>
#include <vector>

#include "compiler/interp/run_arguments.h"

namespace tkc {

/// What is written: the files for the host compiler (kCode), or one stage as text.
enum class Emit { kCode, kAst, kTile, kSchedule, kSource, kHeader, kReport, kCertificate };

/// What is read: source, or the text of the IR at a level (--from).
enum class From { kSource, kTile, kSchedule };

/// `tkc kernel.tk -o kernel.cu ..`
struct Options {
  std::string input;              // `-`: standard input
  std::string output;             // of the compiler; empty or `-`: standard output
  std::string target = "sm_90a";  // or several names with commas between them
  bool target_given = false;
  std::vector<std::string> defines;  // `NAME=value`, as written
  std::vector<std::string> include_dirs;
  Emit emit = Emit::kCode;
  From from = From::kSource;
  std::vector<std::string> run_passes;  // of IR text: these and no others
  std::vector<std::string> dump_after;  // names of passes, or `all`
  bool json_diagnostics = false;
  bool line_info = false;  // -g
  bool bundle = false;     // the runtime's headers go into the files
  bool certify = true;     // --no-certificate: without the proof
  std::string depfile;     // for build systems: what the output depends on, as a make rule
  std::string command;     // to repeat the run, for internal errors
};

/// Where a kernel is executed.
enum class Where { kSimulator, kGpu, kReference };

/// `tkc run kernel.tk ..` and `tkc trace kernel.tk -o t.svg`
struct RunCommand {
  interp::RunOptions arguments;  // its seed is also that of the simulated timing
  Where on = Where::kSimulator;
  std::vector<interp::NameValue> place;  // --place pad=8,offset=1
  std::string schedule;                  // --schedule: this set instead of the one that the launcher would choose
  bool compare = false;                  // with what the reference interpreter gives
  bool counters = false;                 // print bank conflicts and sectors
  std::string timeline;                  // of trace: where to write it; the code itself is written nowhere
};

/// `tkc check kernel.tk ..`
struct CheckCommand {
  std::string kernel;
  int shapes = 24;
  int seeds = 3;
  uint64_t seed = 1;    // the first
  double seconds = 40;  // no new run is started behind it
  bool json = false;
  bool gpu = true;  // if there is one
};

/// Exit statuses of tkc; of a fault of its own: kExitInternal.
inline constexpr int kExitOk = 0;
inline constexpr int kExitUser = 1;  // the source, the options or a file are at fault; a diagnostic said which

}  // namespace tkc

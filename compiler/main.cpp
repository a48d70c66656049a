// SPDX-License-Identifier: MIT
// argv -> Options -> Compile -> exit status. The only file that knows CLI11.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <csignal>
#include <map>
#include <string>

#include "compiler/driver/compile.h"
#include "compiler/driver/explain.h"
#include "compiler/driver/options.h"
#include "compiler/driver/outputs.h"
#include "compiler/driver/run_kernel.h"
#include "compiler/support/internal_error.h"

namespace {

using tkc::Options;

constexpr const char* kExamples = R"(
Examples
  tkc gemm.tk -o gemm.cu                 compile; gemm.cu and gemm.h appear, nvcc needs only those and runtime/include
  tkc gemm.tk --emit=report              say what was decided and why: memory map, timeline, registers, limits
  tkc gemm.tk -D BM=192 -o gemm.cu       with another value for a parameter of the kernel
  tkc gemm.tk --target sm_90a -o gemm.cu for a given GPU; `tkc --list-targets` shows which
  tkc gemm.tk --emit=schedule            the program of every role, before it is printed as C++
  tkc gemm.tk --dump-after=insert_sync   the IR behind a pass, on standard error
  tkc --from=tile --run-pass=select_layout x.ir   one pass over IR text
  tkc --explain fill-reaches-sum         what a diagnostic means and how to mend it
  tkc run --on reference gemm.tk --dims M=64,N=64,K=32 --in A=a.npy --out C=c.npy
                                         execute the kernel here, slowly and exactly; inputs not given are random

Exit status: 0 done; 1 the source, the options or a file are at fault; 70 tkc itself is.
)";

/// `M=64,K=32` or several options: pairs of name and value; false when a part has no `=`.
bool Pairs(const std::vector<std::string>& texts, bool commas, const char* option,
           std::vector<std::pair<std::string, std::string>>& out) {
  for (const std::string& text : texts) {
    for (size_t begin = 0; begin <= text.size();) {
      const size_t end = commas ? std::min(text.find(',', begin), text.size()) : text.size();
      const std::string part = text.substr(begin, end - begin);
      const size_t equal = part.find('=');
      if (equal == std::string::npos || equal == 0 || equal + 1 == part.size()) {
        fmt::print(stderr, "error: {} takes NAME=value, found `{}`\n", option, part);
        return false;
      }
      out.emplace_back(part.substr(0, equal), part.substr(equal + 1));
      begin = end + 1;
    }
  }
  return true;
}

void AddCompileOptions(CLI::App& app, Options& options) {
  app.add_option("-D", options.defines, "NAME=value: set a compile-time parameter")
      ->allow_extra_args(false)
      ->type_name("NAME=value");
  app.add_option("-I", options.include_dirs, "look here for imports")->allow_extra_args(false)->type_name("DIR");
  app.add_option("--target", options.target, "the GPU to compile for (default sm_90a)")->type_name("NAME");
  static const std::map<std::string, bool> kForms = {{"text", false}, {"json", true}};
  app.add_option("--diagnostics", options.json_diagnostics, "`text`, or `json`: one object a line")
      ->transform(CLI::CheckedTransformer(kForms))
      ->type_name("FORM");
}

/// A crash that no check foresaw is still an internal error that says how to repeat it.
[[maybe_unused]] void OnCrash(int signal) {
  std::signal(signal, SIG_DFL);
  tkc::InternalError(signal == SIGSEGV ? "memory was accessed where there is none" : "the program was aborted");
}

std::string Command(int argc, char** argv) {
  std::string command = "tkc";
  for (int i = 1; i < argc; ++i) command += fmt::format(" {}", argv[i]);
  return command;
}

}  // namespace

int main(int argc, char** argv) {
#ifndef __SANITIZE_ADDRESS__
  std::signal(SIGSEGV, OnCrash);
  std::signal(SIGABRT, OnCrash);
#endif
  Options options;
  Options run_options;
  tkc::interp::RunOptions run;
  bool version = false;
  bool list_targets = false;
  std::string code;

  CLI::App app("tkc compiles .tk files, kernels of tiles, workers and pipes, into CUDA C++ that a person can read.", "tkc");
  app.footer(kExamples);
  app.add_option("kernel.tk", options.input, "the file to compile; `-` reads standard input");
  app.add_option("-o", options.output, "where to write; with C++ its header goes beside it")->type_name("FILE");
  AddCompileOptions(app, options);
  static const std::map<std::string, tkc::Emit> kEmits = {{"ast", tkc::Emit::kAst},
                                                          {"tile", tkc::Emit::kTile},
                                                          {"schedule", tkc::Emit::kSchedule},
                                                          {"source", tkc::Emit::kSource},
                                                          {"header", tkc::Emit::kHeader},
                                                          {"report", tkc::Emit::kReport},
                                                          {"certificate", tkc::Emit::kCertificate}};
  app.add_option("--emit", options.emit, "ast, tile, schedule, source, header, report or certificate")
      ->transform(CLI::CheckedTransformer(kEmits))
      ->type_name("WHAT");
  app.add_option("--from", options.from, "the input is IR text of this level: tile or schedule")
      ->check(CLI::IsMember({"tile", "schedule"}))
      ->type_name("LEVEL");
  app.add_option("--run-pass", options.run_passes, "with --from: run these passes only")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("PASS");
  app.add_option("--dump-after", options.dump_after, "print the IR behind these passes, or behind `all`")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("PASS");
  app.add_option("--depfile", options.depfile, "also write what the output depends on, as a make rule")->type_name("FILE");
  app.add_flag("-g", options.line_info, "map .tk lines through to the machine code");
  app.add_option("--explain", code, "explain a diagnostic, named by the code in brackets behind it")->type_name("CODE");
  app.add_flag("--list-targets", list_targets, "list the GPUs tkc knows");
  app.add_flag("--version", version, "print the version");

  CLI::App* run_app = app.add_subcommand("run", "execute a kernel");
  std::string on = "reference";
  std::vector<std::string> dims, inputs, outputs, scalars;
  run_app->add_option("kernel.tk", run_options.input, "the file")->required();
  run_app->add_option("--on", on, "where: reference")->check(CLI::IsMember({"reference"}))->type_name("WHERE");
  run_app->add_option("--kernel", run.kernel, "which kernel, when the file has several")->type_name("NAME");
  run_app->add_option("--dims", dims, "extents: M=64,K=32")->allow_extra_args(false)->type_name("NAME=n,..");
  run_app->add_option("--in", inputs, "contents of a tensor: A=a.npy")->allow_extra_args(false)->type_name("NAME=FILE");
  run_app->add_option("--out", outputs, "where to write a tensor: C=c.npy")->allow_extra_args(false)->type_name("NAME=FILE");
  run_app->add_option("--scalar", scalars, "a scalar: x=1.0")->allow_extra_args(false)->type_name("NAME=value");
  run_app->add_option("--seed", run.seed, "of the inputs that are not given")->type_name("N");
  static const std::map<std::string, tkc::interp::FillKind> kFills = {{"normal", tkc::interp::FillKind::kNormal},
                                                                      {"integers", tkc::interp::FillKind::kIntegers}};
  run_app->add_option("--fill", run.fill, "what they hold: normal or integers")
      ->transform(CLI::CheckedTransformer(kFills))
      ->type_name("KIND");
  run_app->add_option("--sms", run.sms, "multiprocessors, for the conditions of schedule sets (default 132)")->type_name("N");
  run_app->add_flag("--print", run.print, "print all elements of the outputs");
  AddCompileOptions(*run_app, run_options);

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", run_app->parsed() ? run_app->help() : app.help());
    return tkc::kExitOk;
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "error: {}\nhelp: `tkc --help` shows the options with examples\n", error.what());
    return tkc::kExitUser;
  }
  if (version) {
    fmt::print("tkc {}\n", TKC_VERSION);
    return tkc::kExitOk;
  }
  if (list_targets) return tkc::ListTargets();
  if (!code.empty()) return tkc::Explain(code);

  options.command = run_options.command = Command(argc, argv);
  if (run_app->parsed()) {
    const bool ok = Pairs(dims, true, "--dims", run.dims) && Pairs(inputs, false, "--in", run.inputs) &&
                    Pairs(outputs, false, "--out", run.outputs) && Pairs(scalars, true, "--scalar", run.scalars);
    return ok ? tkc::RunKernel(run_options, run) : tkc::kExitUser;
  }
  if (options.input.empty()) {
    fmt::print(stderr, "error: no file to compile\nhelp: `tkc kernel.tk -o kernel.cu`; `tkc --help` shows more\n");
    return tkc::kExitUser;
  }
  options.target_given = app.count("--target") > 0;
  return tkc::Compile(options);
}

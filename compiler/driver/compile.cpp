// SPDX-License-Identifier: MIT
// THE list of what tkc does to a file, top to bottom. Each step takes a structure and returns one; diagnostics are
// printed at the end of the step that reported errors, and nothing after it runs.
#include "compiler/driver/compile.h"

#include <fmt/format.h>

#include <cstdio>

#include "compiler/driver/load.h"
#include "compiler/driver/output_file.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/internal_error.h"
#include "compiler/support/render.h"
#include "compiler/support/source_manager.h"
#include "compiler/syntax/ast_print.h"

namespace tkc {
namespace {

/// Prints what has been reported; the exit status it amounts to.
int Finish(const Diagnostics& diagnostics, const SourceManager& sources, const Options& options) {
  const std::string text = options.json_diagnostics ? RenderJson(diagnostics, sources) : RenderText(diagnostics, sources);
  std::fwrite(text.data(), 1, text.size(), stderr);
  return diagnostics.HasErrors() ? kExitUser : kExitOk;
}

int WriteText(std::string text, const Options& options, const SourceManager& sources, Diagnostics& diagnostics) {
  std::vector<OutputFile> files(1);
  files[0] = {options.output, std::move(text)};
  (void)static_cast<bool>(WriteFiles(files, diagnostics));
  return Finish(diagnostics, sources, options);
}

/// Internal errors name source places while `sources` lives.
class CrashPlaces {
 public:
  explicit CrashPlaces(const SourceManager& sources) {
    SetCrashSpanPrinter([](const void* context, Span span) { return RenderPlace(*static_cast<const SourceManager*>(context), span); },
                        &sources);
  }
  ~CrashPlaces() { SetCrashSpanPrinter(nullptr, nullptr); }
  CrashPlaces(const CrashPlaces&) = delete;
  CrashPlaces& operator=(const CrashPlaces&) = delete;
};

}  // namespace

int Compile(const Options& options) {
  SourceManager sources;
  Diagnostics diagnostics;
  CrashPlaces places(sources);
  SetCrashRepeat(options.command);

  SetCrashPass("parse");
  Result<ast::Program> program = LoadProgram(options.input, options.include_dirs, sources, diagnostics);
  if (!program) return Finish(diagnostics, sources, options);
  if (options.emit == Emit::kAst) return WriteText(ast::Print(program->files[0]), options, sources, diagnostics);

  diagnostics.Error(DiagnosticKind::kNotImplemented, kNoSpan, "this tkc stops after parsing; `--emit=ast` prints the tree");
  return Finish(diagnostics, sources, options);
}

int RunKernel(const RunOptions& options) {
  SourceManager sources;
  Diagnostics diagnostics;
  Result<ast::Program> program = LoadProgram(options.compile.input, options.compile.include_dirs, sources, diagnostics);
  if (program) diagnostics.Error(DiagnosticKind::kNotImplemented, kNoSpan, "this tkc can't run kernels");
  return Finish(diagnostics, sources, options.compile);
}

}  // namespace tkc

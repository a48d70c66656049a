// SPDX-License-Identifier: MIT
#include "compiler/driver/session.h"

#include <cstdio>

#include "compiler/support/internal_error.h"
#include "compiler/support/render.h"

namespace tkc {

Session::Session(const Options& o) : options(o) {
  SetCrashRepeat(options.command);
  SetCrashSpanPrinter(
      [](const void* context, Span span) {
        const auto& all = *static_cast<const SourceManager*>(context);
        return span.file < all.FileCount() ? RenderPlace(all, span) : std::string("no place in the source");
      },
      &sources);
}

Session::~Session() { SetCrashSpanPrinter(nullptr, nullptr); }

int Session::Finish() {
  const std::string text = options.json_diagnostics ? RenderJson(diagnostics, sources) : RenderText(diagnostics, sources);
  std::fwrite(text.data(), 1, text.size(), stderr);
  return diagnostics.HasErrors() ? kExitUser : kExitOk;
}

int Session::Write(std::vector<OutputFile> files) {
  // What is reported in vain is in `diagnostics`.
  if (!diagnostics.HasErrors()) (void)static_cast<bool>(WriteFiles(files, diagnostics));
  return Finish();
}

int Session::Write(std::string text) {
  std::vector<OutputFile> files;
  files.push_back({options.output, std::move(text)});
  return Write(std::move(files));
}

}  // namespace tkc

// SPDX-License-Identifier: MIT
#include "compiler/driver/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "compiler/support/internal_error.h"
#include "compiler/support/render.h"

namespace tkc {

namespace {

/// A path in a make rule, as make and ninja read it: backslashes stand for themselves, but for those in front of a space.
std::string MakeEscape(const std::string& path) {
  std::string out;
  size_t slashes = 0;  // just before `c`
  for (const char c : path) {
    if (c == ' ' || c == '\t') out.append(slashes + 1, '\\');
    if (c == '#' || c == ':') out += '\\';
    if (c == '$') out += '$';
    out += c;
    slashes = c == '\\' ? slashes + 1 : 0;
  }
  return out;
}

/// What the output depends on; reports a name that no rule can hold.
std::string MakeRule(Session& session) {
  std::string rule = MakeEscape(session.options.output) + ":";
  for (uint32_t file = 0; file < session.sources.FileCount(); ++file) {
    if (session.sources.IsLoaded(file)) rule += " " + MakeEscape(session.sources.Path(file));
  }
  if (rule.find('\n') != std::string::npos)
    session.diagnostics
        .Error(DiagnosticKind::kCannotWriteFile, kNoSpan,
               "no make rule can hold a name with a line end in it, as `--depfile` would")
        .Help("rename the file, or leave out `--depfile`");
  return rule + "\n";
}

/// What the certificate refuses of a source, tkc has made of it.
bool IsOwnFault(const Diagnostic& diagnostic) { return Info(diagnostic.kind).code.starts_with("certificate-"); }

}  // namespace

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
  diagnostics.NameTargets(1 + static_cast<size_t>(std::ranges::count(options.target, ',')));
  const std::string text = options.json_diagnostics ? RenderJson(diagnostics, sources) : RenderText(diagnostics, sources);
  std::fwrite(text.data(), 1, text.size(), stderr);
  if (!diagnostics.HasErrors()) return kExitOk;
  return options.from == From::kSource && std::ranges::any_of(diagnostics.All(), IsOwnFault) ? kExitInternal : kExitUser;
}

int Session::Write(std::vector<OutputFile> files) {
  if (!options.depfile.empty()) files.push_back({options.depfile, MakeRule(*this)});
  std::vector<std::string> paths;
  for (const OutputFile& file : files) paths.push_back(file.path);
  if (!diagnostics.HasErrors()) CheckOutputPaths(paths, sources, diagnostics);
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

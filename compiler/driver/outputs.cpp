// SPDX-License-Identifier: MIT
#include "compiler/driver/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "compiler/support/dtype.h"
#include "compiler/syntax/parser.h"

namespace tkc {

namespace {

std::vector<std::string> Split(const std::string& list) {
  std::vector<std::string> names;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    names.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

/// The target of that name, or null and reported.
const Target* Require(Session& session, const std::string& name) {
  if (name.empty()) {
    session.diagnostics
        .Error(DiagnosticKind::kTargetList, kNoSpan,
               fmt::format("`--target {}` has no name in one of its places", session.options.target))
        .Help("write for example `--target sm_80,sm_90a`, without spaces");
    return nullptr;
  }
  const Target* target = FindTarget(name);
  if (!target) {
    const std::string meant = TargetMeant(name);
    session.diagnostics.Error(DiagnosticKind::kUnknownTarget, kNoSpan, fmt::format("`{}` is no target of this tkc", name))
        .Help(meant.empty() ? "`tkc --list-targets` shows which are"
                            : fmt::format("write `--target {}`; `tkc --list-targets` shows all", meant));
    return nullptr;
  }
  if (!target->implemented) {
    session.diagnostics
        .Error(DiagnosticKind::kNotImplemented, kNoSpan, fmt::format("target `{}` is specified, not yet implemented", name))
        .Help("`tkc --list-targets` shows which are");
    return nullptr;
  }
  return target;
}

}  // namespace

std::vector<const Target*> RequireTargets(Session& session, bool for_one_file) {
  std::vector<const Target*> targets;
  bool ok = true;
  for (const std::string& name : Split(session.options.target)) {
    const Target* target = Require(session, name);
    ok = ok && target;
    if (!target) continue;
    if (std::find(targets.begin(), targets.end(), target) != targets.end()) {
      session.diagnostics.Error(DiagnosticKind::kTargetList, kNoSpan, fmt::format("`--target` names `{}` twice", name))
          .Help("name each target once");
      ok = false;
      continue;
    }
    targets.push_back(target);
  }
  const auto other = std::find_if(targets.begin(), targets.end(), [&](const Target* t) { return t->is_hip != targets[0]->is_hip; });
  if (ok && for_one_file && other != targets.end()) {
    const Target* cuda = targets[0]->is_hip ? *other : targets[0];
    const Target* hip = targets[0]->is_hip ? targets[0] : *other;
    session.diagnostics
        .Error(DiagnosticKind::kTargetList, kNoSpan,
               fmt::format("`{}` is compiled from CUDA C++ and `{}` from HIP C++, which are two files", cuda->name, hip->name))
        .Help("run tkc twice: with the targets of NVIDIA for the .cu, with those of AMD for the .hip");
    ok = false;
  }
  if (!ok) targets.clear();
  return targets;
}

const Target* RequireTarget(Session& session, std::string_view what) {
  const std::vector<const Target*> targets = RequireTargets(session);
  if (targets.size() < 2) return targets.empty() ? nullptr : targets.front();
  session.diagnostics
      .Error(DiagnosticKind::kTargetList, kNoSpan,
             fmt::format("{} is for one target at a time; `--target` names {}", what, targets.size()))
      .Help(fmt::format("name one: `--target {}`", targets.front()->name));
  return nullptr;
}

namespace {

bool IsName(std::string_view text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  for (const char c : text) {
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!word) return false;
  }
  return true;
}

}  // namespace

Result<std::vector<Define>> ParseDefines(Session& session) {
  std::vector<Define> defines;
  bool ok = true;
  for (const std::string& text : session.options.defines) {
    const size_t equal = text.find('=');
    const std::string name = text.substr(0, equal);
    if (equal == std::string::npos || equal + 1 == text.size() || !IsName(name)) {
      session.diagnostics.Error(DiagnosticKind::kBadDefine, kNoSpan, fmt::format("`-D {}` is not of the form NAME=value", text))
          .Help("write for example `-D BM=128`");
      ok = false;
      continue;
    }
    const uint32_t file = session.sources.Add(fmt::format("-D {}", name), text);
    Result<ast::ExprPtr> value = ParseExpression(session.sources, file, static_cast<uint32_t>(equal + 1), session.diagnostics);
    ok = ok && value;
    if (value) defines.push_back({name, value.Take(), {file, 0, static_cast<uint32_t>(equal)}});
  }
  if (!ok) return Failure{};
  return defines;
}

std::string BaseName(const std::string& path) { return std::filesystem::path(path).filename().string(); }

namespace {

std::string HeaderPath(const std::string& source) { return std::filesystem::path(source).replace_extension(".h").string(); }

std::string_view SourceExtension(const Target& target) { return target.is_hip ? ".hip" : ".cu"; }

bool IsFile(const std::string& path) { return !path.empty() && path != "-"; }

/// Whether the file is there, holds something, and does not say in one of its first lines that tkc made it.
bool IsAnothers(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return std::filesystem::exists(path, error);
  std::ifstream file(path, std::ios::binary);
  std::string begin(64, '\0');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return file.gcount() > 0 && begin.find("// Generated by tkc") == std::string::npos;
}

/// What the name of a file in an #include can't hold: nothing escapes it there.
constexpr std::string_view kNotInInclude = "\"\n\r";

/// A name like that of the source for files that nobody has named: one that an #include and a compiler's command line take.
std::filesystem::path PlainName(const std::string& input) {
  std::string name = input == "-" ? "kernel" : BaseName(input);
  for (char& c : name) c = kNotInInclude.find(c) == std::string_view::npos ? c : '_';
  if (name.starts_with('-')) name.front() = '_';
  return name;
}

}  // namespace

bool RequireOutput(Session& session) {
  const Options& options = session.options;
  const bool includes = options.emit == Emit::kCode || options.emit == Emit::kSource;
  if (!includes || !IsFile(options.output)) return true;
  if (BaseName(options.output).find_first_of(kNotInInclude) != std::string::npos) {
    session.diagnostics
        .Error(DiagnosticKind::kCannotWriteFile, kNoSpan, fmt::format("no `#include` can name the header of `{}`", options.output))
        .Help("give `-o` a name without quotation marks and line ends");
    return false;
  }
  if (options.emit != Emit::kCode) return true;
  const std::string header = HeaderPath(options.output);
  if (IsAnothers(header)) {
    session.diagnostics
        .Error(DiagnosticKind::kCannotWriteFile, kNoSpan, fmt::format("`{}` is there, and tkc has not made it", header))
        .Help("give `-o` another name, as the header goes beside it, or move that file; `--emit=source` writes no header");
    return false;
  }
  if (header != options.output) return true;
  session.diagnostics
      .Error(DiagnosticKind::kCannotWriteFile, kNoSpan, fmt::format("`{}` would be the source and its header", options.output))
      .Help("write `-o kernel.cu`: the header goes beside it");
  return false;
}

void WarnOfOutputName(Session& session, const Target& target) {
  const Options& options = session.options;
  const bool is_source = options.emit == Emit::kCode || options.emit == Emit::kSource;
  const std::filesystem::path path(options.output);
  const std::string extension = path.extension().string();
  const bool says_cuda = extension == ".cu" || extension == ".cuh", says_hip = extension == ".hip";
  if (!is_source && options.emit != Emit::kHeader && (says_cuda || says_hip)) {
    session.diagnostics
        .Warning(
            DiagnosticKind::kOutputName, kNoSpan,
            fmt::format("`{}` is named as {} C++, and `--emit` asks for another text", options.output, says_hip ? "HIP" : "CUDA"))
        .Help("for the code leave out `--emit`, or give the text a name of its own");
    return;
  }
  if (!is_source || !(target.is_hip ? says_cuda : says_hip)) return;
  session.diagnostics
      .Warning(DiagnosticKind::kOutputName, kNoSpan,
               fmt::format("`{}` is named as {} C++, and code for `{}` is {} C++", options.output, target.is_hip ? "CUDA" : "HIP",
                           target.name, target.is_hip ? "HIP" : "CUDA"))
      .Help(fmt::format("host compilers go by the name: write `-o {}`, or `--target {}`",
                        std::filesystem::path(path).replace_extension(SourceExtension(target)).string(),
                        target.is_hip ? "sm_90a" : "gfx950"));
}

codegen::EmitOptions EmitOptionsOf(const Options& options) {
  codegen::EmitOptions emit;
  emit.version = TKC_VERSION;
  emit.options = "--target " + options.target;
  for (const std::string& define : options.defines) emit.options += " -D " + define;
  if (options.line_info) emit.options += " -g";
  if (options.bundle) emit.options += " --bundle";
  emit.line_directives = options.line_info;
  emit.bundled = options.bundle;
  std::string source = options.output;
  const Target* target = FindTarget(Split(options.target).front());
  const std::string_view extension = target ? SourceExtension(*target) : ".cu";
  if (!IsFile(source)) source = PlainName(options.input).replace_extension(extension).string();
  emit.source_name = BaseName(source);
  emit.header_name = BaseName(HeaderPath(source));
  return emit;
}

std::vector<OutputFile> CodeFiles(const Session& session, codegen::Emitted emitted) {
  const Options& options = session.options;
  std::vector<OutputFile> files;
  if (options.emit == Emit::kHeader) {
    files.push_back({options.output, std::move(emitted.header)});
  } else {
    files.push_back({options.output, std::move(emitted.source)});
    std::error_code none;
    const bool is_device = std::filesystem::is_other(options.output, none);  // /dev/null: no header goes beside it
    const bool with_header = options.emit == Emit::kCode && IsFile(options.output) && !is_device;
    if (with_header) files.push_back({HeaderPath(options.output), std::move(emitted.header)});
  }
  return files;
}

}  // namespace tkc

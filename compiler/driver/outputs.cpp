// SPDX-License-Identifier: MIT
#include "compiler/driver/outputs.h"

#include <fmt/format.h>

#include <filesystem>

#include "compiler/support/dtype.h"
#include "compiler/syntax/parser.h"

namespace tkc {

const Target* RequireTarget(Session& session) {
  const std::string& name = session.options.target;
  const Target* target = FindTarget(name);
  if (!target) {
    session.diagnostics.Error(DiagnosticKind::kUnknownTarget, kNoSpan, fmt::format("`{}` is no target of this tkc", name))
        .Help("`tkc --list-targets` shows which are");
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
    const uint32_t file = session.sources.Add(fmt::format("-D {}", name), text.substr(equal + 1));
    Result<ast::ExprPtr> value = ParseExpression(session.sources, file, session.diagnostics);
    ok = ok && value;
    if (value) defines.push_back({name, value.Take(), {file, 0, static_cast<uint32_t>(text.size() - equal - 1)}});
  }
  if (!ok) return Failure{};
  return defines;
}

namespace {

std::string BaseName(const std::string& path) { return std::filesystem::path(path).filename().string(); }

std::string HeaderPath(const std::string& source) { return std::filesystem::path(source).replace_extension(".h").string(); }

bool IsFile(const std::string& path) { return !path.empty() && path != "-"; }

/// A path in a make rule.
std::string MakeEscape(const std::string& path) {
  std::string out;
  for (const char c : path) {
    if (c == ' ' || c == '#' || c == '\\') out += '\\';
    if (c == '$') out += '$';
    out += c;
  }
  return out;
}

std::string MakeRule(const Session& session) {
  std::string rule = MakeEscape(session.options.output) + ":";
  for (uint32_t file = 0; file < session.sources.FileCount(); ++file) {
    const std::string& path = session.sources.Path(file);
    if (path[0] == '<' || path.compare(0, 3, "-D ") == 0) continue;  // not on disk
    rule += " " + MakeEscape(path);
  }
  return rule + "\n";
}

}  // namespace

bool RequireOutput(Session& session) {
  const Options& options = session.options;
  if (options.emit != Emit::kCode || !IsFile(options.output) || HeaderPath(options.output) != options.output) return true;
  session.diagnostics
      .Error(DiagnosticKind::kCannotWriteFile, kNoSpan, fmt::format("`{}` would be the source and its header", options.output))
      .Help("write `-o kernel.cu`: the header goes beside it");
  return false;
}

codegen::EmitOptions EmitOptionsOf(const Options& options) {
  codegen::EmitOptions emit;
  emit.version = TKC_VERSION;
  emit.options = "--target " + options.target;
  for (const std::string& define : options.defines) emit.options += " -D " + define;
  if (options.line_info) emit.options += " -g";
  emit.line_directives = options.line_info;
  std::string source = options.output;
  const Target* target = FindTarget(options.target);
  const std::string extension = target && target->is_hip ? ".hip" : ".cu";
  if (!IsFile(source)) source = std::filesystem::path(BaseName(options.input)).replace_extension(extension).string();
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
    const bool with_header = options.emit == Emit::kCode && IsFile(options.output);
    if (with_header) files.push_back({HeaderPath(options.output), std::move(emitted.header)});
  }
  if (!options.depfile.empty()) files.push_back({options.depfile, MakeRule(session)});
  return files;
}

}  // namespace tkc

// SPDX-License-Identifier: MIT
#include "compiler/driver/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "compiler/syntax/parser.h"

namespace tkc {
namespace {

namespace fs = std::filesystem;

/// One name for a file however it is reached, so that it is read once.
std::string Identity(const fs::path& path) {
  std::error_code error;
  const fs::path canonical = fs::weakly_canonical(path, error);
  return error ? path.string() : canonical.string();
}

bool EndsWith(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && std::string_view(text).substr(text.size() - end.size()) == end;
}

/// Where `import "path"` leads, or empty and reported.
std::string Resolve(const ast::ImportDecl& import, const std::string& importer, const std::vector<std::string>& include_dirs,
                    Diagnostics& diagnostics) {
  for (const char* header : {".h", ".hpp", ".cuh", ".hip"}) {
    if (!EndsWith(import.path, header)) continue;
    diagnostics
        .Error(DiagnosticKind::kNotImplemented, import.path_span, "imports of C++ headers are specified, not yet implemented")
        .Help("write the function as a `fn` in a .tk file and import that");
    return {};
  }
  const fs::path wanted(import.path);
  std::vector<fs::path> places = {fs::path(importer).parent_path() / wanted};
  for (const std::string& dir : include_dirs) places.push_back(fs::path(dir) / wanted);
  for (const fs::path& place : places) {
    std::error_code error;
    if (!import.path.empty() && fs::is_regular_file(place, error)) return place.lexically_normal().string();
  }
  std::error_code none;
  const auto folder = std::ranges::find_if(places, [&](const fs::path& place) { return fs::is_directory(place, none); });
  if (folder != places.end()) {
    diagnostics.Error(DiagnosticKind::kCannotReadFile, import.path_span, fmt::format("`{}` is a folder", import.path))
        .Help("name a file in it");
    return {};
  }
  DiagnosticBuilder error =
      diagnostics.Error(DiagnosticKind::kCannotReadFile, import.path_span, fmt::format("no file `{}` to import", import.path));
  for (const fs::path& place : places) error.Note(fmt::format("looked for `{}`", place.lexically_normal().string()));
  error.Help("name its folder with `-I`");
  return {};
}

}  // namespace

Result<ast::Program> LoadProgram(const std::string& path, const std::vector<std::string>& include_dirs, SourceManager& sources,
                                 Diagnostics& diagnostics) {
  for (const std::string& folder : include_dirs) {
    std::error_code error;
    if (fs::is_directory(folder, error)) continue;
    diagnostics.Warning(DiagnosticKind::kNoFolder, kNoSpan, fmt::format("`-I {}`: there is no such folder", folder))
        .Help("imports are looked for beside the file that names them, and in the folders given with `-I`");
  }
  Result<uint32_t> first = sources.Load(path, kNoSpan, diagnostics);
  if (!first) return Failure{};
  ast::Program program;
  std::set<std::string> seen = {Identity(path)};
  program.files.push_back(ParseFile(sources, *first, diagnostics));
  for (size_t i = 0; i < program.files.size(); ++i) {
    for (size_t k = 0; k < program.files[i].imports.size(); ++k) {
      // By index: push_back moves the files.
      const ast::ImportDecl& import = program.files[i].imports[k];
      const std::string found = Resolve(import, sources.Path(program.files[i].file), include_dirs, diagnostics);
      if (found.empty() || !seen.insert(Identity(found)).second) continue;
      Result<uint32_t> file = sources.Load(found, import.path_span, diagnostics);
      if (file) program.files.push_back(ParseFile(sources, *file, diagnostics));
    }
  }
  if (diagnostics.HasErrors()) return Failure{};
  return program;
}

}  // namespace tkc

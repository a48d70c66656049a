// SPDX-License-Identifier: MIT
#include "compiler/support/source_manager.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace tkc {

uint32_t SourceManager::Add(std::string path, std::string text) {
  File& file = files_.emplace_back();
  file.path = std::move(path);
  file.text = std::move(text);
  if (file.text.compare(0, 3, "\xef\xbb\xbf") == 0) file.text.erase(0, 3);  // a byte order mark, which takes no column
  file.line_starts.push_back(0);
  for (size_t i = 0; i < file.text.size(); ++i) {
    if (file.text[i] == '\n') file.line_starts.push_back(static_cast<uint32_t>(i + 1));
  }
  return FileCount() - 1;
}

namespace {

/// Reads to the end or one byte past the limit; false: errno says why.
bool ReadAll(const std::string& path, std::string& text) {
  const bool is_stdin = path == "-";
  std::FILE* in = is_stdin ? stdin : std::fopen(path.c_str(), "rb");
  if (!in) return false;
  struct stat info{};
  if (!is_stdin && fstat(fileno(in), &info) == 0 && S_ISDIR(info.st_mode)) {
    std::fclose(in);
    errno = EISDIR;
    return false;
  }
  char buffer[1 << 16];
  while (text.size() <= SourceManager::kMaxBytes) {
    const size_t count = std::fread(buffer, 1, sizeof buffer, in);
    text.append(buffer, count);
    if (count < sizeof buffer) break;
  }
  const bool ok = std::ferror(in) == 0;
  if (!is_stdin) std::fclose(in);
  return ok;
}

}  // namespace

Result<uint32_t> SourceManager::Load(const std::string& path, Span wanted_at, Diagnostics& diagnostics) {
  std::string text;
  errno = 0;
  if (!ReadAll(path, text)) {
    const int error = errno;
    DiagnosticBuilder report = diagnostics.Error(DiagnosticKind::kCannotReadFile, wanted_at,
                                                 fmt::format("`{}` can't be read: {}", path, std::strerror(error)));
    std::error_code ignored;
    if (error == EISDIR)
      report.Help("name a file in it");
    else if (error == ENOENT && std::filesystem::is_regular_file(path + ".tk", ignored))
      report.Help(fmt::format("write `{}.tk`", path));
    else if (path == "help" || path == "version")
      report.Help(fmt::format("write `tkc --{}`", path));
    return report;
  }
  if (text.size() > kMaxBytes) {
    return diagnostics.Error(DiagnosticKind::kFileTooLarge, wanted_at,
                             fmt::format("`{}` is too large; a source file has at most {} bytes", path, kMaxBytes));
  }
  const uint32_t file = Add(path == "-" ? "<stdin>" : path, std::move(text));
  files_[file].is_loaded = path != "-";
  return file;
}

LineColumn SourceManager::Locate(uint32_t file, uint32_t offset) const {
  const File& f = files_[file];
  const auto next = std::upper_bound(f.line_starts.begin(), f.line_starts.end(), offset);
  const auto line = static_cast<uint32_t>(next - f.line_starts.begin());
  uint32_t column = 1;
  for (uint32_t i = f.line_starts[line - 1]; i < offset && i < f.text.size(); ++i) {
    // Bytes 10xxxxxx go on with a character that has been counted.
    if ((static_cast<unsigned char>(f.text[i]) & 0xc0) != 0x80) ++column;
  }
  return {line, column};
}

std::string_view SourceManager::LineText(uint32_t file, uint32_t line) const {
  const File& f = files_[file];
  const uint32_t begin = f.line_starts[line - 1];
  size_t end = line < f.line_starts.size() ? f.line_starts[line] - 1 : f.text.size();
  if (end > begin && f.text[end - 1] == '\r') --end;
  return std::string_view(f.text).substr(begin, end - begin);
}

}  // namespace tkc

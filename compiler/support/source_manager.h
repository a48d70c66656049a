// SPDX-License-Identifier: MIT
// Owns the text of every source file of a run. Spans index into it; text and paths stay in place for its lifetime.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/diagnostic.h"
#include "compiler/support/source.h"

namespace tkc {

/// A place as a person counts: lines and columns from 1, columns in characters (code points).
struct LineColumn {
  uint32_t line = 1;
  uint32_t column = 1;
};

class SourceManager {
 public:
  /// Larger files are refused: no person writes such a kernel, and the bound keeps every answer under a second.
  static constexpr size_t kMaxBytes = 4u << 20;

  /// Adds text under a name; returns its file number.
  uint32_t Add(std::string path, std::string text);

  /// Reads `path` (`-`: standard input). `wanted_at`: the import that asks for it, or kNoSpan.
  Result<uint32_t> Load(const std::string& path, Span wanted_at, Diagnostics& diagnostics);

  uint32_t FileCount() const { return static_cast<uint32_t>(files_.size()); }
  const std::string& Path(uint32_t file) const { return files_[file].path; }
  /// Whether its path is where it was read, and not a name for a text that is in no file.
  bool IsLoaded(uint32_t file) const { return files_[file].is_loaded; }
  std::string_view Text(uint32_t file) const { return files_[file].text; }
  std::string_view Text(Span span) const { return Text(span.file).substr(span.begin, span.end - span.begin); }

  LineColumn Locate(uint32_t file, uint32_t offset) const;
  LineColumn Begin(Span span) const { return Locate(span.file, span.begin); }
  /// 1-based line number of a span's start.
  uint32_t Line(Span span) const { return Begin(span).line; }
  /// The text of line `line` (from 1) without its line break.
  std::string_view LineText(uint32_t file, uint32_t line) const;
  /// Byte offset at which line `line` starts.
  uint32_t LineStart(uint32_t file, uint32_t line) const { return files_[file].line_starts[line - 1]; }
  uint32_t LineCount(uint32_t file) const { return static_cast<uint32_t>(files_[file].line_starts.size()); }

 private:
  struct File {
    std::string path;
    std::string text;
    std::vector<uint32_t> line_starts;
    bool is_loaded = false;
  };
  std::deque<File> files_;
};

}  // namespace tkc

// SPDX-License-Identifier: MIT
// Which statement of the .tk source a place belongs to. Found in the text, as IR that is read from a file has no tree of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/source_manager.h"

namespace tkc::codegen {

/// Without spaces and ends of lines around it.
std::string_view Trim(std::string_view text);

inline bool PointsSomewhere(const SourceManager& sources, Span span) {
  return span.file < sources.FileCount() && span.end > span.begin;
}

/// The part of `line` that is the statement or header at `column` (from 0): between `;`, the braces of blocks, and the ends. What
/// goes on in the next line of the file belongs to `line`.
std::string_view StatementAt(std::string_view line, size_t column);

class SourceStatements {
 public:
  explicit SourceStatements(const SourceManager& sources);

  const SourceManager& Sources() const { return sources_; }

  /// The statement or header at the beginning of `span`, which points somewhere.
  Span At(Span span) const;
  /// The same line by line for comments, as it stands in the source but for what all of it is indented by. What stands in a `fn`
  /// has its name in front: a reader sees the call, and here what it does.
  std::vector<std::string> Lines(Span span) const;
  /// Its first line for the same purpose, `...` instead of what is assigned, sent or stored, if that is long.
  std::string Head(Span span) const;
  /// Whether both come from one statement: one lies in the other, or they stand in the same part of a line.
  bool AreSame(Span a, Span b) const;

 private:
  struct Function {
    std::string_view name;
    size_t begin, end;  // of what its braces hold
  };
  struct File {
    std::vector<size_t> lines;  // where lines with all that goes on begin
    std::vector<Function> functions;
  };
  static std::vector<Function> FunctionsOf(std::string_view text);

  const SourceManager& sources_;
  std::vector<File> files_{};  // by their numbers
};

}  // namespace tkc::codegen

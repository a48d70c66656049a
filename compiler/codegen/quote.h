// SPDX-License-Identifier: MIT
// Lines of the .tk source inside generated comments. Whatever the source holds, the comment ends where its line ends.
#pragma once

#include <string>
#include <string_view>

#include "compiler/codegen/code_writer.h"
#include "compiler/support/source_manager.h"

namespace tkc::codegen {

/// `text` made safe and short for a `//` comment: no control characters, no bytes that are not UTF-8, no direction marks, no
/// backslash at the end, at most 112 characters.
std::string EscapeComment(std::string_view text);

/// The part of a source line that is the statement or header at `column` (from 0): between `;`, the braces of blocks, and the ends.
std::string_view StatementAt(std::string_view line, size_t column);

/// Writes a statement's source line before the code that comes from it, once for a run of operations of one statement.
class SourceQuoter {
 public:
  SourceQuoter(const SourceManager& sources, CodeWriter& out, bool line_directives)
      : sources_(sources), out_(out), line_directives_(line_directives) {}

  void At(Span span);
  /// Whether both come from one statement: one lies in the other, or they stand in the same part of one line.
  bool SameStatement(Span a, Span b) const;
  /// The next statement is quoted even if it is of the same line.
  void Forget() { line_ = 0; }
  /// With #line in use: gives the following lines to the generated file again.
  void Leave(const std::string& generated_name);

 private:
  std::string_view StatementOf(Span span) const;
  /// The same as a place in the source.
  Span StatementSpan(Span span) const;

  const SourceManager& sources_;
  CodeWriter& out_;
  bool line_directives_;
  uint32_t file_ = kNoFile;
  uint32_t line_ = 0;
  int after_directive_ = 0;  // the line that follows the last #line
  std::string statement_;
};

inline bool PointsSomewhere(const SourceManager& sources, Span span) {
  return span.file < sources.FileCount() && span.end > span.begin;
}

}  // namespace tkc::codegen

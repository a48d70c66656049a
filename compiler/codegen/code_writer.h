// SPDX-License-Identifier: MIT
// Text with indentation: two spaces a level, lines of at most 132 columns, as clang-format lays out this repository.
// A statement that is too long is broken (line_breaker).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/source.h"

namespace tkc::codegen {

/// From line `line` of the written text on, up to the next origin, the text comes from `span` of the source (kNoSpan: from none).
struct LineOrigin {
  int line;
  Span span;
};

class CodeWriter {
 public:
  static constexpr size_t kColumns = 132;

  /// Lines are no longer broken: with #line in use, a second line would count as the next line of the source.
  void NeverBreak() { breaks_ = false; }

  void Line(std::string_view text);
  /// `text  // remark`, or the remark above, where one line is too short for both.
  void Line(std::string_view text, std::string_view remark);
  /// At column 0, never broken: preprocessor lines.
  void Raw(std::string_view text);
  void Blank();
  /// `// text`; an empty text gives `//`.
  void Comment(std::string_view text);
  /// `head {`, and one level deeper until Close.
  void Open(std::string_view head);
  void Close(std::string_view tail = "}");
  /// `} middle {`: ends one block and opens the next.
  void Turn(std::string_view middle);
  /// Where the text stands; OneLine(mark) then puts `head {`, one statement and `}` written since on one line, if they fit.
  size_t Mark() const { return text_.size(); }
  void OneLine(size_t mark, bool keep_braces = false);

  /// `#line`: the lines that follow are those of `file`, which is the text that is written here.
  void OwnLines(const std::string& file);
  /// All that has been written into `part`, which is at column 0.
  void Append(CodeWriter part);

  /// What is written next comes from `span`.
  void From(Span span) { origins_.push_back({LineNumber(), span}); }
  const std::vector<LineOrigin>& Origins() const { return origins_; }

  int LineNumber() const { return lines_ + 1; }  // of the line written next
  const std::string& Text() const { return text_; }
  /// The text, once all is written.
  std::string Take();

 private:
  void Put(std::string_view text);
  std::string text_;
  int level_ = 0;
  int lines_ = 0;
  bool breaks_ = true;
  std::vector<LineOrigin> origins_;  // lines ascend
  struct LineReference {
    size_t place;  // in the text, where the number of the line belongs
    int line;
  };
  std::vector<LineReference> references_;  // known when all is written
};

}  // namespace tkc::codegen

// SPDX-License-Identifier: MIT
// The lexer at work: lexer.cpp reads tokens, lexer_habits.cpp finds what is written as other languages, or print, have it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/support/diagnostic.h"
#include "compiler/support/source_manager.h"
#include "compiler/syntax/lexer.h"

namespace tkc {

inline bool IsWordStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }
inline bool IsWord(char c) { return IsWordStart(c) || IsDigit(c); }

/// The length of the UTF-8 sequence at `i`, 0 if it is none (overlong forms and surrogates are none).
size_t Utf8Length(std::string_view text, size_t i);

class Lexer {
 public:
  Lexer(const SourceManager& sources, uint32_t file, Diagnostics& diagnostics)
      : text_(sources.Text(file)), file_(file), diagnostics_(diagnostics) {}

  std::vector<Token> Run();

 private:
  Span SpanFrom(size_t begin, size_t end) const { return {file_, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)}; }
  char At(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  bool StandsAt(size_t i, std::string_view what) const { return At(i) == what[0] && text_.substr(i).starts_with(what); }

  bool IsText();
  /// To the next token; false at the end of the text or when enough errors have been reported.
  bool SkipSpace();
  void Push(TokenKind kind, size_t end);
  void Next();
  void Word();
  void Number();
  void String();
  /// After a `.` only digits belong to the number: `d.0.1` is two fields.
  bool IsField() const { return !tokens_.empty() && tokens_.back().kind == TokenKind::kDot && tokens_.back().end == pos_; }

  /// `N // 64`, a quotient in other languages: a comment behind a value that holds nothing but a number, or a name in capitals.
  void WarnOfQuotient();
  /// A space that looks like one and is none, as text from a page has them. The first is told, for all.
  bool ForeignSpace();
  /// In quotes as a word processor sets them.
  bool TypographicString();
  void BlockComment();
  /// The small decimal number that follows on the line; 0 where none does.
  int64_t NumberAt(size_t begin) const;
  /// An operator of other languages that has a word here, which stands in for it.
  bool ForeignOperator();
  /// A sign of other languages, or of print, that is said in another way here.
  bool ForeignSign();
  void Unexpected();
  bool IsStray(size_t i) const;

  std::string_view text_;
  uint32_t file_;
  Diagnostics& diagnostics_;
  size_t pos_ = 0;
  bool line_start_ = true;
  bool told_spaces_ = false;
  std::vector<Token> tokens_;
};

}  // namespace tkc

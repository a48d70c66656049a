// SPDX-License-Identifier: MIT
// Tokens of the IR's text: names (with dots), %values, numbers, quoted strings, punctuation. `//` starts a comment.
// `%` directly before a letter starts a value's name; elsewhere it is the operator. Tokens are views into the text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "compiler/support/diagnostic.h"
#include "compiler/support/source.h"

namespace tkc::symbolic {

enum class TokenKind : uint8_t { kEnd, kName, kValue, kInt, kFloat, kString, kPunctuation };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;  // kValue: without the %; kString: between the quotes, escapes as written
  Span span;
  bool starts_line = false;  // the first token of its line

  bool Is(std::string_view wanted) const { return text == wanted && (kind == TokenKind::kPunctuation || kind == TokenKind::kName); }
};

/// One token of lookahead.
class TextLexer {
 public:
  /// `file`: the text's number in the SourceManager, for spans (kNoFile: none).
  TextLexer(std::string_view text, uint32_t file, Diagnostics& diagnostics);

  const Token& Peek() const { return token_; }
  Token Next();
  /// Consumes the next token if it is this word or punctuation.
  bool Accept(std::string_view wanted);
  /// As Accept, reporting what stands there instead.
  bool Expect(std::string_view wanted);
  /// Reports "expected `what`, found ..." at the next token. Only the first error of a text is reported: what follows is noise.
  void Error(std::string_view expected);
  /// Reports a fault of meaning at a place.
  void ErrorAt(Span span, std::string message);

 private:
  Token Scan();
  void SkipSpace();

  std::string_view text_;
  uint32_t file_;
  Diagnostics& diagnostics_;
  size_t position_ = 0;
  bool at_line_start_ = true;
  bool failed_ = false;
  Token token_;
};

/// The text of a string token with \" \\ \n undone, and the reverse, quotes included.
std::string Unescape(std::string_view text);
std::string Quote(std::string_view text);
bool IsPlainName(std::string_view text);

}  // namespace tkc::symbolic

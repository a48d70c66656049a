// SPDX-License-Identifier: MIT
// Text to tokens, in one linear pass. Line breaks are no tokens: a token knows whether it starts a line, and the
// parser decides where that ends a statement. Comments (`//` to the end of the line) are dropped; the parser fetches
// `///` lines from the text where it needs them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/support/diagnostic.h"
#include "compiler/support/source_manager.h"

namespace tkc {

enum class TokenKind : uint8_t {
  kEnd,  // always the last token
  kName,
  kInt,
  kFloat,
  kString,
  kStray,  // something unreadable that has been reported; the parser says no more about it
#define PUNCTUATION(name, text) k##name,
#define KEYWORD(name, text) k##name,
#include "compiler/syntax/token.def"
#undef PUNCTUATION
#undef KEYWORD
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  bool line_start = false;  // the first token of its line
  uint32_t begin = 0;
  uint32_t end = 0;
};

/// The fixed text of a punctuation or keyword; empty for the others.
std::string_view Spelling(TokenKind kind);
bool IsKeyword(TokenKind kind);

/// Tokens of a file, closed by kEnd. What can't be read is reported and becomes kStray; a file that is not text gives
/// one diagnostic and no tokens but kEnd.
std::vector<Token> Lex(const SourceManager& sources, uint32_t file, Diagnostics& diagnostics);

}  // namespace tkc

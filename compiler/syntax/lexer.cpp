// SPDX-License-Identifier: MIT
#include "compiler/syntax/lexer.h"

#include <fmt/format.h>

#include <utility>

#include "compiler/syntax/lexer_impl.h"

namespace tkc {
namespace {

struct Fixed {
  TokenKind kind;
  std::string_view text;
};
constexpr Fixed kPunctuation[] = {
#define PUNCTUATION(name, text) {TokenKind::k##name, text},
#define KEYWORD(name, text)
#include "compiler/syntax/token.def"
#undef PUNCTUATION
#undef KEYWORD
};
constexpr Fixed kKeywords[] = {
#define PUNCTUATION(name, text)
#define KEYWORD(name, text) {TokenKind::k##name, text},
#include "compiler/syntax/token.def"
#undef PUNCTUATION
#undef KEYWORD
};

}  // namespace

size_t Utf8Length(std::string_view text, size_t i) {
  const auto byte = [&](size_t k) { return i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0u; };
  const auto follows = [&](size_t k) { return (byte(k) & 0xc0) == 0x80; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return follows(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    if (!follows(1) || !follows(2)) return 0;
    if ((lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xed && byte(1) >= 0xa0)) return 0;
    return 3;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    if (!follows(1) || !follows(2) || !follows(3)) return 0;
    if ((lead == 0xf0 && byte(1) < 0x90) || (lead == 0xf4 && byte(1) >= 0x90)) return 0;
    return 4;
  }
  return 0;
}

std::vector<Token> Lexer::Run() {
  if (IsText()) {
    tokens_.reserve(text_.size() / 4 + 1);
    while (SkipSpace()) Next();
  }
  const auto end = static_cast<uint32_t>(text_.size());
  tokens_.push_back({TokenKind::kEnd, true, end, end});
  return std::move(tokens_);
}

bool Lexer::IsText() {
  for (size_t i = 0; i < text_.size();) {
    const size_t length = Utf8Length(text_, i);
    if (length == 0 || text_[i] == '\0') {
      diagnostics_
          .Error(DiagnosticKind::kNotText, SpanFrom(i, i + 1),
                 text_[i] == '\0' ? "a NUL byte is no text"
                                  : fmt::format("byte 0x{:02x} is not UTF-8 text", static_cast<unsigned char>(text_[i])))
          .Help("save the file as UTF-8; is it a .tk file at all?");
      return false;
    }
    i += length;
  }
  return true;
}

bool Lexer::SkipSpace() {
  while (pos_ < text_.size()) {
    const char c = text_[pos_];
    if (c == '\n') line_start_ = true;
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      ++pos_;
    } else if (c == '/' && At(pos_ + 1) == '/') {
      WarnOfQuotient();
      while (pos_ < text_.size() && text_[pos_] != '\n') ++pos_;
    } else if (!ForeignSpace()) {
      return diagnostics_.ErrorCount() < Diagnostics::kKept;
    }
  }
  return false;
}

void Lexer::Push(TokenKind kind, size_t end) {
  tokens_.push_back({kind, line_start_, static_cast<uint32_t>(pos_), static_cast<uint32_t>(end)});
  line_start_ = false;
  pos_ = end;
}

void Lexer::Next() {
  const char c = text_[pos_];
  if (IsWordStart(c)) return Word();
  if (IsDigit(c)) return Number();
  if (c == '"') return String();
  if (TypographicString()) return;
  if (c == '/' && At(pos_ + 1) == '*') return BlockComment();
  if (ForeignSign()) return;
  for (const Fixed& fixed : kPunctuation) {
    if (StandsAt(pos_, fixed.text)) return Push(fixed.kind, pos_ + fixed.text.size());
  }
  Unexpected();
}

void Lexer::Word() {
  size_t end = pos_;
  while (IsWord(At(end))) ++end;
  const std::string_view word = text_.substr(pos_, end - pos_);
  for (const Fixed& keyword : kKeywords) {
    if (keyword.text == word) return Push(keyword.kind, end);
  }
  Push(TokenKind::kName, end);
}

void Lexer::Number() {
  size_t end = pos_;
  bool is_float = false;
  const bool is_hex = text_[pos_] == '0' && (At(pos_ + 1) == 'x' || At(pos_ + 1) == 'X');
  if (is_hex) {
    end += 2;
    while (std::isxdigit(static_cast<unsigned char>(At(end))) || At(end) == '_') ++end;
  } else {
    while (IsDigit(At(end)) || At(end) == '_') ++end;
    if (!IsField()) {
      if (At(end) == '.' && IsDigit(At(end + 1))) {
        is_float = true;
        ++end;
        while (IsDigit(At(end)) || At(end) == '_') ++end;
      }
      const size_t sign = At(end + 1) == '+' || At(end + 1) == '-' ? 1 : 0;
      if ((At(end) == 'e' || At(end) == 'E') && IsDigit(At(end + 1 + sign))) {
        is_float = true;
        end += 2 + sign;
        while (IsDigit(At(end))) ++end;
      }
    }
  }
  const bool empty_hex = is_hex && end == pos_ + 2;
  if (IsWord(At(end)) || empty_hex || At(end - 1) == '_') {
    const size_t suffix = end;
    while (IsWord(At(end))) ++end;
    DiagnosticBuilder report = diagnostics_.Error(DiagnosticKind::kMalformedNumber, SpanFrom(pos_, end),
                                                  fmt::format("`{}` is not a number", text_.substr(pos_, end - pos_)));
    report.Note("numbers are written 64, 1_000, 0x1f, 0.5, 1e-3; their type comes from where they stand");
    // As C has them: 0.0f, 64u, 1ull.
    const bool is_typed =
        !empty_hex && At(suffix - 1) != '_' && text_.substr(suffix, end - suffix).find_first_not_of("fFlLuU") == text_.npos;
    if (is_typed) report.Help(fmt::format("write `{}`", text_.substr(pos_, suffix - pos_)), Edit{SpanFrom(suffix, end), ""});
    // A number all the same, so that the parser has nothing to add.
    return Push(TokenKind::kFloat, end);
  }
  const bool ends_in_dot = !is_float && !is_hex && !IsField() && At(end) == '.' && At(end + 1) != '.' && !IsWord(At(end + 1));
  if (ends_in_dot) {
    const Span span = SpanFrom(pos_, end + 1);
    const std::string_view digits = text_.substr(pos_, end - pos_);
    diagnostics_.Error(DiagnosticKind::kMalformedNumber, span, fmt::format("`{}.` is not a number", digits))
        .Help(fmt::format("write `{}.0`", digits), Edit{span, fmt::format("{}.0", digits)});
    return Push(TokenKind::kFloat, end + 1);
  }
  Push(is_float ? TokenKind::kFloat : TokenKind::kInt, end);
}

void Lexer::String() {
  size_t end = pos_ + 1;
  while (end < text_.size() && text_[end] != '"' && text_[end] != '\n') ++end;
  if (At(end) == '"') return Push(TokenKind::kString, end + 1);
  diagnostics_.Error(DiagnosticKind::kUnterminatedString, SpanFrom(pos_, pos_ + 1), "this string does not end on its line")
      .Help("write `\"` at its end", Edit{SpanFrom(end, end), "\""});
  Push(TokenKind::kStray, end);
}

std::string_view Spelling(TokenKind kind) {
  for (const Fixed& fixed : kPunctuation) {
    if (fixed.kind == kind) return fixed.text;
  }
  for (const Fixed& fixed : kKeywords) {
    if (fixed.kind == kind) return fixed.text;
  }
  return {};
}

bool IsKeyword(TokenKind kind) { return kind >= kKeywords[0].kind; }

std::vector<Token> Lex(const SourceManager& sources, uint32_t file, Diagnostics& diagnostics) {
  return Lexer(sources, file, diagnostics).Run();
}

}  // namespace tkc

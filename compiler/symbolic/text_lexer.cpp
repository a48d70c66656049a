// SPDX-License-Identifier: MIT
#include "compiler/symbolic/text_lexer.h"

#include <fmt/format.h>

#include <utility>

namespace tkc::symbolic {
namespace {

bool IsNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsNamePart(char c) { return IsNameStart(c) || IsDigit(c); }

/// End of a name that starts at `begin`: parts joined by `.` or `::`.
size_t NameEnd(std::string_view text, size_t begin) {
  size_t end = begin;
  while (end < text.size() && IsNamePart(text[end])) ++end;
  if (end + 1 < text.size() && text[end] == '.' && IsNameStart(text[end + 1])) return NameEnd(text, end + 1);
  const bool is_scoped = text.substr(end, 2) == "::" && end + 2 < text.size() && IsNameStart(text[end + 2]);
  return is_scoped ? NameEnd(text, end + 2) : end;
}

/// End of a number; *is_float if it has a fraction or an exponent.
size_t NumberEnd(std::string_view text, size_t begin, bool* is_float) {
  const auto digits = [&](size_t at) {
    while (at < text.size() && IsDigit(text[at])) ++at;
    return at;
  };
  size_t end = digits(begin);
  if (end + 1 < text.size() && text[end] == '.' && IsDigit(text[end + 1])) {
    *is_float = true;
    end = digits(end + 1);
  }
  if (end < text.size() && (text[end] == 'e' || text[end] == 'E')) {
    size_t exponent = end + 1;
    if (exponent < text.size() && (text[exponent] == '+' || text[exponent] == '-')) ++exponent;
    if (exponent < text.size() && IsDigit(text[exponent])) {
      *is_float = true;
      end = digits(exponent);
    }
  }
  return end;
}

}  // namespace

TextLexer::TextLexer(std::string_view text, uint32_t file, Diagnostics& diagnostics)
    : text_(text), file_(file), diagnostics_(diagnostics), token_(Scan()) {}

Token TextLexer::Next() { return std::exchange(token_, Scan()); }

bool TextLexer::Accept(std::string_view wanted) {
  if (!token_.Is(wanted)) return false;
  Next();
  return true;
}

bool TextLexer::Expect(std::string_view wanted) {
  if (Accept(wanted)) return true;
  Error(fmt::format("`{}`", wanted));
  return false;
}

void TextLexer::Error(std::string_view expected) {
  const std::string found = token_.kind == TokenKind::kEnd ? "the end of the text" : fmt::format("`{}`", token_.text);
  ErrorAt(token_.span, fmt::format("expected {}, found {}", expected, found));
}

void TextLexer::ErrorAt(Span span, std::string message) {
  if (!failed_) diagnostics_.Error(DiagnosticKind::kExpectedSyntax, span, std::move(message));
  failed_ = true;
}

void TextLexer::SkipSpace() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == '\n') {
      at_line_start_ = true;
      ++position_;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++position_;
    } else if (text_.substr(position_, 2) == "//") {
      position_ = std::min(text_.find('\n', position_), text_.size());
    } else {
      return;
    }
  }
}

Token TextLexer::Scan() {
  SkipSpace();
  const size_t begin = position_;
  const char c = begin < text_.size() ? text_[begin] : '\0';
  const char after = begin + 1 < text_.size() ? text_[begin + 1] : '\0';
  Token token;
  size_t trim = 0;  // characters of the token that are not of its text: a value's %, a string's quotes
  if (begin >= text_.size()) {
    token.kind = TokenKind::kEnd;
  } else if (IsNameStart(c)) {
    token.kind = TokenKind::kName;
    position_ = NameEnd(text_, begin);
  } else if (c == '%' && IsNameStart(after)) {
    token.kind = TokenKind::kValue;
    position_ = NameEnd(text_, begin + 1);
    trim = 1;
  } else if (IsDigit(c)) {
    bool is_float = false;
    position_ = NumberEnd(text_, begin, &is_float);
    token.kind = is_float ? TokenKind::kFloat : TokenKind::kInt;
  } else if (c == '"') {
    token.kind = TokenKind::kString;
    ++position_;
    while (position_ < text_.size() && text_[position_] != '"' && text_[position_] != '\n') {
      position_ += text_[position_] == '\\' ? 2 : 1;
    }
    position_ = std::min(position_ + 1, text_.size());
    trim = 1;
  } else {
    token.kind = TokenKind::kPunctuation;
    const std::string_view pair = text_.substr(begin, 2);
    const bool is_pair = pair == "==" || pair == "!=" || pair == "<=" || pair == ">=" || pair == "..";
    position_ += is_pair ? 2 : 1;
  }
  token.text = text_.substr(begin + trim, position_ - begin - trim);
  if (token.kind == TokenKind::kString && !token.text.empty() && token.text.back() == '"') token.text.remove_suffix(1);
  token.span = {file_, static_cast<uint32_t>(begin), static_cast<uint32_t>(position_)};
  token.starts_line = std::exchange(at_line_start_, false);
  return token;
}

std::string Unescape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escaped = text[i] == '\\' && i + 1 < text.size();
    if (escaped) ++i;
    out += escaped && text[i] == 'n' ? '\n' : text[i];
  }
  return out;
}

std::string Quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + '"';
}

bool IsPlainName(std::string_view text) { return !text.empty() && IsNameStart(text[0]) && NameEnd(text, 0) == text.size(); }

}  // namespace tkc::symbolic

// SPDX-License-Identifier: MIT
// Habits of other languages and of print: what is written as they have it is told with what it is here.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "compiler/syntax/lexer_impl.h"

namespace tkc {

void Lexer::WarnOfQuotient() {
  if (line_start_ || tokens_.empty()) return;
  const TokenKind before = tokens_.back().kind;
  const bool is_value = before == TokenKind::kName || before == TokenKind::kInt || before == TokenKind::kRightParen ||
                        before == TokenKind::kRightBracket;
  std::string_view comment = text_.substr(pos_ + 2, text_.find('\n', pos_) - pos_ - 2);
  comment.remove_prefix(std::min(comment.find_first_not_of(' '), comment.size()));
  comment = comment.substr(0, comment.find_last_not_of(" \r;") + 1);
  const auto is_capital = [](char c) { return IsDigit(c) || c == '_' || (c >= 'A' && c <= 'Z'); };
  if (!is_value || comment.empty() || !std::all_of(comment.begin(), comment.end(), is_capital)) return;
  const bool is_used = std::any_of(tokens_.begin(), tokens_.end(), [&](const Token& token) {
    return token.kind == TokenKind::kName && text_.substr(token.begin, token.end - token.begin) == comment;
  });
  if (!IsDigit(comment[0]) && !is_used) return;
  diagnostics_
      .Warning(DiagnosticKind::kCommentAsQuotient, SpanFrom(pos_, pos_ + 2),
               fmt::format("`// {}` is a comment behind a value, and reads like a divisor", comment))
      .Help("a quotient of integers, rounded down, is `a / b`", Edit{SpanFrom(pos_, pos_ + 2), "/"});
}

bool Lexer::ForeignSpace() {
  struct Space {
    std::string_view found, name;
  };
  static constexpr Space kSpaces[] = {{"\u00a0", "U+00A0"}, {"\u2002", "U+2002"}, {"\u2003", "U+2003"}, {"\u2009", "U+2009"},
                                      {"\u200b", "U+200B"}, {"\u202f", "U+202F"}, {"\u3000", "U+3000"}, {"\ufeff", "U+FEFF"}};
  for (const Space& space : kSpaces) {
    if (!StandsAt(pos_, space.found)) continue;
    const size_t end = pos_ + space.found.size();
    if (!told_spaces_)
      diagnostics_.Error(DiagnosticKind::kUnexpectedCharacter, SpanFrom(pos_, end), fmt::format("{} is no plain space", space.name))
          .Help("write a space here, and wherever there are more of these", Edit{SpanFrom(pos_, end), " "});
    told_spaces_ = true;
    pos_ = end;
    return true;
  }
  return false;
}

bool Lexer::TypographicString() {
  static constexpr std::string_view kQuotes[] = {"\u201c", "\u201d", "\u201e", "\u00ab", "\u2018", "\u2019"};
  const auto at_quote = [&](size_t i) {
    for (const std::string_view quote : kQuotes) {
      if (StandsAt(i, quote)) return quote.size();
    }
    return At(i) == '"' ? size_t{1} : size_t{0};
  };
  const size_t opening = at_quote(pos_);
  if (opening == 0) return false;
  size_t end = pos_ + opening;
  while (end < text_.size() && text_[end] != '\n' && at_quote(end) == 0) ++end;
  const size_t closing = at_quote(end);
  const std::string plain = fmt::format("\"{}\"", text_.substr(pos_ + opening, end - pos_ - opening));
  if (closing == 0) end = pos_ + opening;
  DiagnosticBuilder error = diagnostics_.Error(DiagnosticKind::kUnexpectedCharacter, SpanFrom(pos_, pos_ + opening),
                                               fmt::format("`{}` belongs to no token", text_.substr(pos_, opening)));
  if (closing == 0)
    error.Help("strings stand in plain double quotes, behind `import` only");
  else
    error.Help(fmt::format("write plain quotes: `{}`", plain), Edit{SpanFrom(pos_, end + closing), plain});
  Push(TokenKind::kStray, end + closing);
  return true;
}

void Lexer::BlockComment() {
  diagnostics_.Error(DiagnosticKind::kUnexpectedCharacter, SpanFrom(pos_, pos_ + 2), "`/*` opens no comment in .tk files")
      .Help("start each line of the comment with `//`");
  const size_t close = text_.find("*/", pos_ + 2);
  pos_ = close == std::string_view::npos ? text_.size() : close + 2;
}

int64_t Lexer::NumberAt(size_t begin) const {
  while (At(begin) == ' ') ++begin;
  int64_t number = 0;
  for (; IsDigit(At(begin)) && number < 1'000'000; ++begin) number = number * 10 + (At(begin) - '0');
  return IsWord(At(begin)) || At(begin) == '.' ? 0 : number;
}

bool Lexer::ForeignOperator() {
  struct Habit {
    std::string_view other, ours;
  };
  static constexpr Habit kHabits[] = {{"&&", "and"}, {"||", "or"}, {"!", "not"}, {"&", "and"}, {"|", "or"}, {"~", "not"}};
  const std::string_view of_bits = text_[pos_] == '&' && At(pos_ + 1) != '&' ? "; the lowest 4 bits of an integer are `x % 16`"
                                   : text_[pos_] == '|' && At(pos_ + 1) != '|'
                                       ? "; bits that only one of two integers has are joined by `+`"
                                       : "";
  for (const Habit& habit : kHabits) {
    if (!StandsAt(pos_, habit.other)) continue;
    const size_t end = pos_ + habit.other.size();
    DiagnosticBuilder report = diagnostics_.Error(DiagnosticKind::kUnexpectedCharacter, SpanFrom(pos_, end),
                                                  fmt::format("`{}` is no operator of .tk", habit.other));
    if (const int64_t mask = habit.other == "&" ? NumberAt(end) : 0; mask > 0 && (mask & (mask + 1)) == 0)
      report.Help(fmt::format("the lowest {} bits of an integer are `x % {}`", std::bit_width(uint64_t(mask)), mask + 1));
    else
      report.Help(fmt::format("write `{}`{}", habit.ours, of_bits), Edit{SpanFrom(pos_, end), fmt::format(" {} ", habit.ours)});
    // Stand in for the operator that was meant.
    Push(habit.ours == "and" ? TokenKind::kAnd : habit.ours == "or" ? TokenKind::kOr : TokenKind::kNot, end);
    return true;
  }
  return false;
}

bool Lexer::ForeignSign() {
  struct Sign {
    std::string_view found, help;
  };
  static constexpr Sign kSigns[] = {{"++", "write `x += 1`"},
                                    {"**", "write `pow(x, y)`, or `x * x`"},
                                    {">>", "there are no shifts: `x / 16` is x without its lowest 4 bits, and `x % 16` is these"},
                                    {"<<", "there are no shifts: write `x * 16` for 4 bits"},
                                    {"^", "there are no operations on bits; a power is `pow(x, y)`"},
                                    {"?", "a choice is `if c { a } else { b }`, or of tiles `where(c, a, b)`"},
                                    {"'", "strings stand in double quotes, behind `import` only"},
                                    {"\u2212", "write `-`"},
                                    {"\u2013", "write `-`"},
                                    {"\u2014", "write `-`"},
                                    {"\u2026", "write `..`"},
                                    {"\u00d7", "write `*`"},
                                    {"\u00b7", "write `*`, or `@` for a product of matrices"},
                                    {"\u2190", "write `<-`"},
                                    {"\u2264", "write `<=`"},
                                    {"\u2265", "write `>=`"},
                                    {"\u2260", "write `!=`"}};
  for (const Sign& sign : kSigns) {
    if (!StandsAt(pos_, sign.found)) continue;
    if (sign.found == "<<" && At(pos_ + 2) == '-') continue;  // a comparison with what is received
    const size_t end = pos_ + sign.found.size();
    diagnostics_
        .Error(DiagnosticKind::kUnexpectedCharacter, SpanFrom(pos_, end), fmt::format("`{}` belongs to no token", sign.found))
        .Help(std::string(sign.help));
    Push(TokenKind::kStray, end);
    return true;
  }
  return false;
}

void Lexer::Unexpected() {
  if (ForeignOperator()) return;
  if (text_[pos_] == '#') {
    const auto begins = [&](std::string_view word) { return StandsAt(pos_ + 1, word); };
    if (begins("include"))
      diagnostics_.Error(DiagnosticKind::kUnexpectedCharacter, SpanFrom(pos_, pos_ + 8), "`#include` belongs to no token")
          .Help("functions of another .tk file are had by `import \"path.tk\"`");
    else if (begins("define"))
      diagnostics_.Error(DiagnosticKind::kUnexpectedCharacter, SpanFrom(pos_, pos_ + 7), "`#define` belongs to no token")
          .Help("a number with a name is a compile-time parameter of its kernel: `kernel k<BM = 64>(..)`");
    else
      diagnostics_.Error(DiagnosticKind::kUnexpectedCharacter, SpanFrom(pos_, pos_ + 1), "`#` starts no comment in .tk files")
          .Help("write `//`", Edit{SpanFrom(pos_, pos_ + 1), "//"});
    while (pos_ < text_.size() && text_[pos_] != '\n') ++pos_;
    return;
  }
  // One diagnostic for a run of such characters, not one each.
  size_t end = pos_;
  bool printable = true, is_ascii = true;
  while (end < text_.size() && IsStray(end)) {
    is_ascii = is_ascii && static_cast<unsigned char>(text_[end]) < 0x80;
    printable = printable && (static_cast<unsigned char>(text_[end]) >= 0x20 && text_[end] != 0x7f);
    end += Utf8Length(text_, end);
  }
  if (end == pos_) end = pos_ + 1;
  const std::string_view run = text_.substr(pos_, end - pos_);
  std::string headline = run.size() <= 16 && printable ? fmt::format("`{}` belongs to no token", run)
                                                       : std::string("these characters belong to no token");
  DiagnosticBuilder error = diagnostics_.Error(DiagnosticKind::kUnexpectedCharacter, SpanFrom(pos_, end), std::move(headline));
  if (!is_ascii) error.Note("outside comments and strings a .tk file is plain ASCII");
  Push(TokenKind::kStray, end);
}

bool Lexer::IsStray(size_t i) const {
  const auto c = static_cast<unsigned char>(text_[i]);
  if (c >= 0x80 || c == 0x7f) return true;
  if (c < 0x20) return c != '\n' && c != '\t' && c != '\r';
  return std::strchr("#$?\\^`'", c) != nullptr;
}

}  // namespace tkc

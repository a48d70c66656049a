// SPDX-License-Identifier: MIT
#include "compiler/syntax/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

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

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWordStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsWord(char c) { return IsWordStart(c) || IsDigit(c); }

/// The length of the UTF-8 sequence at `i`, 0 if it is none (overlong forms and surrogates are none).
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

class Lexer {
 public:
  Lexer(const SourceManager& sources, uint32_t file, Diagnostics& diagnostics)
      : text_(sources.Text(file)), file_(file), diagnostics_(diagnostics) {}

  std::vector<Token> Run() {
    if (IsText()) {
      tokens_.reserve(text_.size() / 4 + 1);
      while (SkipSpace()) Next();
    }
    const auto end = static_cast<uint32_t>(text_.size());
    tokens_.push_back({TokenKind::kEnd, true, end, end});
    return std::move(tokens_);
  }

 private:
  Span SpanFrom(size_t begin, size_t end) const { return {file_, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)}; }
  char At(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  bool StandsAt(size_t i, std::string_view what) const { return At(i) == what[0] && text_.substr(i).starts_with(what); }

  bool IsText() {
    for (size_t i = 0; i < text_.size();) {
      const size_t length = Utf8Length(text_, i);
      if (length == 0 || text_[i] == '\0') {
        diagnostics_
            .Error(DiagnosticKind::kNotText, SpanFrom(i, i + 1),
                   fmt::format("byte 0x{:02x} is not UTF-8 text", static_cast<unsigned char>(text_[i])))
            .Help("save the file as UTF-8; is it a .tk file at all?");
        return false;
      }
      i += length;
    }
    return true;
  }

  /// To the next token; false at the end of the text or when enough errors have been reported.
  bool SkipSpace() {
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

  /// `N // 64`, a quotient in other languages: a comment behind a value that holds nothing but a number, or a name in capitals.
  void WarnOfQuotient() {
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

  /// A space that looks like one and is none, as text from a page has them. The first is told, for all.
  bool ForeignSpace() {
    struct Space {
      std::string_view found, name;
    };
    static constexpr Space kSpaces[] = {{"\u00a0", "U+00A0"}, {"\u2002", "U+2002"}, {"\u2003", "U+2003"}, {"\u2009", "U+2009"},
                                        {"\u200b", "U+200B"}, {"\u202f", "U+202F"}, {"\u3000", "U+3000"}, {"\ufeff", "U+FEFF"}};
    for (const Space& space : kSpaces) {
      if (!StandsAt(pos_, space.found)) continue;
      const size_t end = pos_ + space.found.size();
      if (!told_spaces_)
        diagnostics_
            .Error(DiagnosticKind::kUnexpectedCharacter, SpanFrom(pos_, end), fmt::format("{} is no plain space", space.name))
            .Help("write a space here, and wherever there are more of these", Edit{SpanFrom(pos_, end), " "});
      told_spaces_ = true;
      pos_ = end;
      return true;
    }
    return false;
  }

  void Push(TokenKind kind, size_t end) {
    tokens_.push_back({kind, line_start_, static_cast<uint32_t>(pos_), static_cast<uint32_t>(end)});
    line_start_ = false;
    pos_ = end;
  }

  void Next() {
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

  void Word() {
    size_t end = pos_;
    while (IsWord(At(end))) ++end;
    const std::string_view word = text_.substr(pos_, end - pos_);
    for (const Fixed& keyword : kKeywords) {
      if (keyword.text == word) return Push(keyword.kind, end);
    }
    Push(TokenKind::kName, end);
  }

  /// After a `.` only digits belong to the number: `d.0.1` is two fields.
  bool IsField() const { return !tokens_.empty() && tokens_.back().kind == TokenKind::kDot && tokens_.back().end == pos_; }

  void Number() {
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

  void String() {
    size_t end = pos_ + 1;
    while (end < text_.size() && text_[end] != '"' && text_[end] != '\n') ++end;
    if (At(end) == '"') return Push(TokenKind::kString, end + 1);
    diagnostics_.Error(DiagnosticKind::kUnterminatedString, SpanFrom(pos_, pos_ + 1), "this string does not end on its line")
        .Help("write `\"` at its end", Edit{SpanFrom(end, end), "\""});
    Push(TokenKind::kStray, end);
  }

  /// In quotes as a word processor sets them.
  bool TypographicString() {
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

  void BlockComment() {
    diagnostics_.Error(DiagnosticKind::kUnexpectedCharacter, SpanFrom(pos_, pos_ + 2), "`/*` opens no comment in .tk files")
        .Help("start each line of the comment with `//`");
    const size_t close = text_.find("*/", pos_ + 2);
    pos_ = close == std::string_view::npos ? text_.size() : close + 2;
  }

  /// The small decimal number that follows on the line; 0 where none does.
  int64_t NumberAt(size_t begin) const {
    while (At(begin) == ' ') ++begin;
    int64_t number = 0;
    for (; IsDigit(At(begin)) && number < 1'000'000; ++begin) number = number * 10 + (At(begin) - '0');
    return IsWord(At(begin)) || At(begin) == '.' ? 0 : number;
  }

  /// An operator of other languages that has a word here, which stands in for it.
  bool ForeignOperator() {
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

  /// A sign of other languages, or of print, that is said in another way here.
  bool ForeignSign() {
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

  void Unexpected() {
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

  bool IsStray(size_t i) const {
    const auto c = static_cast<unsigned char>(text_[i]);
    if (c >= 0x80 || c == 0x7f) return true;
    if (c < 0x20) return c != '\n' && c != '\t' && c != '\r';
    return std::strchr("#$?\\^`'", c) != nullptr;
  }

  std::string_view text_;
  uint32_t file_;
  Diagnostics& diagnostics_;
  size_t pos_ = 0;
  bool line_start_ = true;
  bool told_spaces_ = false;
  std::vector<Token> tokens_;
};

}  // namespace

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

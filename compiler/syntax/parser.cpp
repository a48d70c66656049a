// SPDX-License-Identifier: MIT
// The parser's machinery: tokens, errors, recovery. The rules of the grammar are in parse_decl, parse_stmt, parse_expr.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/syntax/parser_impl.h"

namespace tkc {

ast::File ParseFile(const SourceManager& sources, uint32_t file, Diagnostics& diagnostics) {
  return Parser(sources, file, diagnostics).ParseFile();
}

Result<ast::ExprPtr> ParseExpression(const SourceManager& sources, uint32_t file, uint32_t begin, Diagnostics& diagnostics) {
  return Parser(sources, file, diagnostics).ParseExpressionFrom(begin);
}

Parser::Parser(const SourceManager& sources, uint32_t file, Diagnostics& diagnostics)
    : text_(sources.Text(file)), file_(file), diagnostics_(diagnostics), tokens_(Lex(sources, file, diagnostics)) {}

Result<ast::ExprPtr> Parser::ParseExpressionFrom(uint32_t begin) {
  while (!At(TokenKind::kEnd) && Current().end <= begin) ++pos_;
  const size_t before = diagnostics_.ErrorCount();
  ast::ExprPtr expr = ParseExpr();
  if (expr && !At(TokenKind::kEnd)) ErrorExpected("the end of the value");
  if (!expr || diagnostics_.ErrorCount() > before) return Failure{};
  return expr;
}

Token Parser::Take() {
  const Token token = Current();
  if (token.kind != TokenKind::kEnd) {
    last_end_ = token.end;
    ++pos_;
  }
  return token;
}

bool Parser::TakeIf(TokenKind kind) {
  if (!At(kind)) return false;
  Take();
  return true;
}

bool Parser::TakeWordIf(std::string_view word) {
  if (!AtWord(word)) return false;
  Take();
  return true;
}

DiagnosticBuilder Parser::Error(ErrorKind kind, Span span, std::string headline) {
  // A second complaint about one place, or anything after giving up, would only repeat the first.
  // So would one about what stands in for another language's operator.
  const bool is_stand_in = IsKeyword(Kind()) && !AtKeyword();
  if (error_pos_ == pos_ || stopped_ || At(TokenKind::kStray) || is_stand_in) {
    muted_ = {};
    return DiagnosticBuilder(muted_);
  }
  error_pos_ = pos_;
  DiagnosticBuilder error = diagnostics_.Error(kind, span, std::move(headline));
  if (diagnostics_.ErrorCount() >= Diagnostics::kKept) Abort();
  return error;
}

std::string Parser::Found() const {
  switch (Kind()) {
    case TokenKind::kEnd: return "the end of the file";
    case TokenKind::kString: return "a string";
    default: {
      const std::string_view text = Text(Current());
      return text.size() <= 40 ? fmt::format("`{}`", text) : fmt::format("`{}..`", text.substr(0, 40));
    }
  }
}

DiagnosticBuilder Parser::ErrorExpected(std::string_view what) {
  // What is missing at the end of a line is missing there, not on the next one.
  const bool line_ended = AtLineEnd() && last_end_ > 0;
  const Span place = line_ended ? AfterLast() : Here();
  std::string found = line_ended && !At(TokenKind::kEnd) ? "the end of the line" : Found();
  return Error(DiagnosticKind::kExpectedSyntax, place, fmt::format("expected {}, found {}", what, found));
}

bool Parser::Expect(TokenKind kind, std::string_view where) {
  if (TakeIf(kind)) return true;
  ErrorExpected(fmt::format("`{}` {}", Spelling(kind), where));
  return false;
}

DiagnosticBuilder Parser::ErrorExpectedBrace() {
  DiagnosticBuilder error = ErrorExpected("`{`");
  lost_brace_ = true;
  if (At(TokenKind::kColon))
    error.Help("a body stands in braces: `{ .. }`");
  else
    HelpOfComment("{", error);
  return error;
}

std::optional<std::pair<Span, Span>> Parser::BraceByIndentation() const {
  const auto column = [&](const Token& token) {
    const size_t line = text_.rfind('\n', token.begin);
    return token.begin - (line == std::string_view::npos ? 0 : line + 1);
  };
  const auto declares = [](TokenKind kind) {
    return kind == TokenKind::kKernel || kind == TokenKind::kFn || kind == TokenKind::kSchedule;
  };
  size_t first = pos_;
  while (first > 0 && (first == pos_ || !declares(tokens_[first].kind))) --first;
  std::vector<std::pair<size_t, size_t>> open;  // a `{`, and the column of what it belongs to
  size_t owner = 0;
  for (size_t i = first; i < tokens_.size(); ++i) {
    const Token& token = tokens_[i];
    if (i > first && token.line_start && declares(token.kind)) break;
    if (i == first || (token.line_start && (StartsStatement(token.kind) || token.kind == TokenKind::kRightBrace)))
      owner = column(token);
    if (token.kind == TokenKind::kLeftBrace) open.emplace_back(i, owner);
    if (token.kind != TokenKind::kRightBrace || open.empty()) continue;
    if (token.line_start && column(token) < open.back().second) return std::pair(SpanOf(tokens_[open.back().first]), SpanOf(token));
    open.pop_back();
  }
  return std::nullopt;
}

void Parser::ReportUnclosedBrace(Span open, std::string_view of, std::string_view end) {
  if (lost_brace_) return;
  if (const auto brace = BraceByIndentation()) {
    Error(DiagnosticKind::kUnclosedBracket, brace->first, "`{` is never closed")
        .Note(brace->second, "this `}` stands further left than what the `{` belongs to")
        .Help("write `}` where the block ends");
    return;
  }
  Error(DiagnosticKind::kUnclosedBracket, open, fmt::format("`{{`{} is never closed", of))
      .Help(fmt::format("write `}}` where the {} ends", end));
}

bool Parser::HelpOfComment(std::string_view missing, DiagnosticBuilder& error) {
  const std::string_view rest = text_.substr(last_end_, text_.find('\n', last_end_) - last_end_);
  const size_t comment = rest.find_first_not_of(' ');
  if (comment == std::string_view::npos || rest.substr(comment, 2) != "//" || rest.find(missing) == std::string_view::npos)
    return false;
  const auto begin = static_cast<uint32_t>(last_end_ + comment);
  error.Help("`//` begins a comment; a quotient of integers, rounded down, is `a / b`", Edit{{file_, begin, begin + 2}, "/"});
  return true;
}

bool Parser::ExpectName(std::string_view what, ast::Name& name) {
  if (At(TokenKind::kName)) {
    const Token token = Take();
    name = {std::string(Text(token)), SpanOf(token)};
    return true;
  }
  if (AtKeyword() && !AtLineEnd()) {
    const std::string word(Text(Current()));
    Error(DiagnosticKind::kReservedWord, Here(), fmt::format("`{}` is a word of the language; expected {}", word, what))
        .Help(fmt::format("write another name, such as `{}_`", word), Edit{Here(), word + "_"});
    // It was meant as a name: go on as if it were one.
    const Token token = Take();
    name = {word + "_", SpanOf(token)};
    return true;
  }
  ErrorExpected(what);
  return false;
}

bool Parser::ExpectClose(TokenKind close, Span open) {
  if (TakeIf(close)) return true;
  if (At(TokenKind::kEnd) || At(TokenKind::kRightBrace) || (Current().line_start && StartsStatement(Kind()))) {
    const std::string_view opened = text_.substr(open.begin, open.end - open.begin);
    DiagnosticBuilder error = Error(DiagnosticKind::kUnclosedBracket, open, fmt::format("`{}` is never closed", opened));
    if (!HelpOfComment(Spelling(close), error)) error.Help(fmt::format("write `{}` where it ends", Spelling(close)));
    return false;
  }
  DiagnosticBuilder error = ErrorExpected(fmt::format("`,` or `{}`", Spelling(close)));
  if (At(TokenKind::kName) && !Current().line_start && !AtWord("x"))
    error.Help("write `,` in front of it", Edit{AfterLast(), ","});
  else
    error.Note(open, "to close this");
  if (At(TokenKind::kEqual) && close == TokenKind::kRightParen && pos_ > 0 && tokens_[pos_ - 1].kind == TokenKind::kName)
    error.Help(HelpOfArgument(open));
  return false;
}

Parser::Depth::Depth(Parser& parser) : parser_(parser), ok_(++parser.depth_ <= kMaxNesting) {
  if (ok_ || parser.stopped_) return;
  parser.Error(DiagnosticKind::kNestingTooDeep, parser.Here(), fmt::format("nested more than {} deep", kMaxNesting))
      .Help("give parts of it names with `let`");
  parser.Abort();
}

bool Parser::StartsStatement(TokenKind kind) const {
  switch (kind) {
    case TokenKind::kLet:
    case TokenKind::kVar:
    case TokenKind::kFor:
    case TokenKind::kIf:
    case TokenKind::kEach:
    case TokenKind::kPipe:
    case TokenKind::kWork:
    case TokenKind::kWorker:
    case TokenKind::kGrid:
    case TokenKind::kKernel:
    case TokenKind::kFn:
    case TokenKind::kSchedule:
    case TokenKind::kInstance:
    case TokenKind::kImport: return true;
    default: return false;
  }
}

bool Parser::StartsDecl() const {
  switch (Kind()) {
    case TokenKind::kKernel:
    case TokenKind::kFn:
    case TokenKind::kSchedule:
    case TokenKind::kInstance:
    case TokenKind::kImport: return true;
    case TokenKind::kName: return AtWord("deterministic") && Peek(1).kind == TokenKind::kKernel;
    default: return false;
  }
}

void Parser::SkipToStatementEnd(size_t begin) {
  int parens = 0;
  int braces = 0;
  while (!At(TokenKind::kEnd)) {
    if (StartsDecl() && Current().line_start) return;
    if (braces == 0 && pos_ > begin && Current().line_start && (parens == 0 || StartsStatement(Kind()))) return;
    if (braces == 0 && parens == 0 && At(TokenKind::kSemicolon)) return;
    switch (Kind()) {
      case TokenKind::kLeftParen:
      case TokenKind::kLeftBracket: ++parens; break;
      case TokenKind::kRightParen:
      case TokenKind::kRightBracket: parens = std::max(0, parens - 1); break;
      case TokenKind::kLeftBrace: ++braces; break;
      case TokenKind::kRightBrace:
        if (braces == 0) return;
        --braces;
        break;
      default: break;
    }
    Take();
  }
}

void Parser::SkipToDecl() {
  while (!At(TokenKind::kEnd) && !(StartsDecl() && Current().line_start)) Take();
}

bool Parser::SkipToBrace() {
  int parens = 0;
  while (!At(TokenKind::kEnd) && !At(TokenKind::kRightBrace) && !At(TokenKind::kSemicolon)) {
    if (At(TokenKind::kLeftBrace)) return true;
    if (Current().line_start && (parens == 0 || StartsStatement(Kind()))) return false;
    if (At(TokenKind::kLeftParen) || At(TokenKind::kLeftBracket)) ++parens;
    if (At(TokenKind::kRightParen) || At(TokenKind::kRightBracket)) --parens;
    Take();
  }
  return false;
}

void Parser::EndStatement(std::string_view what) {
  if (TakeIf(TokenKind::kSemicolon) || At(TokenKind::kRightBrace) || At(TokenKind::kEnd) || Current().line_start) return;
  DiagnosticBuilder error = ErrorExpected(fmt::format("`;` or a line break after {}", what));
  const Span place = {file_, last_end_, last_end_};
  const bool goes_on = SuggestInPlaceOfEnd(error);
  if (!goes_on && (StartsStatement(Kind()) || At(TokenKind::kName))) error.Help("end it with `;`", Edit{place, ";"});
  if (!goes_on && At(TokenKind::kComma)) error.Help("several values stand in parentheses: `(a, b)`");
  if (goes_on || !StartsStatement(Kind())) SkipToStatementEnd();
  TakeIf(TokenKind::kSemicolon);
}

std::string Parser::DocBefore(Span span) const {
  std::vector<std::string_view> lines;
  size_t line_end = text_.rfind('\n', span.begin);
  while (line_end != std::string_view::npos && line_end > 0) {
    const size_t before = text_.rfind('\n', line_end - 1);
    const size_t begin = before == std::string_view::npos ? 0 : before + 1;
    std::string_view line = text_.substr(begin, line_end - begin);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.substr(0, 3) != "///") break;
    line.remove_prefix(line.substr(0, 4) == "/// " ? 4 : 3);
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    lines.push_back(line);
    if (before == std::string_view::npos) break;
    line_end = before;
  }
  std::string doc;
  for (auto it = lines.rbegin(); it != lines.rend(); ++it) {
    if (it != lines.rbegin()) doc += '\n';
    doc += *it;
  }
  return doc;
}

}  // namespace tkc

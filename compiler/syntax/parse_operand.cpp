// SPDX-License-Identifier: MIT
// What stands between the operators of an expression: numbers, names, calls and parentheses, and the fields and indices behind
// them.
#include <fmt/format.h>

#include <charconv>
#include <string>

#include "compiler/syntax/parser_impl.h"

namespace tkc {

using ast::ExprPtr;

ExprPtr Parser::ParsePostfix() {
  ExprPtr expr = ParsePrimary();
  while (expr && !AtLineEnd()) {
    if (At(TokenKind::kDot)) {
      expr = ParseField(std::move(expr));
    } else if (At(TokenKind::kLeftBracket)) {
      expr = ParseIndexing(std::move(expr));
    } else {
      break;
    }
  }
  return expr;
}

ExprPtr Parser::ParseField(ExprPtr base) {
  Take();
  const ast::Expr* child = base.get();
  if (At(TokenKind::kInt) && !AtLineEnd()) {
    const Token token = Take();
    const std::string_view digits = Text(token);
    uint32_t position = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), position);
    if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size()) {
      Error(DiagnosticKind::kExpectedSyntax, SpanOf(token), fmt::format("expected a field, found `{}`", digits));
      return nullptr;
    }
    const Span span = Join(base->span, SpanOf(token));
    auto field = std::make_unique<ast::FieldExpr>(span, std::move(base), ast::Name{std::string(digits), SpanOf(token)});
    field->position = position;
    return Finish(std::move(field), {child});
  }
  ast::Name name;
  if (!ExpectName("a field after `.`", name)) return nullptr;
  if (At(TokenKind::kLeftParen) && !AtLineEnd()) {
    std::vector<ExprPtr> arguments;
    if (!ParseArguments(arguments)) return nullptr;
    const Span span = Since(base->span);
    auto method = std::make_unique<ast::MethodExpr>(span, std::move(base), std::move(name), std::move(arguments));
    int deepest = child->depth;
    const ast::Expr* deep = child;
    for (const ExprPtr& argument : method->arguments) {
      if (argument->depth > deepest) deep = argument.get(), deepest = argument->depth;
    }
    return Finish(std::move(method), {deep});
  }
  const Span span = Join(base->span, name.span);
  return Finish(std::make_unique<ast::FieldExpr>(span, std::move(base), std::move(name)), {child});
}

ExprPtr Parser::ParseIndexing(ExprPtr base) {
  const Span open = SpanOf(Take());
  const Span begin = base->span;
  const ast::Expr* deep = base.get();
  auto node = std::make_unique<ast::IndexExpr>(begin, std::move(base), std::vector<ast::Index>());
  {
    Brackets brackets(*this, true);
    do {
      ast::Index& index = node->indices.emplace_back();
      if (!ParseIndex(index)) return nullptr;
      if (index.expr && index.expr->depth > deep->depth) deep = index.expr.get();
      if (index.count && index.count->depth > deep->depth) deep = index.count.get();
      if (index.end && index.end->depth > deep->depth) deep = index.end.get();
    } while (TakeIf(TokenKind::kComma));
    if (!ExpectClose(TokenKind::kRightBracket, open)) return nullptr;
  }
  if (At(TokenKind::kElse) && !AtLineEnd()) {
    Take();
    node->fill = ParseUnary();
    if (!node->fill) return nullptr;
    if (node->fill->depth > deep->depth) deep = node->fill.get();
  }
  node->span = Since(begin);
  return Finish(std::move(node), {deep});
}

bool Parser::ParseIndex(ast::Index& index) {
  const Span begin = Here();
  index.kind = ast::Index::Kind::kExpr;
  if (At(TokenKind::kColon)) {
    Take();
    index.kind = ast::Index::Kind::kAll;
    index.span = begin;
    return true;
  }
  index.expr = ParseExpr();
  if (!index.expr) return false;
  if (TakeIf(TokenKind::kColonPlus)) {
    index.kind = ast::Index::Kind::kSlice;
    index.count = ParseExpr();
    if (!index.count) return false;
  } else if (TakeIf(TokenKind::kDotDot)) {
    index.kind = ast::Index::Kind::kBlock;
    index.end = ParseExpr();
    if (!index.end) return false;
    if (!TakeIf(TokenKind::kBy)) {
      ErrorExpected("`by`").Help(
          "a slice is written `lo :+ count`: `count` elements from `lo`; those below `hi` of it: `lo .. hi by count`");
      return false;
    }
    index.count = ParseExpr();
    if (!index.count) return false;
  } else if (At(TokenKind::kColon)) {
    ErrorExpected("`,` or `]`").Help("a slice is written `lo :+ count`: `count` elements from `lo`");
    return false;
  }
  index.span = Since(begin);
  return true;
}

bool Parser::ParseArguments(std::vector<ExprPtr>& arguments) {
  const Span open = SpanOf(Take());
  Brackets brackets(*this, true);
  if (TakeIf(TokenKind::kRightParen)) return true;
  do {
    if (At(TokenKind::kRightParen)) break;  // a comma may stand last
    ExprPtr argument = ParseExpr();
    if (!argument) return false;
    arguments.push_back(std::move(argument));
  } while (TakeIf(TokenKind::kComma));
  return ExpectClose(TokenKind::kRightParen, open);
}

ExprPtr Parser::ParseParens() {
  const Span open = SpanOf(Take());
  std::vector<ExprPtr> elements;
  bool is_tuple = false;
  {
    Brackets brackets(*this, true);
    do {
      if (is_tuple && At(TokenKind::kRightParen)) break;
      ExprPtr element = ParseExpr();
      if (!element) return nullptr;
      elements.push_back(std::move(element));
      if (At(TokenKind::kComma)) is_tuple = true;
    } while (TakeIf(TokenKind::kComma));
    if (!ExpectClose(TokenKind::kRightParen, open)) return nullptr;
  }
  const Span span = Since(open);
  if (!is_tuple || elements.size() == 1) {
    elements[0]->parenthesized = true;
    elements[0]->span = span;
    return std::move(elements[0]);
  }
  const ast::Expr* deep = elements[0].get();
  for (const ExprPtr& element : elements) {
    if (element->depth > deep->depth) deep = element.get();
  }
  return Finish(std::make_unique<ast::TupleExpr>(span, std::move(elements)), {deep});
}

ExprPtr Parser::ParseNumber() {
  const Token token = Take();
  std::string digits;
  for (char c : Text(token)) {
    if (c != '_') digits += c;
  }
  if (token.kind == TokenKind::kFloat) {
    double value = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (parsed.ec == std::errc::result_out_of_range) {
      Error(DiagnosticKind::kMalformedNumber, SpanOf(token), fmt::format("`{}` does not fit a 64-bit float", Text(token)));
    }
    return std::make_unique<ast::FloatExpr>(SpanOf(token), value);
  }
  const bool is_hex = digits.size() > 1 && (digits[1] == 'x' || digits[1] == 'X');
  uint64_t value = 0;
  const char* begin = digits.data() + (is_hex ? 2 : 0);
  const auto parsed = std::from_chars(begin, digits.data() + digits.size(), value, is_hex ? 16 : 10);
  if (parsed.ec == std::errc::result_out_of_range || value > INT64_MAX) {
    Error(DiagnosticKind::kMalformedNumber, SpanOf(token),
          fmt::format("`{}` is too large; integers go up to {}", Text(token), INT64_MAX));
    value = 0;
  }
  return std::make_unique<ast::IntExpr>(SpanOf(token), value);
}

ExprPtr Parser::ParsePrimary() {
  if (AtLineEnd() && last_end_ > 0 && At(TokenKind::kEnd)) {
    ErrorExpected("an expression");
    return nullptr;
  }
  switch (Kind()) {
    case TokenKind::kInt:
    case TokenKind::kFloat: return ParseNumber();
    case TokenKind::kTrue:
    case TokenKind::kFalse: {
      const Token token = Take();
      return std::make_unique<ast::BoolExpr>(SpanOf(token), token.kind == TokenKind::kTrue);
    }
    case TokenKind::kLeftParen: return ParseParens();
    case TokenKind::kIf: return ParseExprBeforeArrow();
    case TokenKind::kName: {
      const Token token = Take();
      ast::Name name{std::string(Text(token)), SpanOf(token)};
      if (!At(TokenKind::kLeftParen) || AtLineEnd()) {
        return std::make_unique<ast::NameExpr>(name.span, std::move(name.text));
      }
      std::vector<ExprPtr> arguments;
      if (!ParseArguments(arguments)) return nullptr;
      const ast::Expr* deep = nullptr;
      for (const ExprPtr& argument : arguments) {
        if (!deep || argument->depth > deep->depth) deep = argument.get();
      }
      const Span span = Since(name.span);
      return Finish(std::make_unique<ast::CallExpr>(span, std::move(name), std::move(arguments)), {deep});
    }
    case TokenKind::kPlus: ReportSign(); return nullptr;
    case TokenKind::kDot:
      if (Peek(1).kind == TokenKind::kInt && Peek(1).begin == Current().end) {
        const std::string number = fmt::format("0.{}", Text(Peek(1)));
        ErrorExpected("an expression").Help(fmt::format("write `{}`", number), Edit{Join(Here(), SpanOf(Peek(1))), number});
        return nullptr;
      }
      break;
    default: break;
  }
  // A line that breaks off after an operator is missed there; a keyword where a value belongs is named.
  if (Current().line_start && StartsStatement(Kind()) && last_end_ > 0) {
    Error(DiagnosticKind::kExpectedSyntax, AfterLast(), "expected an expression, found the end of the line");
  } else if (AtKeyword() && !AtLineEnd()) {
    ErrorExpected("an expression").Note(fmt::format("`{}` is a word of the language", Text(Current())));
  } else {
    const Token* before = pos_ > 0 ? &tokens_[pos_ - 1] : nullptr;
    DiagnosticBuilder error =
        Error(DiagnosticKind::kExpectedSyntax, Here(), fmt::format("expected an expression, found {}", Found()));
    if (At(TokenKind::kString))
      error.Help(Text(Current()).find("inf") != std::string_view::npos ? "infinity is `inf`"
                                                                       : "strings stand behind `import` only");
    if (At(TokenKind::kGreater) && before && before->kind == TokenKind::kLess && before->end == Current().begin)
      error.Help("write `!=`", Edit{Join(SpanOf(*before), Here()), "!="});
    if (At(TokenKind::kDotDot) && before && (before->kind == TokenKind::kLeftBracket || before->kind == TokenKind::kComma))
      error.Help("`:` takes the whole of an axis");
  }
  return nullptr;
}

}  // namespace tkc

// SPDX-License-Identifier: MIT
// Expressions. From loosest to tightest: or; and; not; comparisons (not chained); + -; * / % @; unary - and receive;
// calls, fields, indices. All binary operators group from the left.
#include <fmt/format.h>

#include <charconv>
#include <string>

#include "compiler/syntax/parser_impl.h"

namespace tkc {

using ast::BinaryOp;
using ast::ExprPtr;

ExprPtr Parser::Finish(ExprPtr node, std::initializer_list<const ast::Expr*> children) {
  int depth = 0;
  for (const ast::Expr* child : children) {
    if (child) depth = std::max<int>(depth, child->depth);
  }
  node->depth = static_cast<uint16_t>(depth + 1);
  if (node->depth > ast::kMaxTreeDepth) {
    Error(DiagnosticKind::kNestingTooDeep, node->span,
          fmt::format("an expression of more than {} operators in a row", ast::kMaxTreeDepth))
        .Help("give parts of it names with `let`");
    Abort();
    return nullptr;
  }
  return node;
}

ExprPtr Parser::Binary(BinaryOp op, Span op_span, ExprPtr left, ExprPtr right) {
  const ast::Expr* l = left.get();
  const ast::Expr* r = right.get();
  const Span span = Join(left->span, right->span);
  return Finish(std::make_unique<ast::BinaryExpr>(span, op, op_span, std::move(left), std::move(right)), {l, r});
}

ExprPtr Parser::ParseExpr() {
  ExprPtr expr = ParseExprBeforeArrow();
  if (!expr || !At(TokenKind::kArrow) || AtLineEnd()) return expr;
  // `a <-1`: after a value a receive can't stand, so a comparison with something negative was meant.
  const Span arrow = Here();
  const bool negative = Peek(1).kind == TokenKind::kInt || Peek(1).kind == TokenKind::kFloat;
  std::string right = "..";
  if (Peek(1).kind != TokenKind::kEnd) right = std::string(Text(Peek(1)));
  std::string left(text_.substr(expr->span.begin, expr->span.end - expr->span.begin));
  if (left.size() > 40 || left.find('\n') != std::string::npos) left = "..";
  Error(DiagnosticKind::kReceiveAsComparison, arrow,
        "`<-` after a value: it receives from a pipe, or sends at the start of a statement")
      .Help(negative ? fmt::format("write `{} < -{}`", left, right) : fmt::format("for a comparison write `{} < -{}`", left, right),
            Edit{arrow, "< -"});
  Take();
  ExprPtr other = ParseAdditive();
  if (!other) return nullptr;
  return Binary(BinaryOp::kLess, arrow, std::move(expr), std::move(other));
}

ExprPtr Parser::ParseExprBeforeArrow() {
  Depth depth(*this);
  if (!depth.ok()) return nullptr;
  if (At(TokenKind::kIf)) {
    ast::StmtPtr stmt = ParseIf(/*allow_result=*/true);
    if (!stmt) return nullptr;
    return IfValue(std::unique_ptr<ast::IfStmt>(static_cast<ast::IfStmt*>(stmt.release())));
  }
  return ParseOr();
}

ExprPtr Parser::ParseOr() {
  ExprPtr left = ParseAnd();
  while (left && At(TokenKind::kOr) && !AtLineEnd()) {
    const Span op = SpanOf(Take());
    ExprPtr right = ParseAnd();
    if (!right) return nullptr;
    left = Binary(BinaryOp::kOr, op, std::move(left), std::move(right));
  }
  return left;
}

ExprPtr Parser::ParseAnd() {
  ExprPtr left = ParseNot();
  while (left && At(TokenKind::kAnd) && !AtLineEnd()) {
    const Span op = SpanOf(Take());
    ExprPtr right = ParseNot();
    if (!right) return nullptr;
    left = Binary(BinaryOp::kAnd, op, std::move(left), std::move(right));
  }
  return left;
}

ExprPtr Parser::ParseNot() {
  if (!At(TokenKind::kNot)) return ParseComparison();
  Depth depth(*this);
  if (!depth.ok()) return nullptr;
  const Span op = SpanOf(Take());
  ExprPtr operand = ParseNot();
  if (!operand) return nullptr;
  const ast::Expr* child = operand.get();
  const Span span = Join(op, operand->span);
  return Finish(std::make_unique<ast::UnaryExpr>(span, ast::UnaryOp::kNot, std::move(operand)), {child});
}

namespace {

std::optional<BinaryOp> ComparisonOf(TokenKind kind) {
  switch (kind) {
    case TokenKind::kEqualEqual: return BinaryOp::kEqual;
    case TokenKind::kNotEqual: return BinaryOp::kNotEqual;
    case TokenKind::kLess: return BinaryOp::kLess;
    case TokenKind::kLessEqual: return BinaryOp::kLessEqual;
    case TokenKind::kGreater: return BinaryOp::kGreater;
    case TokenKind::kGreaterEqual: return BinaryOp::kGreaterEqual;
    default: return std::nullopt;
  }
}

std::optional<BinaryOp> ProductOf(TokenKind kind) {
  switch (kind) {
    case TokenKind::kStar: return BinaryOp::kMultiply;
    case TokenKind::kSlash: return BinaryOp::kDivide;
    case TokenKind::kPercent: return BinaryOp::kModulo;
    case TokenKind::kAt: return BinaryOp::kMatMul;
    default: return std::nullopt;
  }
}

}  // namespace

ExprPtr Parser::ParseComparison() {
  ExprPtr left = ParseAdditive();
  bool compared = false;
  Span first_op{};
  while (left && !AtLineEnd()) {
    const std::optional<BinaryOp> op = ComparisonOf(Kind());
    if (!op) break;
    if (compared) {
      Error(DiagnosticKind::kChainedComparison, Here(), "comparisons do not chain")
          .Label(Here(), "compares a truth value")
          .Note(first_op, "the first comparison")
          .Help("write `a < b and b < c`");
    }
    const Span op_span = SpanOf(Take());
    if (!compared) first_op = op_span;
    compared = true;
    ExprPtr right = ParseAdditive();
    if (!right) return nullptr;
    left = Binary(*op, op_span, std::move(left), std::move(right));
  }
  return left;
}

ExprPtr Parser::ParseAdditive() {
  ExprPtr left = ParseMultiplicative();
  while (left && (At(TokenKind::kPlus) || At(TokenKind::kMinus)) && !AtLineEnd()) {
    const BinaryOp op = At(TokenKind::kPlus) ? BinaryOp::kAdd : BinaryOp::kSubtract;
    const Span op_span = SpanOf(Take());
    ExprPtr right = ParseMultiplicative();
    if (!right) return nullptr;
    left = Binary(op, op_span, std::move(left), std::move(right));
  }
  return left;
}

ExprPtr Parser::ParseMultiplicative() {
  ExprPtr left = ParseUnary();
  while (left && !AtLineEnd()) {
    const std::optional<BinaryOp> op = ProductOf(Kind());
    if (!op) break;
    const Span op_span = SpanOf(Take());
    ExprPtr right = ParseUnary();
    if (!right) return nullptr;
    left = Binary(*op, op_span, std::move(left), std::move(right));
  }
  return left;
}

ExprPtr Parser::ParseUnary() {
  if (At(TokenKind::kArrow)) return ParseReceive();
  if (!At(TokenKind::kMinus)) return ParsePostfix();
  Depth depth(*this);
  if (!depth.ok()) return nullptr;
  const Span op = SpanOf(Take());
  ExprPtr operand = ParseUnary();
  if (!operand) return nullptr;
  const ast::Expr* child = operand.get();
  const Span span = Join(op, operand->span);
  return Finish(std::make_unique<ast::UnaryExpr>(span, ast::UnaryOp::kNegate, std::move(operand)), {child});
}

ExprPtr Parser::ParseReceive() {
  const Span arrow = SpanOf(Take());
  if (!At(TokenKind::kName) || AtLineEnd()) {
    Error(DiagnosticKind::kReceiveNotAPipe, AtLineEnd() ? arrow : Here(),
          fmt::format("`<-` receives from a pipe, found {}", AtLineEnd() ? "the end of the line" : Found()))
        .Help("write `<-p`, or `<-p[w]` for a pipe declared `per` worker");
    return nullptr;
  }
  ast::Name pipe;
  ExpectName("a pipe", pipe);
  ExprPtr index;
  if (At(TokenKind::kLeftBracket) && !AtLineEnd()) {
    const Span open = SpanOf(Take());
    Brackets brackets(*this, true);
    index = ParseExpr();
    if (!index || !ExpectClose(TokenKind::kRightBracket, open)) return nullptr;
  }
  const Span span = Since(arrow);
  if ((At(TokenKind::kDot) || At(TokenKind::kLeftBracket)) && !AtLineEnd()) {
    const std::string received(text_.substr(span.begin, span.end - span.begin));
    const bool field = At(TokenKind::kDot);
    const std::string rest = field ? fmt::format(".{}", Text(Peek(1))) : "[..]";
    Error(DiagnosticKind::kReceiveNotAPipe, Here(), fmt::format("`{}` after a receive without parentheses", field ? "." : "["))
        .Help(fmt::format("write `({}){}`", received, rest),
              {Edit{{file_, span.begin, span.begin}, "("}, Edit{{file_, span.end, span.end}, ")"}});
    return nullptr;
  }
  const ast::Expr* child = index.get();
  return Finish(std::make_unique<ast::ReceiveExpr>(span, std::move(pipe), std::move(index)), {child});
}

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
    if (At(TokenKind::kString)) error.Help("strings stand behind `import` only");
    if (At(TokenKind::kGreater) && before && before->kind == TokenKind::kLess && before->end == Current().begin)
      error.Help("write `!=`", Edit{Join(SpanOf(*before), Here()), "!="});
    if (At(TokenKind::kDotDot) && before && (before->kind == TokenKind::kLeftBracket || before->kind == TokenKind::kComma))
      error.Help("`:` takes the whole of an axis");
  }
  return nullptr;
}

}  // namespace tkc

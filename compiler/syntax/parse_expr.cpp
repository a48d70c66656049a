// SPDX-License-Identifier: MIT
// Operators of expressions. From loosest to tightest: or; and; not; comparisons (not chained); + -; * / % @; unary - and receive;
// what stands between them is in parse_operand.cpp. All binary operators group from the left.
#include <fmt/format.h>

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

}  // namespace tkc

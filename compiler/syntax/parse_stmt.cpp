// SPDX-License-Identifier: MIT
// Statements and blocks. A statement ends at `;`, a line break, or the `}` of its block; after an error parsing goes
// on at the next one. An `if` with values in its branches, standing last where a value may stand, is that value.
#include <fmt/format.h>

#include "compiler/syntax/parser_impl.h"

namespace tkc {

using ast::ExprPtr;
using ast::StmtPtr;

bool Parser::ParseBlock(ast::Block& block, bool allow_result) {
  if (!At(TokenKind::kLeftBrace)) {
    DiagnosticBuilder error = ErrorExpectedBrace();
    if (At(TokenKind::kEqual)) error.Help("to compare write `==`", Edit{Here(), "=="});
    if (AtWord("step")) error.Help("the length of a step stands behind `by`", Edit{Here(), "by"});
    return false;
  }
  const Span open = SpanOf(Take());
  Depth depth(*this);
  if (!depth.ok()) return false;
  Brackets lines(*this, false);
  while (!At(TokenKind::kRightBrace)) {
    if (TakeIf(TokenKind::kSemicolon)) continue;
    if (At(TokenKind::kEnd) || (StartsDecl() && Current().line_start)) {
      ReportUnclosedBrace(open, "", "block");
      return false;
    }
    const size_t begin = pos_;
    ExprPtr result;
    StmtPtr stmt = ParseStmt(allow_result, result);
    if (stmt) {
      block.stmts.push_back(std::move(stmt));
      EndStatement("a statement");
    } else if (result) {
      if (At(TokenKind::kRightBrace)) {
        block.result = std::move(result);
      } else {
        ReportUnused(*result);
        EndStatement("a value");
      }
    } else {
      SkipToStatementEnd(begin);
    }
  }
  Take();
  block.span = Since(open);
  return true;
}

namespace {

/// `Y[m, n] < - x`
bool IsSplitArrow(const ast::Expr& value) {
  const auto* less = ast::DynCast<ast::BinaryExpr>(value);
  const auto* minus = less && less->op == ast::BinaryOp::kLess ? ast::DynCast<ast::UnaryExpr>(*less->right) : nullptr;
  return minus && minus->op == ast::UnaryOp::kNegate && !minus->parenthesized;
}

}  // namespace

void Parser::ReportUnused(const ast::Expr& value) {
  if (At(TokenKind::kRightArrow)) {
    ErrorExpected("`<-`").Help("what is sent or stored stands on the right: `target <- value`");
    return;
  }
  DiagnosticBuilder error = Error(DiagnosticKind::kUnusedValue, value.span, "this value is not used");
  if (value.kind == ast::ExprKind::kBinary && ast::Cast<ast::BinaryExpr>(value).op == ast::BinaryOp::kEqual) {
    error.Help("to assign write `=`", Edit{ast::Cast<ast::BinaryExpr>(value).op_span, "="});
  } else if (value.kind == ast::ExprKind::kBinary && ast::Cast<ast::BinaryExpr>(value).op == ast::BinaryOp::kLessEqual) {
    error.Help("to store or send write `<-`", Edit{ast::Cast<ast::BinaryExpr>(value).op_span, "<-"});
  } else if (SuggestNames(value, error)) {
    return;
  } else if (At(TokenKind::kColon)) {
    error.Help("a store or send is written `target <- value`, an assignment `x = value`, and a new name `let x = value`");
  } else if (value.kind == ast::ExprKind::kReceive) {
    error.Help("to receive and drop a slot write `let _ = <-p`", Edit{{file_, value.span.begin, value.span.begin}, "let _ = "});
  } else if (IsSplitArrow(value)) {
    const auto& less = ast::Cast<ast::BinaryExpr>(value);
    error.Help("to store or send write `<-`, without a space",
               Edit{{file_, less.op_span.begin, ast::Cast<ast::UnaryExpr>(*less.right).operand->span.begin}, "<- "});
  } else {
    const std::string habit = HelpOfCall(value);
    error.Help(!habit.empty() ? habit : "give it a name with `let`, send it with `<-`, or remove it");
  }
}

StmtPtr Parser::ParseStmt(bool allow_result, ExprPtr& result) {
  switch (Kind()) {
    case TokenKind::kLet: return ParseLet();
    case TokenKind::kVar: return ParseVar();
    case TokenKind::kFor: return ParseFor();
    case TokenKind::kEach: return ParseEach();
    case TokenKind::kIf: {
      StmtPtr stmt = ParseIf(allow_result);
      if (!stmt) return nullptr;
      auto& branches = ast::Cast<ast::IfStmt>(*stmt);
      const bool has_value = branches.then_branch.result || (branches.else_branch && branches.else_branch->result);
      if (!has_value) return stmt;
      result = IfValue(std::unique_ptr<ast::IfStmt>(static_cast<ast::IfStmt*>(stmt.release())));
      return nullptr;
    }
    case TokenKind::kPipe:
    case TokenKind::kWorker:
    case TokenKind::kWork:
    case TokenKind::kGrid: {
      const std::string_view word = Text(Current());
      const bool in_section = At(TokenKind::kPipe) || At(TokenKind::kWorker);
      DiagnosticBuilder error =
          Error(DiagnosticKind::kExpectedSyntax, Here(),
                fmt::format("`{}` stands in a {}, not among statements", word, in_section ? "`grid` section" : "kernel's body"));
      if (const auto brace = BraceByIndentation(); brace && brace->first.begin < Here().begin) {
        error.Note(brace->first, "this `{` is not closed");
        lost_brace_ = true;
      }
      error.Help("is a `}` missing above?");
      return nullptr;
    }
    default:
      if (ReportHabit(allow_result)) return nullptr;
      return ParseSimple(allow_result, result);
  }
}

bool Parser::ParsePattern(ast::Pattern& pattern) {
  const Span begin = Here();
  if (At(TokenKind::kLeftParen)) {
    pattern.is_tuple = true;
    const Span open = SpanOf(Take());
    Brackets brackets(*this, true);
    do {
      if (At(TokenKind::kRightParen)) break;
      if (!ExpectName("a name", pattern.names.emplace_back())) return false;
    } while (TakeIf(TokenKind::kComma));
    if (!ExpectClose(TokenKind::kRightParen, open)) return false;
  } else if (!ExpectName("a name", pattern.names.emplace_back())) {
    return false;
  }
  pattern.span = Since(begin);
  return true;
}

StmtPtr Parser::ParseLet() {
  auto stmt = std::make_unique<ast::LetStmt>(SpanOf(Take()));
  if (AtWord("mut") && Peek(1).kind == TokenKind::kName) {
    ErrorExpected("one name").Help("what changes is declared by `var x = ..`");
    return nullptr;
  }
  if (!ParsePattern(stmt->pattern)) return nullptr;
  if (TakeIf(TokenKind::kColon) && !(stmt->type = ParseType())) return nullptr;
  if (At(TokenKind::kComma)) {
    ErrorExpected("`=` after the name").Help("several names stand in parentheses: `let (a, b) = ..`");
    return nullptr;
  }
  if (At(TokenKind::kArrow)) {
    ErrorExpected("`=` after the name").Help("what is received gets a name by `let x = <-p`", Edit{Here(), "= <-"});
    return nullptr;
  }
  if (!Expect(TokenKind::kEqual, "after the name")) return nullptr;
  stmt->value = ParseExpr();
  stmt->span = Since(stmt->span);
  return stmt->value ? std::move(stmt) : nullptr;
}

StmtPtr Parser::ParseVar() {
  auto stmt = std::make_unique<ast::VarStmt>(SpanOf(Take()));
  if (!ParsePattern(stmt->pattern)) return nullptr;
  if (TakeIf(TokenKind::kColon) && !(stmt->type = ParseType())) return nullptr;
  if (!At(TokenKind::kEqual) || AtLineEnd()) {
    ErrorExpected("`=` and a first value").Help("a `var` starts with a value: write `= 0`", Edit{AfterLast(), " = 0"});
    return nullptr;
  }
  Take();
  stmt->value = ParseExpr();
  stmt->span = Since(stmt->span);
  return stmt->value ? std::move(stmt) : nullptr;
}

bool Parser::ParseRange(ast::Range& range) {
  const Span begin = Here();
  if (AtWord("range") && Peek(1).kind == TokenKind::kLeftParen) {
    ErrorExpected("a range").Help("a range is written `lo .. hi`, in blocks `lo .. hi by n`, and from 0 on `hi` or `hi by n`");
    return false;
  }
  ExprPtr first = ParseAdditive();
  if (!first) return false;
  if (TakeIf(TokenKind::kDotDot)) {
    range.low = std::move(first);
    range.high = ParseAdditive();
    if (!range.high) return false;
  } else {
    range.high = std::move(first);
  }
  if (TakeIf(TokenKind::kBy)) {
    range.step = ParseAdditive();
    if (!range.step) return false;
  }
  range.span = Since(begin);
  const auto* division = ast::DynCast<ast::BinaryExpr>(*range.high);
  if (!range.low && !range.step && division && division->op == ast::BinaryOp::kDivide && !division->parenthesized) {
    const std::string extent(text_.substr(division->left->span.begin, division->left->span.end - division->left->span.begin));
    const std::string block(text_.substr(division->right->span.begin, division->right->span.end - division->right->span.begin));
    // Not through Error(): what follows in the header may be wrong as well, and there are still told.
    diagnostics_.Error(DiagnosticKind::kDivisionAsRange, division->span, "a division as a range leaves out the last, uneven block")
        .Label(division->op_span, "rounds down")
        .Help(fmt::format("for blocks write `{} by {}`", extent, block), Edit{division->op_span, "by"})
        .Help(fmt::format("for plain integers write `({} / {})`", extent, block));
  }
  return true;
}

StmtPtr Parser::ParseFor() {
  auto stmt = std::make_unique<ast::ForStmt>(SpanOf(Take()));
  bool header = !ReportLoopHabit() && ExpectName("the loop's index", stmt->index);
  if (header && At(TokenKind::kEqual)) {
    ErrorExpected("`in` after the loop's index").Help("write `in`", Edit{Here(), "in"});
    header = false;
  }
  header = header && Expect(TokenKind::kIn, "after the loop's index") && ParseRange(stmt->range);
  // Errors in the body are worth telling even when the header is wrong.
  if (!header && !SkipToBrace()) return nullptr;
  if (!ParseBlock(stmt->body, false) || !header) return nullptr;
  stmt->span = Since(stmt->span);
  return stmt;
}

StmtPtr Parser::ParseEach() {
  auto stmt = std::make_unique<ast::EachStmt>(SpanOf(Take()));
  bool header = true;
  do {
    header = header && ExpectName("a grid axis", stmt->axes.emplace_back());
  } while (header && TakeIf(TokenKind::kComma));
  if (!header && !SkipToBrace()) return nullptr;
  if (!ParseBlock(stmt->body, false) || !header) return nullptr;
  stmt->span = Since(stmt->span);
  return stmt;
}

StmtPtr Parser::ParseIf(bool allow_result) {
  auto stmt = std::make_unique<ast::IfStmt>(SpanOf(Take()));
  Depth depth(*this);
  if (!depth.ok()) return nullptr;
  stmt->condition = ParseExpr();
  const bool header = stmt->condition != nullptr;
  if (!header && !SkipToBrace()) return nullptr;
  if (!ParseBlock(stmt->then_branch, allow_result)) return nullptr;
  const bool has_elif = ReportElif();  // stands in for `else if`
  if (has_elif || TakeIf(TokenKind::kElse)) {
    ast::Block& other = stmt->else_branch.emplace();
    if (has_elif || At(TokenKind::kIf)) {
      const Span begin = Here();
      StmtPtr nested = ParseIf(allow_result);
      if (!nested) return nullptr;
      auto& inner = ast::Cast<ast::IfStmt>(*nested);
      if (inner.then_branch.result && inner.else_branch && inner.else_branch->result) {
        other.result = IfValue(std::unique_ptr<ast::IfStmt>(static_cast<ast::IfStmt*>(nested.release())));
        if (!other.result) return nullptr;
      } else {
        other.stmts.push_back(std::move(nested));
      }
      other.span = Since(begin);
    } else if (!ParseBlock(other, allow_result)) {
      return nullptr;
    }
  }
  if (!header) return nullptr;
  stmt->span = Since(stmt->span);
  return stmt;
}

bool Parser::BlockValue(const ast::Block& block, std::string_view why) {
  for (const StmtPtr& stmt : block.stmts) {
    if (stmt->kind == ast::StmtKind::kLet) continue;
    Error(DiagnosticKind::kExpectedSyntax, stmt->span, fmt::format("only `let` may stand before the value: {}", why));
    return false;
  }
  if (block.result) return true;
  Error(DiagnosticKind::kExpectedSyntax, {file_, block.span.end - 1, block.span.end},
        fmt::format("expected a value before `}}`: {}", why));
  return false;
}

ExprPtr Parser::IfValue(std::unique_ptr<ast::IfStmt> stmt) {
  constexpr std::string_view kWhy = "this `if` is used as a value";
  if (!BlockValue(stmt->then_branch, kWhy)) return nullptr;
  if (!stmt->else_branch) {
    Error(DiagnosticKind::kExpectedSyntax, {file_, stmt->span.end, stmt->span.end}, "expected `else`: this `if` is used as a value")
        .Note(stmt->then_branch.result->span, "the value when the condition holds");
    return nullptr;
  }
  if (!BlockValue(*stmt->else_branch, kWhy)) return nullptr;
  const ast::Expr* children[] = {stmt->condition.get(), stmt->then_branch.result.get(), stmt->else_branch->result.get()};
  return Finish(std::make_unique<ast::IfExpr>(stmt->span, std::move(stmt->condition), std::move(stmt->then_branch),
                                              std::move(*stmt->else_branch)),
                {children[0], children[1], children[2]});
}

namespace {

bool AssignOpOf(TokenKind kind, ast::AssignOp& op) {
  switch (kind) {
    case TokenKind::kEqual: op = ast::AssignOp::kSet; return true;
    case TokenKind::kPlusEqual: op = ast::AssignOp::kAdd; return true;
    case TokenKind::kMinusEqual: op = ast::AssignOp::kSubtract; return true;
    case TokenKind::kStarEqual: op = ast::AssignOp::kMultiply; return true;
    case TokenKind::kSlashEqual: op = ast::AssignOp::kDivide; return true;
    default: return false;
  }
}

bool IsPlace(const ast::Expr& expr) {
  switch (expr.kind) {
    case ast::ExprKind::kName: return true;
    case ast::ExprKind::kField: return IsPlace(*ast::Cast<ast::FieldExpr>(expr).base);
    case ast::ExprKind::kMethod: return IsPlace(*ast::Cast<ast::MethodExpr>(expr).base);
    case ast::ExprKind::kIndex: return !ast::Cast<ast::IndexExpr>(expr).fill && IsPlace(*ast::Cast<ast::IndexExpr>(expr).base);
    default: return false;
  }
}

}  // namespace

bool Parser::CheckTarget(const ast::Expr& target, std::string_view op) {
  bool ok = IsPlace(target);
  if (const auto* tuple = ast::DynCast<ast::TupleExpr>(target); tuple && op == "=") {
    ok = true;
    for (const ExprPtr& element : tuple->elements) ok = ok && element->kind == ast::ExprKind::kName;
  }
  if (!ok) {
    Error(DiagnosticKind::kExpectedSyntax, target.span, fmt::format("expected a variable, pipe or tensor before `{}`", op));
  }
  return ok;
}

/// What can't begin a statement is reported, each in words of its own.
bool Parser::BeginsSimple() {
  const Span begin = Here();
  switch (Kind()) {
    case TokenKind::kPlus:
    case TokenKind::kStar:
    case TokenKind::kSlash:
    case TokenKind::kAt:
    case TokenKind::kAnd:
    case TokenKind::kOr:
    case TokenKind::kDot:
      if (!Current().line_start) return true;
      Error(DiagnosticKind::kExpectedSyntax, begin, fmt::format("expected a statement, found `{}`", Text(Current())))
          .Help("an expression goes on over a line break when the operator ends the upper line");
      return false;
    case TokenKind::kRightParen:
    case TokenKind::kRightBracket:
      Error(DiagnosticKind::kExpectedSyntax, begin, fmt::format("`{}` closes nothing", Text(Current())));
      Take();
      return false;
    case TokenKind::kElse:
      Error(DiagnosticKind::kExpectedSyntax, begin, "`else` without an `if` before it");
      Take();
      return false;
    default: return true;
  }
}

/// `<-` and what is sent or stored.
StmtPtr Parser::ParseArrow(ExprPtr target, Span begin) {
  if (!CheckTarget(*target, "<-")) return nullptr;
  auto stmt = std::make_unique<ast::ArrowStmt>(begin);
  stmt->arrow_span = SpanOf(Take());
  stmt->target = std::move(target);
  stmt->value = ParseExpr();
  stmt->span = Since(begin);
  return stmt->value ? std::move(stmt) : nullptr;
}

StmtPtr Parser::ParseSimple(bool allow_result, ExprPtr& result) {
  const Span begin = Here();
  if (!BeginsSimple()) return nullptr;
  ExprPtr target = ParseExprBeforeArrow();
  if (!target) return nullptr;
  if (At(TokenKind::kArrow) && !AtLineEnd()) return ParseArrow(std::move(target), begin);
  ast::AssignOp op = ast::AssignOp::kSet;
  bool is_assign = !AtLineEnd() && AssignOpOf(Kind(), op);
  Span op_span = Here();
  const bool is_word = (AtWord("max") || AtWord("min")) && Peek(1).kind == TokenKind::kEqual && !AtLineEnd();
  if (is_word) {
    is_assign = true;
    op = AtWord("max") ? ast::AssignOp::kMax : ast::AssignOp::kMin;
    Take();
    op_span = Join(op_span, Here());
  }
  if (!is_assign) {
    if (allow_result) {
      result = std::move(target);
      return nullptr;
    }
    ReportUnused(*target);
    return nullptr;
  }
  if (!CheckTarget(*target, ast::Spelling(op))) return nullptr;
  Take();
  auto stmt = std::make_unique<ast::AssignStmt>(begin);
  stmt->op = op;
  stmt->op_span = op_span;
  stmt->target = std::move(target);
  stmt->value = ParseExpr();
  stmt->span = Since(begin);
  return stmt->value ? std::move(stmt) : nullptr;
}

}  // namespace tkc

// SPDX-License-Identifier: MIT
// The grid sections of a kernel: axes, pipes, workers.
#include <fmt/format.h>

#include "compiler/syntax/parser_impl.h"

namespace tkc {

bool Parser::ParseGrid(ast::KernelDecl& kernel) {
  const Span begin = SpanOf(Take());
  ast::GridSection& grid = kernel.grids.emplace_back();
  grid.flags_span = {file_, Here().begin, Here().begin};
  while ((AtWord("persistent") || AtWord("dynamic")) && Peek(1).kind == TokenKind::kName) {
    (AtWord("persistent") ? grid.persistent : grid.dynamic) = true;
    Take();
    grid.flags_span = Since(grid.flags_span);
  }
  bool ok = !At(TokenKind::kLeftParen);
  if (!ok) ErrorExpected("a grid axis").Help("the axes stand without parentheses: `grid m in M by 64, n in N by 64`");
  do {
    if (!ok) break;
    ast::GridAxis& axis = grid.axes.emplace_back();
    const Span axis_begin = Here();
    ok = ExpectName("a grid axis", axis.name) && Expect(TokenKind::kIn, "after the axis") && ParseRange(axis.range);
    axis.span = Since(axis_begin);
  } while (ok && TakeIf(TokenKind::kComma));
  grid.head_span = Since(begin);
  if (!ok && !SkipToBrace()) SkipToStatementEnd();
  if (At(TokenKind::kLeftBrace)) {
    const Span open = SpanOf(Take());
    ParseGridItems(grid, true);
    if (!TakeIf(TokenKind::kRightBrace)) ReportUnclosedBrace(open, "", "`grid` section");
  } else {
    if (ok && At(TokenKind::kName) && Peek(1).kind == TokenKind::kIn && !AtLineEnd()) {
      ErrorExpected("`,` and the next axis, or a line break").Help("write `,` between the axes", Edit{AfterLast(), ","});
      SkipToStatementEnd();
    } else if (ok) {
      EndStatement("the grid's axes");
    }
    ParseGridItems(grid, false);
  }
  grid.span = Since(begin);
  return true;
}

void Parser::ParseGridItems(ast::GridSection& grid, bool braced) {
  while (!At(TokenKind::kRightBrace) && !At(TokenKind::kEnd) && !(StartsDecl() && Current().line_start)) {
    if (TakeIf(TokenKind::kSemicolon)) continue;
    if (!braced && At(TokenKind::kGrid)) return;
    const size_t item = pos_;
    bool ok = false;
    if (At(TokenKind::kPipe)) {
      ok = ParsePipe(grid);
    } else if (At(TokenKind::kWorker)) {
      ok = ParseWorker(grid);
    } else if (At(TokenKind::kLet)) {
      ast::StmtPtr let = ParseLet();
      ok = let != nullptr;
      if (let) grid.lets.push_back(std::move(let));
    } else if (At(TokenKind::kWork)) {
      Error(DiagnosticKind::kExpectedSyntax, Here(), "`work` tensors are declared before the first `grid`");
    } else {
      DiagnosticBuilder error =
          Error(DiagnosticKind::kExpectedSyntax, Here(), fmt::format("expected `pipe`, `worker` or `let`, found {}", Found()));
      SuggestWord(error, {"pipe", "worker", "let", "grid"});
      if (At(TokenKind::kName) && Peek(1).kind == TokenKind::kIn) {
        error.Help("the axes of a grid stand behind each other with `,` between them: `grid m in M by 64, n in N by 64`");
      } else if (!SuggestPipe(error) &&
                 (At(TokenKind::kName) || At(TokenKind::kFor) || At(TokenKind::kVar) || At(TokenKind::kIf))) {
        error.Help("statements stand in a worker: `worker compute { .. }`");
      }
    }
    if (ok) {
      EndStatement("a declaration");
    } else {
      SkipToStatementEnd(item);
    }
  }
}

bool Parser::ParsePipe(ast::GridSection& grid) {
  const Span begin = SpanOf(Take());
  ast::PipeDecl decl;
  if (!ExpectName("the pipe's name", decl.name)) return false;
  if (At(TokenKind::kLeftBracket)) {
    const Span open = SpanOf(Take());
    Brackets brackets(*this, true);
    if (!(decl.slots = ParseExpr()) || !ExpectClose(TokenKind::kRightBracket, open)) return false;
  }
  if (TakeWordIf("per") && !ExpectName("a worker after `per`", decl.per)) return false;
  if (!At(TokenKind::kColon)) {
    DiagnosticBuilder error = ErrorExpected("`:` and the type of a slot");
    if (At(TokenKind::kEqual)) error.Help("write `:`", Edit{Here(), ":"});
    if (At(TokenKind::kName)) error.Help("write `:` in front of it", Edit{AfterLast(), ":"});
    if (At(TokenKind::kLess) || At(TokenKind::kLeftParen))
      error.Help(fmt::format("the number of slots stands in brackets: `pipe {}[4]: ..`", decl.name.text));
    return false;
  }
  Take();
  if (!(decl.type = ParseType())) return false;
  decl.span = Since(begin);
  grid.pipes.push_back(std::move(decl));
  return true;
}

bool Parser::ParseWorker(ast::GridSection& grid) {
  const Span begin = SpanOf(Take());
  ast::WorkerDecl decl;
  bool header = ExpectName("the worker's name", decl.name);
  if (header && At(TokenKind::kLeftBracket)) {
    const Span open = SpanOf(Take());
    Brackets brackets(*this, true);
    header = (decl.count = ParseExpr()) && ExpectClose(TokenKind::kRightBracket, open);
  }
  if (header && TakeWordIf("as")) header = ExpectName("the instance's name after `as`", decl.index);
  if (header && At(TokenKind::kIn)) {
    const Span in = SpanOf(Take());
    header = AtWord("turn");
    if (!header) ErrorExpected("`turn` after `in`");
    TakeWordIf("turn");
    decl.in_turn = true;
    decl.in_turn_span = Since(in);
  }
  if (!header && !SkipToBrace()) return false;
  if (!ParseBlock(decl.body, false)) return false;
  decl.span = Since(begin);
  if (header) grid.workers.push_back(std::move(decl));
  return true;
}

}  // namespace tkc

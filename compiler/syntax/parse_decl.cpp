// SPDX-License-Identifier: MIT
// Declarations: imports, functions, kernels with their grid sections, instances, schedule sets; and types.
#include <fmt/format.h>

#include "compiler/support/dtype.h"
#include "compiler/syntax/parser_impl.h"

namespace tkc {

using ast::File;

ast::File Parser::ParseFile() {
  File file;
  file.file = file_;
  while (!At(TokenKind::kEnd)) {
    if (TakeIf(TokenKind::kSemicolon)) continue;
    const size_t begin = pos_;
    switch (Kind()) {
      case TokenKind::kImport: ParseImport(file); break;
      case TokenKind::kFn: ParseFn(file); break;
      case TokenKind::kKernel: ParseKernel(file, false); break;
      case TokenKind::kInstance: ParseInstance(file); break;
      case TokenKind::kSchedule: ParseSchedule(file); break;
      default:
        if (AtWord("deterministic") && Peek(1).kind == TokenKind::kKernel) {
          Take();
          ParseKernel(file, true);
          break;
        }
        if (ReportDeclHabit()) break;
        SuggestWord(Error(DiagnosticKind::kExpectedSyntax, Here(),
                          fmt::format("expected `kernel`, `fn`, `import`, `instance` or `schedule`, found {}", Found())),
                    {"kernel", "fn", "import", "instance", "schedule"});
        if (At(TokenKind::kRightBrace)) Take();
        SkipToDecl();
    }
    if (pos_ == begin) Take();  // whatever happened, go forward
  }
  return file;
}

void Parser::ParseImport(File& file) {
  const Span begin = SpanOf(Take());
  ast::ImportDecl decl;
  if (!At(TokenKind::kString)) {
    ErrorExpected("the path of a .tk file in quotes").Help("write for example `import \"lib/tiles.tk\"`");
    return SkipToDecl();
  }
  const Token path = Take();
  decl.path_span = SpanOf(path);
  decl.path = std::string(text_.substr(path.begin + 1, path.end - path.begin - 1));
  if (!decl.path.empty() && decl.path.back() == '"') decl.path.pop_back();
  decl.span = Since(begin);
  EndStatement("an import");
  file.order.push_back({File::DeclKind::kImport, static_cast<uint32_t>(file.imports.size())});
  file.imports.push_back(std::move(decl));
}

void Parser::ParseFn(File& file) {
  const Span begin = SpanOf(Take());
  const size_t errors = diagnostics_.ErrorCount();
  ast::FnDecl decl;
  decl.doc = DocBefore(begin);
  if (!ExpectName("the function's name", decl.name) || !At(TokenKind::kLeftParen)) {
    ErrorExpected("`(`");
    return SkipToDecl();
  }
  const Span open = SpanOf(Take());
  {
    Brackets brackets(*this, true);
    while (!At(TokenKind::kRightParen)) {
      ast::FnParam& param = decl.params.emplace_back();
      const Span param_begin = Here();
      if (!ExpectName("a parameter", param.name)) return SkipToDecl();
      if (TakeIf(TokenKind::kColon) && !(param.type = ParseType())) return SkipToDecl();
      param.span = Since(param_begin);
      if (!TakeIf(TokenKind::kComma)) break;
    }
    if (!ExpectClose(TokenKind::kRightParen, open)) return SkipToDecl();
  }
  if (TakeIf(TokenKind::kRightArrow) && !(decl.return_type = ParseType())) return SkipToDecl();
  if (!ParseBlock(decl.body, true)) return SkipToDecl();
  decl.span = Since(begin);
  if (diagnostics_.ErrorCount() == errors) BlockValue(decl.body, "a function ends with its value");
  file.order.push_back({File::DeclKind::kFn, static_cast<uint32_t>(file.fns.size())});
  file.fns.push_back(std::move(decl));
}

// ------------------------------------------------------------------------------------------------ kernels

void Parser::ParseKernel(File& file, bool deterministic) {
  const Span begin = SpanOf(Take());
  ast::KernelDecl decl;
  decl.deterministic = deterministic;
  const bool named = ExpectName("the kernel's name", decl.name);
  decl.head_span = Since(begin);
  decl.doc = DocBefore(begin);
  const bool header = named && ParseStaticParams(decl.static_params) && ParseParams(decl.params) && ParseRequire(decl);
  if (!header && !SkipToBrace()) return SkipToDecl();
  if (!At(TokenKind::kLeftBrace)) {
    DiagnosticBuilder error = ErrorExpectedBrace();
    if (At(TokenKind::kRightArrow))
      error.Help("a kernel has no value: what it computes it stores to a tensor, which is a parameter `Y: out f32[M, N]`");
    return SkipToDecl();
  }
  ParseKernelBody(decl);
  decl.span = Since(begin);
  file.order.push_back({File::DeclKind::kKernel, static_cast<uint32_t>(file.kernels.size())});
  file.kernels.push_back(std::move(decl));
}

bool Parser::ParseStaticParams(std::vector<ast::StaticParam>& params) {
  if (!At(TokenKind::kLess)) return true;
  const Span open = SpanOf(Take());
  Brackets brackets(*this, true);
  while (!At(TokenKind::kGreater)) {
    ast::StaticParam& param = params.emplace_back();
    const Span begin = Here();
    if (!ExpectName("a parameter", param.name)) return false;
    if (TakeIf(TokenKind::kColon) && !(param.type = ParseType())) return false;
    // Not a whole expression: `>` closes the list.
    if (TakeIf(TokenKind::kEqual) && !(param.default_value = ParseAdditive())) return false;
    param.span = Since(begin);
    if (!TakeIf(TokenKind::kComma)) break;
  }
  return ExpectClose(TokenKind::kGreater, open);
}

bool Parser::ParseParams(std::vector<ast::Param>& params) {
  if (!At(TokenKind::kLeftParen)) {
    DiagnosticBuilder error = ErrorExpected("`(` and the kernel's parameters");
    if (At(TokenKind::kLeftBracket)) error.Help("compile-time parameters stand between `<` and `>`: `kernel k<BM = 128>(..)`");
    return false;
  }
  const Span open = SpanOf(Take());
  Brackets brackets(*this, true);
  while (!At(TokenKind::kRightParen)) {
    ast::Param& param = params.emplace_back();
    const Span begin = Here();
    if (!ExpectName("a parameter", param.name)) return false;
    if (!At(TokenKind::kColon)) {
      DiagnosticBuilder error = ErrorExpected("`:` and a type after the parameter's name");
      SuggestParam(error, param.name);
      return false;
    }
    Take();
    param.mode_span = {file_, Here().begin, Here().begin};
    const bool word_is_mode = Peek(1).kind == TokenKind::kName;
    if (At(TokenKind::kIn)) {
      param.mode_span = SpanOf(Take());
    } else if (word_is_mode && (AtWord("out") || AtWord("inout"))) {
      param.mode = AtWord("out") ? ast::ParamMode::kOut : ast::ParamMode::kInOut;
      param.mode_span = SpanOf(Take());
    }
    if (At(TokenKind::kStar)) {
      DiagnosticBuilder error = ErrorExpected("a type");
      SuggestParam(error, param.name);
      return false;
    }
    if (!(param.type = ParseType())) return false;
    if (TakeIf(TokenKind::kEqual) && !(param.preset = ParseExpr())) return false;
    param.span = Since(begin);
    if (At(TokenKind::kStar)) {
      DiagnosticBuilder error = ErrorExpected("`,` or `)`");
      SuggestParam(error, param.name);
      return false;
    }
    if (!TakeIf(TokenKind::kComma)) break;
  }
  return ExpectClose(TokenKind::kRightParen, open);
}

bool Parser::ParseRequire(ast::KernelDecl& kernel) {
  while (TakeIf(TokenKind::kRequire)) {
    do {
      if (AtWord("native")) {
        Take();
        kernel.require_native = true;
        continue;
      }
      ast::ExprPtr condition = ParseExpr();
      if (!condition) return false;
      kernel.requires_.push_back(std::move(condition));
    } while (TakeIf(TokenKind::kComma));
  }
  return true;
}

void Parser::ParseKernelBody(ast::KernelDecl& kernel) {
  const Span open = SpanOf(Take());
  const size_t errors = diagnostics_.ErrorCount();
  while (!At(TokenKind::kRightBrace)) {
    if (TakeIf(TokenKind::kSemicolon)) continue;
    if (At(TokenKind::kEnd) || (StartsDecl() && Current().line_start)) {
      if (!lost_brace_)
        Error(DiagnosticKind::kUnclosedBracket, open, fmt::format("`{{` of kernel `{}` is never closed", kernel.name.text))
            .Help("write `}` where the kernel ends");
      return;
    }
    const size_t item = pos_;
    if (At(TokenKind::kWork)) {
      ParseWork(kernel);
    } else if (At(TokenKind::kGrid)) {
      if (!ParseGrid(kernel)) SkipToStatementEnd();
    } else if (At(TokenKind::kLet)) {
      const Span begin = Here();
      ast::StmtPtr let = ParseLet();
      if (let && !kernel.grids.empty()) {
        Error(DiagnosticKind::kExpectedSyntax, begin, "a kernel's `let` stands before its first `grid`");
        SkipToStatementEnd();
      } else if (let) {
        kernel.lets.push_back(std::move(let));
        EndStatement("a `let`");
      } else {
        SkipToStatementEnd();
      }
    } else {
      const bool section = At(TokenKind::kPipe) || At(TokenKind::kWorker);
      if (section && diagnostics_.ErrorCount() > errors) {
        // The `grid` line itself went wrong, and that has been told; what follows it is read for its own errors only.
        ast::GridSection lost;
        ParseGridItems(lost, false);
        continue;
      }
      DiagnosticBuilder error =
          Error(DiagnosticKind::kExpectedSyntax, Here(), fmt::format("expected `grid`, `work` or `let`, found {}", Found()));
      if (section) error.Help("pipes and workers follow a `grid` line that says which tiles there are");
      SuggestWord(error, {"grid", "work", "let"});
      SkipToStatementEnd(item);
    }
  }
  Take();
  if (kernel.grids.empty() && diagnostics_.ErrorCount() == errors) {
    Error(DiagnosticKind::kExpectedSyntax, kernel.head_span, fmt::format("kernel `{}` has no `grid`", kernel.name.text))
        .Help("say which tiles it computes: `grid m in M by BM`");
  }
}

void Parser::ParseWork(ast::KernelDecl& kernel) {
  const Span begin = SpanOf(Take());
  ast::WorkDecl decl;
  const bool ok = ExpectName("the tensor's name", decl.name) && Expect(TokenKind::kColon, "and a type") &&
                  (decl.type = ParseType()) && (!TakeIf(TokenKind::kEqual) || (decl.preset = ParseExpr()));
  if (!ok) return SkipToStatementEnd();
  decl.span = Since(begin);
  EndStatement("a `work` tensor");
  kernel.works.push_back(std::move(decl));
}

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
    if (!TakeIf(TokenKind::kRightBrace)) {
      Error(DiagnosticKind::kUnclosedBracket, open, "`{` is never closed").Help("write `}` where the `grid` section ends");
    }
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
      if (At(TokenKind::kName) || At(TokenKind::kFor) || At(TokenKind::kVar) || At(TokenKind::kIf)) {
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

// ------------------------------------------------------------------------------------------------ types

ast::TypeExprPtr Parser::ParseType() {
  Depth depth(*this);
  if (!depth.ok()) return nullptr;
  if (At(TokenKind::kLeftParen)) return ParseTupleType();
  auto type = std::make_unique<ast::TypeExpr>();
  const Span begin = Here();
  if (AtWord("index") && PeekWord(1, "of")) {
    Take();
    Take();
    type->kind = ast::TypeExpr::Kind::kIndexOf;
    if (!(type->of = ParseAdditive())) return nullptr;
    type->span = Since(begin);
    return type;
  }
  if (!ExpectName("a type", type->name)) return nullptr;
  type->kind = DTypeFromName(type->name.text) ? ast::TypeExpr::Kind::kElement : ast::TypeExpr::Kind::kNamed;
  if (At(TokenKind::kLeftBracket) && !AtLineEnd()) {
    const Span open = SpanOf(Take());
    Brackets brackets(*this, true);
    type->has_dims = true;
    do {
      if (At(TokenKind::kRightBracket)) break;
      ast::ExprPtr dim = ParseExpr();
      if (!dim) return nullptr;
      type->dims.push_back(std::move(dim));
    } while (TakeIf(TokenKind::kComma));
    if (!ExpectClose(TokenKind::kRightBracket, open)) return nullptr;
  }
  type->span = Since(begin);
  return type;
}

ast::TypeExprPtr Parser::ParseTupleType() {
  auto type = std::make_unique<ast::TypeExpr>();
  type->kind = ast::TypeExpr::Kind::kTuple;
  const Span open = SpanOf(Take());
  Brackets brackets(*this, true);
  while (!At(TokenKind::kRightParen)) {
    ast::TypeExpr::Field& field = type->fields.emplace_back();
    if (At(TokenKind::kName) && Peek(1).kind == TokenKind::kColon) {
      ExpectName("a field", field.name);
      Take();
    }
    if (!(field.type = ParseType())) return nullptr;
    if (TakeWordIf("x") && !(field.repeat = ParseAdditive())) return nullptr;
    if (!TakeIf(TokenKind::kComma)) break;
  }
  if (!ExpectClose(TokenKind::kRightParen, open)) return nullptr;
  type->span = Since(open);
  if (type->fields.empty()) {
    Error(DiagnosticKind::kExpectedSyntax, type->span, "expected a type, found `()`");
    return nullptr;
  }
  return type;
}

}  // namespace tkc

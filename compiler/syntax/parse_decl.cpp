// SPDX-License-Identifier: MIT
// Declarations: imports, functions, kernels up to their grid sections.
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
        {
          DiagnosticBuilder error =
              Error(DiagnosticKind::kExpectedSyntax, Here(),
                    fmt::format("expected `kernel`, `fn`, `import`, `instance` or `schedule`, found {}", Found()));
          if (At(TokenKind::kRightBrace)) error.Help("is a `}` too many above?");
          SuggestWord(error, {"kernel", "fn", "import", "instance", "schedule"});
        }
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
    if (At(TokenKind::kEqual) && !decl.requires_.empty()) error.Help("to compare write `==`", Edit{Here(), "=="});
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
    if (At(TokenKind::kColon) && Peek(1).kind == TokenKind::kInt) {
      ErrorExpected("`=` and the parameter's value").Help("write `=`", Edit{Here(), " ="});
      return false;
    }
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
      return ReportUnclosedBrace(open, fmt::format(" of kernel `{}`", kernel.name.text), "kernel");
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
      if (At(TokenKind::kRequire)) error.Help("what a kernel requires stands in front of its `{`");
      SuggestWord(error, {"grid", "work", "let", "pipe", "worker"});
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

}  // namespace tkc

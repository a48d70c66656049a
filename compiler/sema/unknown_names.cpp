// SPDX-License-Identifier: MIT
#include "compiler/sema/unknown_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "compiler/sema/habits.h"
#include "compiler/syntax/source_text.h"

namespace tkc::sema {
namespace {

struct Declared {
  Span span = kNoSpan;  // kNoSpan: nowhere
  bool is_index = false;

  bool IsFound() const { return !(span == kNoSpan); }
};

/// Where a `let`, `var` or loop of these statements declares the name.
Declared DeclaredIn(const std::vector<ast::StmtPtr>& stmts, const std::string& name) {
  const auto in_pattern = [&](const ast::Pattern& pattern) {
    for (const ast::Name& own : pattern.names) {
      if (own.text == name) return Declared{own.span};
    }
    return Declared{};
  };
  for (const ast::StmtPtr& stmt : stmts) {
    Declared found;
    switch (stmt->kind) {
      case ast::StmtKind::kLet: found = in_pattern(ast::Cast<ast::LetStmt>(*stmt).pattern); break;
      case ast::StmtKind::kVar: found = in_pattern(ast::Cast<ast::VarStmt>(*stmt).pattern); break;
      case ast::StmtKind::kFor: {
        const auto& loop = ast::Cast<ast::ForStmt>(*stmt);
        found = loop.index.text == name ? Declared{loop.index.span, true} : DeclaredIn(loop.body.stmts, name);
        break;
      }
      case ast::StmtKind::kIf: {
        const auto& branches = ast::Cast<ast::IfStmt>(*stmt);
        found = DeclaredIn(branches.then_branch.stmts, name);
        if (!found.IsFound() && branches.else_branch) found = DeclaredIn(branches.else_branch->stmts, name);
        break;
      }
      default: break;
    }
    if (found.IsFound()) return found;
  }
  return {};
}

/// The help for a letter that a tensor, or a dimension, has as a capital. One letter is nobody's slip, since `m` and `M` are a
/// block and its dimension; but a tensor's may be, and a dimension's where there are no blocks.
void SuggestCapital(const Sight& sight, const std::string& name, Span span, std::string_view what, DiagnosticBuilder& report) {
  const std::string capital(1, static_cast<char>(std::toupper(static_cast<unsigned char>(name[0]))));
  const Symbol* symbol = name.size() == 1 && name != capital ? sight.scope.Find(capital) : nullptr;
  if (symbol == nullptr || symbol->what != what) return;
  report.Help(fmt::format("write `{}` for the {}", capital, what), Edit{span, capital});
}

/// In a worker: the help for a name whose block or loop has ended; false and nothing said if there was none.
bool SuggestOuter(const Sight& sight, const std::string& name, Span span, DiagnosticBuilder& report) {
  const Declared declared = DeclaredIn(sight.worker->body.stmts, name);
  if (!declared.IsFound() || declared.span.begin > span.begin) return false;
  report.Note(declared.span, fmt::format("this `{}` ends with its {}", name, declared.is_index ? "loop" : "block"));
  if (!declared.is_index)
    report.Help(fmt::format("declare it in front of the block: `var {} = ..`", name));
  else if (sight.index.empty())
    report.Help("what needs it stands in the loop");
  return true;
}

/// In a worker: the help for a name that another one of the section has; false and nothing said if none has.
bool SuggestPipe(const Sight& sight, const std::string& name, DiagnosticBuilder& report) {
  for (const ast::WorkerDecl& worker : sight.section->workers) {
    const Declared declared = DeclaredIn(worker.body.stmts, name);
    if (!declared.IsFound() || &worker == sight.worker) continue;
    report.Note(declared.span, fmt::format("declared in worker `{}`", worker.name.text));
    if (declared.is_index)
      report.Help(fmt::format("every worker has loops of its own: `for {} in .. {{ .. }}`", name));
    else
      report.Help(
          fmt::format("values go from one worker to another through a pipe: `p <- {}` there, and `let {} = <-p` here", name, name));
    return true;
  }
  return false;
}

/// Likewise where the worker's instances have no number to be told apart by.
void SuggestInstance(const Sight& sight, DiagnosticBuilder& report) {
  for (const ast::WorkerDecl& worker : sight.section->workers) {
    if (&worker != sight.worker || !worker.count || !worker.index.text.empty() || worker.in_turn) continue;
    report.Help(fmt::format("the number of an instance has a name where the worker says so: `worker {}[{}] as w`", worker.name.text,
                            ast::SourceText(*worker.count)));
  }
}

}  // namespace

void ReportUnknownName(const std::string& name, Span span, NameUse use, const Sight& sight, Diagnostics& diagnostics) {
  if (name == "block" || name == "blocks") {
    diagnostics.Error(DiagnosticKind::kBlockOutsideWork, span, fmt::format("`{}` outside the index of a `work` tensor", name))
        .Help("what a tile computes may not depend on which block computes it; a `work` tensor may hold one row for each block");
    return;
  }
  const std::string nearest = sight.scope.Nearest(name);
  DiagnosticBuilder report = diagnostics.Error(DiagnosticKind::kUnknownName, span, fmt::format("there is no `{}` here", name));
  if (const std::string_view help = HelpForName(name); !help.empty()) {
    report.Help(std::string(help));
  } else if (!nearest.empty()) {
    if (const Symbol* symbol = sight.scope.Find(nearest); symbol->span.file == span.file && symbol->span.end > 0) {
      report.Note(symbol->span, fmt::format("`{}` is declared here", nearest));
    }
    report.Help(fmt::format("write `{}`", nearest), Edit{span, nearest});
  } else if (sight.in_define) {
    report.Help("write a number, `true` or `false`, or a formula of those");
  } else if (use == NameUse::kPipe) {
    report.Help(
        fmt::format("declare the pipe in front of the workers, with what a slot of it holds: `pipe {}: f32[64, 64]`", name));
  } else if (sight.in_fn) {
    report.Help("a `fn` sees its parameters only; pass what it needs");
  } else if (sight.worker == nullptr) {
    SuggestCapital(sight, name, span, "dimension", report);
  } else {
    const std::string& index = sight.index;
    if (!index.empty()) report.Help(fmt::format("write `{}`, the index that runs over this axis", index), Edit{span, index});
    if (SuggestOuter(sight, name, span, report) || !index.empty() || SuggestPipe(sight, name, report)) return;
    SuggestCapital(sight, name, span, "tensor", report);
    if (use == NameUse::kVar)
      report.Help(fmt::format("declare it: `var {} = ..`, in front of the loop whose iterations change it", name));
    else
      SuggestInstance(sight, report);
  }
}

bool ReportModule(const ast::MethodExpr& expr, const Scope& scope, Diagnostics& diagnostics) {
  const auto* base = ast::DynCast<ast::NameExpr>(*expr.base);
  if (base == nullptr || !IsModule(base->name) || scope.Find(base->name) != nullptr) return false;
  const std::string& function = expr.method.text;
  std::string_view help = HelpForFunction(function);
  if (help.empty() && !IsStandardFunction(function)) return false;
  DiagnosticBuilder report = diagnostics.Error(DiagnosticKind::kUnknownName, Join(base->span, expr.method.span),
                                               fmt::format("there is no `{}.{}` here", base->name, function));
  if (help.empty())
    report.Help(fmt::format("functions stand alone: `{}(..)`", function), Edit{Join(base->span, expr.method.span), function});
  else
    report.Help(std::string(help));
  return true;
}

}  // namespace tkc::sema

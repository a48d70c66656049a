// SPDX-License-Identifier: MIT
// Asked of the text, before parameters have values: a name that only a branch uses which no set takes is used all the same.
#include "compiler/sema/check_lost_assignments.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/syntax/source_text.h"

namespace tkc::sema {
namespace {

using ast::Cast;
using Names = std::set<std::string>;

void AddNames(const ast::Block& block, Names& names);

void AddNames(const ast::Expr* expr, Names& names) {
  if (expr == nullptr) return;
  switch (expr->kind) {
    case ast::ExprKind::kInt:
    case ast::ExprKind::kFloat:
    case ast::ExprKind::kBool: return;
    case ast::ExprKind::kName: names.insert(Cast<ast::NameExpr>(*expr).name); return;
    case ast::ExprKind::kUnary: return AddNames(Cast<ast::UnaryExpr>(*expr).operand.get(), names);
    case ast::ExprKind::kBinary: {
      const auto& binary = Cast<ast::BinaryExpr>(*expr);
      AddNames(binary.left.get(), names);
      return AddNames(binary.right.get(), names);
    }
    case ast::ExprKind::kCall:
      for (const ast::ExprPtr& argument : Cast<ast::CallExpr>(*expr).arguments) AddNames(argument.get(), names);
      return;
    case ast::ExprKind::kMethod:
      for (const ast::ExprPtr& argument : Cast<ast::MethodExpr>(*expr).arguments) AddNames(argument.get(), names);
      return AddNames(Cast<ast::MethodExpr>(*expr).base.get(), names);
    case ast::ExprKind::kField: return AddNames(Cast<ast::FieldExpr>(*expr).base.get(), names);
    case ast::ExprKind::kIndex:
      for (const ast::Index& index : Cast<ast::IndexExpr>(*expr).indices) {
        for (const ast::ExprPtr* part : {&index.expr, &index.count, &index.end}) AddNames(part->get(), names);
      }
      AddNames(Cast<ast::IndexExpr>(*expr).fill.get(), names);
      return AddNames(Cast<ast::IndexExpr>(*expr).base.get(), names);
    case ast::ExprKind::kTuple:
      for (const ast::ExprPtr& element : Cast<ast::TupleExpr>(*expr).elements) AddNames(element.get(), names);
      return;
    case ast::ExprKind::kIf:
      AddNames(Cast<ast::IfExpr>(*expr).condition.get(), names);
      AddNames(Cast<ast::IfExpr>(*expr).then_branch, names);
      return AddNames(Cast<ast::IfExpr>(*expr).else_branch, names);
    case ast::ExprKind::kReceive:
      names.insert(Cast<ast::ReceiveExpr>(*expr).pipe.text);
      return AddNames(Cast<ast::ReceiveExpr>(*expr).index.get(), names);
  }
}

void AddNames(const ast::Stmt& stmt, Names& names) {
  switch (stmt.kind) {
    case ast::StmtKind::kLet: return AddNames(Cast<ast::LetStmt>(stmt).value.get(), names);
    case ast::StmtKind::kVar: return AddNames(Cast<ast::VarStmt>(stmt).value.get(), names);
    case ast::StmtKind::kAssign:
      AddNames(Cast<ast::AssignStmt>(stmt).target.get(), names);
      return AddNames(Cast<ast::AssignStmt>(stmt).value.get(), names);
    case ast::StmtKind::kArrow:
      AddNames(Cast<ast::ArrowStmt>(stmt).target.get(), names);
      return AddNames(Cast<ast::ArrowStmt>(stmt).value.get(), names);
    case ast::StmtKind::kFor: {
      const auto& loop = Cast<ast::ForStmt>(stmt);
      for (const ast::ExprPtr* part : {&loop.range.low, &loop.range.high, &loop.range.step}) AddNames(part->get(), names);
      return AddNames(loop.body, names);
    }
    case ast::StmtKind::kIf:
      AddNames(Cast<ast::IfStmt>(stmt).condition.get(), names);
      AddNames(Cast<ast::IfStmt>(stmt).then_branch, names);
      if (Cast<ast::IfStmt>(stmt).else_branch) AddNames(*Cast<ast::IfStmt>(stmt).else_branch, names);
      return;
    case ast::StmtKind::kEach: return AddNames(Cast<ast::EachStmt>(stmt).body, names);
  }
}

void AddNames(const ast::Block& block, Names& names) {
  for (const ast::StmtPtr& stmt : block.stmts) AddNames(*stmt, names);
  AddNames(block.result.get(), names);
}

class LostAssignments {
 public:
  explicit LostAssignments(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  /// `outer`: what is declared around the block, by name; null: with neither `let` nor `var` of a worker.
  using Declared = std::map<std::string, const ast::Stmt*>;

  void Visit(const ast::Block& block, Declared outer) {
    Check(block, outer);
    for (const ast::StmtPtr& stmt : block.stmts) {
      if (const ast::Pattern* pattern = PatternOf(*stmt)) {
        for (const ast::Name& name : pattern->names) outer[name.text] = pattern->is_tuple ? nullptr : stmt.get();
      } else if (const auto* loop = ast::DynCast<ast::ForStmt>(*stmt)) {
        Declared inside = outer;
        inside[loop->index.text] = nullptr;
        Visit(loop->body, std::move(inside));
      } else if (const auto* branch = ast::DynCast<ast::IfStmt>(*stmt)) {
        Visit(branch->then_branch, outer);
        if (branch->else_branch) Visit(*branch->else_branch, outer);
      } else if (const auto* each = ast::DynCast<ast::EachStmt>(*stmt)) {
        Visit(each->body, outer);
      }
    }
  }

 private:
  static const ast::Pattern* PatternOf(const ast::Stmt& stmt) {
    if (const auto* let = ast::DynCast<ast::LetStmt>(stmt)) return &let->pattern;
    if (const auto* var = ast::DynCast<ast::VarStmt>(stmt)) return &var->pattern;
    return nullptr;
  }

  void Check(const ast::Block& block, const Declared& outer) {
    std::vector<const ast::LetStmt*> found;
    Names own;  // what the block declares by itself
    for (const ast::StmtPtr& stmt : block.stmts) {
      const ast::Pattern* pattern = PatternOf(*stmt);
      if (pattern == nullptr) continue;
      const auto* let = ast::DynCast<ast::LetStmt>(*stmt);
      Names read;
      if (let != nullptr && !pattern->is_tuple) AddNames(let->value.get(), read);
      const std::string& name = pattern->names[0].text;
      if (read.contains(name) && !own.contains(name) && outer.contains(name)) {
        found.push_back(let);
      } else {
        for (const ast::Name& each : pattern->names) own.insert(each.text);
      }
    }
    if (found.empty()) return;
    Names used;  // behind the statement
    AddNames(block.result.get(), used);
    for (auto stmt = block.stmts.rbegin(); stmt != block.stmts.rend() && !found.empty(); ++stmt) {
      if (stmt->get() == found.back()) {
        const ast::LetStmt& let = *found.back();
        found.pop_back();
        const ast::Stmt* other = outer.at(let.pattern.names[0].text);
        if (other != nullptr && !used.contains(let.pattern.names[0].text)) Report(let, *other);
      }
      AddNames(**stmt, used);
    }
  }

  void Report(const ast::LetStmt& let, const ast::Stmt& other) {
    const ast::Name& name = let.pattern.names[0];
    const std::string assignment = fmt::format("{} = {}", name.text, ast::SourceText(*let.value));
    std::vector<Edit> edits{{Span{let.span.file, let.span.begin, let.value->span.begin}, name.text + " = "}};
    const bool is_let = other.kind == ast::StmtKind::kLet;
    if (is_let) edits.insert(edits.begin(), Edit{Span{other.span.file, other.span.begin, other.span.begin + 3}, "var"});
    diagnostics_
        .Warning(DiagnosticKind::kLostAssignment, name.span,
                 fmt::format("`{}` is computed from the `{}` outside of the block, and nothing uses it", name.text, name.text))
        .Label(name.span, "another one, which ends with the block")
        .Note(PatternOf(other)->span, fmt::format("this `{}` stays as it is", name.text))
        .Help(is_let ? fmt::format("to change it declare it with `var`, and write `{}`", assignment)
                     : fmt::format("to change it leave out `let`: `{}`", assignment),
              std::move(edits));
  }

  Diagnostics& diagnostics_;
};

}  // namespace

void WarnOfLostAssignments(const ast::File& file, Diagnostics& diagnostics) {
  LostAssignments lost(diagnostics);
  for (const ast::FnDecl& fn : file.fns) lost.Visit(fn.body, {});
  for (const ast::KernelDecl& kernel : file.kernels) {
    for (const ast::GridSection& grid : kernel.grids) {
      for (const ast::WorkerDecl& worker : grid.workers) lost.Visit(worker.body, {});
    }
  }
}

}  // namespace tkc::sema

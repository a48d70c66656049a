// SPDX-License-Identifier: MIT
// Asked of the text, before parameters have values: a name that only a branch uses which no set takes is used all the same.
// Blocks are walked from their end, so that what is known at a declaration is what is used behind it.
#include "compiler/sema/check_unused_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/syntax/source_text.h"

namespace tkc::sema {
namespace {

using ast::Cast;

/// Names that a piece of the text uses and does not declare.
struct Uses {
  std::set<std::string_view> read{};
  std::set<std::string_view> stored{};  // assigned, sent or stored to

  bool Has(std::string_view name) const { return read.contains(name) || stored.contains(name); }
  void Forget(std::string_view name) {
    read.erase(name);
    stored.erase(name);
  }
  void Forget(const ast::Pattern& pattern) {
    for (const ast::Name& name : pattern.names) Forget(name.text);
  }
  void Merge(Uses other) {
    read.merge(other.read);
    stored.merge(other.stored);
  }
};

/// A statement of a block, and those around the block.
struct Place {
  const ast::Block* block = nullptr;
  size_t at = 0;
  const Place* around = nullptr;  // null: of a worker or a function
};

const ast::Pattern* PatternOf(const ast::Stmt& stmt) {
  if (const auto* let = ast::DynCast<ast::LetStmt>(stmt)) return &let->pattern;
  if (const auto* var = ast::DynCast<ast::VarStmt>(stmt)) return &var->pattern;
  return nullptr;
}

class UnusedNames {
 public:
  explicit UnusedNames(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  void VisitFn(const ast::FnDecl& fn) {
    Uses uses = VisitBlock(fn.body, {});
    AddType(fn.return_type.get(), uses);
    for (const ast::FnParam& param : fn.params) {
      if (!uses.read.contains(param.name.text)) Report(param.name, fmt::format("parameter `{}`", param.name.text));
    }
  }

  /// With the sets and instances that set its parameters.
  void VisitKernel(const ast::KernelDecl& kernel, const ast::File& file) {
    Uses uses;
    for (auto grid = kernel.grids.rbegin(); grid != kernel.grids.rend(); ++grid) AddSection(*grid, uses);
    AddLets(kernel.lets, uses);
    for (const ast::WorkDecl& work : kernel.works) {
      if (!uses.Has(work.name.text)) Report(work.name, fmt::format("work tensor `{}`", work.name.text));
      AddType(work.type.get(), uses);
      AddExpr(work.preset.get(), uses);
    }
    for (const ast::ExprPtr& condition : kernel.requires_) AddExpr(condition.get(), uses);
    for (const ast::Param& param : kernel.params) {
      if (param.mode != ast::ParamMode::kOut && !uses.Has(param.name.text))
        Report(param.name, fmt::format("{} `{}`", param.IsTensor() ? "tensor" : "launch scalar", param.name.text));
    }
    for (const ast::Param& param : kernel.params) {
      AddType(param.type.get(), uses);
      AddExpr(param.preset.get(), uses);
    }
    for (const ast::ScheduleDecl& schedule : file.schedules) {
      if (!IsOf(schedule, kernel)) continue;
      AddExpr(schedule.condition.get(), uses);
      for (const ast::ScheduleItem& item : schedule.items) AddExpr(item.value.get(), uses);
    }
    for (const ast::StaticParam& param : kernel.static_params) AddExpr(param.default_value.get(), uses);
    for (const ast::StaticParam& param : kernel.static_params) {
      if (!uses.read.contains(param.name.text)) Report(param.name, fmt::format("compile-time parameter `{}`", param.name.text));
    }
  }

 private:
  void AddSection(const ast::GridSection& grid, Uses& uses) {
    Uses own;
    for (const ast::WorkerDecl& worker : grid.workers) {
      Uses of_worker = VisitBlock(worker.body, {});
      of_worker.Forget(worker.index.text);
      AddExpr(worker.count.get(), of_worker);
      own.Merge(std::move(of_worker));
    }
    for (const ast::PipeDecl& pipe : grid.pipes) {
      own.Forget(pipe.name.text);
      AddExpr(pipe.slots.get(), own);
      AddType(pipe.type.get(), own);
    }
    AddLets(grid.lets, own);
    for (auto axis = grid.axes.rbegin(); axis != grid.axes.rend(); ++axis) {
      own.Forget(axis->name.text);
      AddRange(axis->range, own);
    }
    uses.Merge(std::move(own));
  }

  void AddLets(const std::vector<ast::StmtPtr>& lets, Uses& uses) {
    for (auto let = lets.rbegin(); let != lets.rend(); ++let) AddStmt(**let, nullptr, uses);
  }

  Uses VisitBlock(const ast::Block& block, const Place* around) {
    Uses uses;
    AddExpr(block.result.get(), uses);
    for (size_t i = block.stmts.size(); i-- > 0;) {
      const Place here{&block, i, around};
      AddStmt(*block.stmts[i], &here, uses);
    }
    return uses;
  }

  /// `here`: null for what is declared outside of workers and functions.
  void AddStmt(const ast::Stmt& stmt, const Place* here, Uses& uses) {
    switch (stmt.kind) {
      case ast::StmtKind::kLet: {
        const auto& let = Cast<ast::LetStmt>(stmt);
        Uses value;
        AddType(let.type.get(), value);
        AddExpr(let.value.get(), value);
        const ast::Stmt* hidden = nullptr;
        if (!let.pattern.is_tuple && value.read.contains(let.pattern.names[0].text))
          hidden = DeclaredAround(let.pattern.names[0].text, here);
        if (hidden != nullptr && !uses.read.contains(let.pattern.names[0].text))
          ReportLost(let, *hidden);
        else
          CheckPattern(let.pattern, uses);
        uses.Forget(let.pattern);
        return uses.Merge(std::move(value));
      }
      case ast::StmtKind::kVar: {
        const auto& var = Cast<ast::VarStmt>(stmt);
        CheckPattern(var.pattern, uses);
        uses.Forget(var.pattern);
        AddType(var.type.get(), uses);
        return AddExpr(var.value.get(), uses);
      }
      case ast::StmtKind::kAssign:
        AddTarget(*Cast<ast::AssignStmt>(stmt).target, uses);
        return AddExpr(Cast<ast::AssignStmt>(stmt).value.get(), uses);
      case ast::StmtKind::kArrow:
        AddTarget(*Cast<ast::ArrowStmt>(stmt).target, uses);
        return AddExpr(Cast<ast::ArrowStmt>(stmt).value.get(), uses);
      case ast::StmtKind::kFor: {
        const auto& loop = Cast<ast::ForStmt>(stmt);
        Uses body = VisitBlock(loop.body, here);
        for (const ast::StmtPtr& each : loop.body.stmts) CheckLastOnly(*each, body, uses);
        body.Forget(loop.index.text);
        uses.Merge(std::move(body));
        return AddRange(loop.range, uses);
      }
      case ast::StmtKind::kIf: {
        const auto& branches = Cast<ast::IfStmt>(stmt);
        uses.Merge(VisitBlock(branches.then_branch, here));
        if (branches.else_branch) uses.Merge(VisitBlock(*branches.else_branch, here));
        return AddExpr(branches.condition.get(), uses);
      }
      case ast::StmtKind::kEach: return uses.Merge(VisitBlock(Cast<ast::EachStmt>(stmt).body, here));
    }
  }

  /// What is changed by itself only is not read by that.
  void AddTarget(const ast::Expr& target, Uses& uses) {
    switch (target.kind) {
      case ast::ExprKind::kName: uses.stored.insert(Cast<ast::NameExpr>(target).name); return;
      case ast::ExprKind::kMethod:
        for (const ast::ExprPtr& argument : Cast<ast::MethodExpr>(target).arguments) AddExpr(argument.get(), uses);
        return AddTarget(*Cast<ast::MethodExpr>(target).base, uses);
      case ast::ExprKind::kField: return AddTarget(*Cast<ast::FieldExpr>(target).base, uses);
      case ast::ExprKind::kIndex:
        AddIndices(Cast<ast::IndexExpr>(target), uses);
        return AddTarget(*Cast<ast::IndexExpr>(target).base, uses);
      case ast::ExprKind::kTuple:
        for (const ast::ExprPtr& element : Cast<ast::TupleExpr>(target).elements) AddTarget(*element, uses);
        return;
      default: return AddExpr(&target, uses);
    }
  }

  void AddIndices(const ast::IndexExpr& expr, Uses& uses) {
    for (const ast::Index& index : expr.indices) {
      for (const ast::ExprPtr* part : {&index.expr, &index.count, &index.end}) AddExpr(part->get(), uses);
    }
    AddExpr(expr.fill.get(), uses);
  }

  void AddRange(const ast::Range& range, Uses& uses) {
    for (const ast::ExprPtr* part : {&range.low, &range.high, &range.step}) AddExpr(part->get(), uses);
  }

  void AddType(const ast::TypeExpr* type, Uses& uses) {
    if (type == nullptr) return;
    for (const ast::ExprPtr& dim : type->dims) AddExpr(dim.get(), uses);
    for (const ast::TypeExpr::Field& field : type->fields) {
      AddType(field.type.get(), uses);
      AddExpr(field.repeat.get(), uses);
    }
    AddExpr(type->of.get(), uses);
  }

  void AddExpr(const ast::Expr* expr, Uses& uses) {
    if (expr == nullptr) return;
    switch (expr->kind) {
      case ast::ExprKind::kInt:
      case ast::ExprKind::kFloat:
      case ast::ExprKind::kBool: return;
      case ast::ExprKind::kName: uses.read.insert(Cast<ast::NameExpr>(*expr).name); return;
      case ast::ExprKind::kUnary: return AddExpr(Cast<ast::UnaryExpr>(*expr).operand.get(), uses);
      case ast::ExprKind::kBinary:
        AddExpr(Cast<ast::BinaryExpr>(*expr).left.get(), uses);
        return AddExpr(Cast<ast::BinaryExpr>(*expr).right.get(), uses);
      case ast::ExprKind::kCall:
        for (const ast::ExprPtr& argument : Cast<ast::CallExpr>(*expr).arguments) AddExpr(argument.get(), uses);
        return;
      case ast::ExprKind::kMethod:
        for (const ast::ExprPtr& argument : Cast<ast::MethodExpr>(*expr).arguments) AddExpr(argument.get(), uses);
        return AddExpr(Cast<ast::MethodExpr>(*expr).base.get(), uses);
      case ast::ExprKind::kField: return AddExpr(Cast<ast::FieldExpr>(*expr).base.get(), uses);
      case ast::ExprKind::kIndex:
        AddIndices(Cast<ast::IndexExpr>(*expr), uses);
        return AddExpr(Cast<ast::IndexExpr>(*expr).base.get(), uses);
      case ast::ExprKind::kTuple:
        for (const ast::ExprPtr& element : Cast<ast::TupleExpr>(*expr).elements) AddExpr(element.get(), uses);
        return;
      case ast::ExprKind::kIf:
        uses.Merge(VisitBlock(Cast<ast::IfExpr>(*expr).then_branch, nullptr));
        uses.Merge(VisitBlock(Cast<ast::IfExpr>(*expr).else_branch, nullptr));
        return AddExpr(Cast<ast::IfExpr>(*expr).condition.get(), uses);
      case ast::ExprKind::kReceive:
        uses.read.insert(Cast<ast::ReceiveExpr>(*expr).pipe.text);
        return AddExpr(Cast<ast::ReceiveExpr>(*expr).index.get(), uses);
    }
  }

  void Report(const ast::Name& name, std::string_view what) {
    if (name.text.starts_with('_')) return;
    diagnostics_.Warning(DiagnosticKind::kUnusedName, name.span, fmt::format("{} is not used", what))
        .Help(fmt::format("remove it, or call it `_{}` if it is to stay", name.text));
  }

  /// `uses`: behind the declaration.
  void CheckPattern(const ast::Pattern& pattern, const Uses& uses) {
    for (const ast::Name& name : pattern.names) {
      if (name.text.starts_with('_') || uses.read.contains(name.text)) continue;
      const bool is_assigned = uses.stored.contains(name.text);
      auto report =
          diagnostics_.Warning(DiagnosticKind::kUnusedName, name.span,
                               fmt::format("`{}` is {}", name.text, is_assigned ? "assigned, but nothing reads it" : "not used"));
      if (pattern.is_tuple && !is_assigned)
        report.Help("write `_` in its place", Edit{name.span, "_"});
      else
        report.Help(is_assigned ? "remove it and what is assigned to it" : "remove it");
    }
  }

  /// The statement of a block around this one's that declares the name by itself, and that its own block does not hide; else null.
  static const ast::Stmt* DeclaredAround(const std::string& name, const Place* place) {
    const ast::Block* const own = place == nullptr ? nullptr : place->block;
    for (; place != nullptr; place = place->around) {
      if (const auto* loop = ast::DynCast<ast::ForStmt>(*place->block->stmts[place->at]);
          loop != nullptr && loop->index.text == name)
        return nullptr;
      for (size_t i = place->at; i-- > 0;) {
        const ast::Stmt& stmt = *place->block->stmts[i];
        const ast::Pattern* pattern = PatternOf(stmt);
        if (pattern == nullptr ||
            std::none_of(pattern->names.begin(), pattern->names.end(), [&](const ast::Name& each) { return each.text == name; }))
          continue;
        return pattern->is_tuple || place->block == own ? nullptr : &stmt;
      }
    }
    return nullptr;
  }

  /// A statement of a loop's body that assigns what only statements behind the loop read. `body`: what the body uses of names
  /// outside.
  void CheckLastOnly(const ast::Stmt& stmt, const Uses& body, const Uses& behind) {
    const auto* assign = ast::DynCast<ast::AssignStmt>(stmt);
    const auto* target = assign == nullptr ? nullptr : ast::DynCast<ast::NameExpr>(*assign->target);
    if (target == nullptr || assign->op != ast::AssignOp::kSet) return;
    if (!body.stored.contains(target->name) || body.read.contains(target->name) || !behind.read.contains(target->name)) return;
    diagnostics_
        .Warning(DiagnosticKind::kLostAssignment, target->span,
                 fmt::format("each iteration assigns `{}` anew, and nothing reads it before the next one does", target->name))
        .Label(assign->op_span, "of all these values the last one stays")
        .Help(fmt::format("to add them up write `{} += {}`", target->name, ast::SourceText(*assign->value)),
              Edit{assign->op_span, "+="});
  }

  /// `let`: hides the name that it computes from, as `let x = x * 2`, and nothing uses it.
  void ReportLost(const ast::LetStmt& let, const ast::Stmt& other) {
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

void WarnOfUnusedNames(const ast::File& file, Diagnostics& diagnostics) {
  UnusedNames unused(diagnostics);
  for (const ast::FnDecl& fn : file.fns) unused.VisitFn(fn);
  for (const ast::KernelDecl& kernel : file.kernels) unused.VisitKernel(kernel, file);
}

}  // namespace tkc::sema

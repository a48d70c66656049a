// SPDX-License-Identifier: MIT
// Statements that bind and steer. Assignments are in check_assign.cpp, loops in check_loop.cpp, sends and stores in
// check_traffic.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/sema/elaborator.h"
#include "compiler/support/scoped.h"

namespace tkc::sema {

using typed::ExprKind;
using typed::ExprPtr;
using typed::Level;
using typed::Op;
using typed::StmtKind;
using typed::Type;
using typed::VarKind;

typed::VarId Elaborator::AddVar(const std::string& name, Type type, VarKind kind, Level level, Span span) {
  kernel_.vars.push_back({name, type, kind, level, span});
  return static_cast<typed::VarId>(kernel_.vars.size() - 1);
}

typed::Stmt& Elaborator::Append(StmtKind kind, Span span) {
  auto stmt = std::make_unique<typed::Stmt>();
  stmt->kind = kind;
  stmt->span = span;
  block_->push_back(std::move(stmt));
  return *block_->back();
}

void Elaborator::CheckStmts(const std::vector<ast::StmtPtr>& stmts) {
  for (const ast::StmtPtr& stmt : stmts) CheckStmt(*stmt);
}

void Elaborator::CheckBlock(const ast::Block& block) {
  scope_->Open();
  CheckStmts(block.stmts);
  scope_->Close();
}

void Elaborator::CheckStmt(const ast::Stmt& stmt) {
  switch (stmt.kind) {
    case ast::StmtKind::kLet: return CheckLet(ast::Cast<ast::LetStmt>(stmt));
    case ast::StmtKind::kVar: return CheckVar(ast::Cast<ast::VarStmt>(stmt));
    case ast::StmtKind::kAssign: return CheckAssign(ast::Cast<ast::AssignStmt>(stmt));
    case ast::StmtKind::kArrow: return CheckArrow(ast::Cast<ast::ArrowStmt>(stmt));
    case ast::StmtKind::kFor: return CheckFor(ast::Cast<ast::ForStmt>(stmt));
    case ast::StmtKind::kIf: return CheckIf(ast::Cast<ast::IfStmt>(stmt));
    case ast::StmtKind::kEach:
      GateFeature({stmt.span.file, stmt.span.begin, stmt.span.begin + 4}, "`each`");
      return CheckBlock(ast::Cast<ast::EachStmt>(stmt).body);
  }
}

void Elaborator::DeclareValue(const ast::Name& name, Value value) {
  if (const Symbol* old = scope_->Find(name.text); old != nullptr && !old->can_be_hidden) {
    const std::string_view what = old->what;
    diagnostics_
        .Error(DiagnosticKind::kHiddenName, name.span, fmt::format("`{}` would hide the {} `{}`", name.text, what, name.text))
        .Label(name.span, "declared again")
        .Note(old->span, fmt::format("the {} is declared here", what))
        .Help("choose another name");
  }
  Symbol symbol;  // also of a name that hides another: what is said of its uses is about this one
  symbol.value = std::move(value);
  symbol.span = name.span;
  scope_->Declare(name.text, std::move(symbol));
}

/// A value that can be used any number of times: what is not a leaf becomes a `let`.
Value Elaborator::BindNew(const std::string& name, Value value, Span span) {
  if (value.kind == Value::Kind::kTuple) {
    for (size_t i = 0; i < value.elements.size(); ++i) {
      const std::string field = i < value.names.size() && !value.names[i].empty() ? value.names[i] : fmt::format("{}", i);
      value.elements[i] = BindNew(fmt::format("{}_{}", name, field), std::move(value.elements[i]), span);
    }
    return value;
  }
  if (value.kind != Value::Kind::kExpr) return value;
  const ExprKind kind = value.expr->kind;
  const bool immutable = kind == ExprKind::kVar && kernel_.vars[value.expr->id].kind != VarKind::kMutable;
  if (immutable || kind == ExprKind::kInt || kind == ExprKind::kFloat || kind == ExprKind::kBool || kind == ExprKind::kDim ||
      kind == ExprKind::kParam || block_ == nullptr)
    return value;
  const Type type = value.expr->type;
  const Level level = value.expr->level;
  const typed::VarId var = AddVar(name, type, VarKind::kLet, level, span);
  if (!type.is_tile && level != Level::kWorker) symbolic_.Define(var, *value.expr);
  if (!type.is_tile && IsOfInstance(*value.expr)) of_instance_.emplace(var, Clone(*value.expr));
  typed::Stmt& stmt = Append(StmtKind::kLet, value.span);
  stmt.var = var;
  stmt.expr = std::move(value.expr);
  ExprPtr use = MakeNode(ExprKind::kVar, Op::kNone, type, {}, span);
  use->id = var;
  use->level = level;
  Value bound = ExprValue(std::move(use), span);
  bound.count = value.count;
  bound.divisor = value.divisor;
  bound.is_rounded = value.is_rounded;
  return bound;
}

/// What has a name from the way to the value only has that of the `let`: a slot that was received where nothing names it,
/// `let x = (<-q).rows(w)` of one instance, and what a function calls the result that it returns.
void Elaborator::NameAnew(const Value& value, const std::string& name) {
  if (value.kind != Value::Kind::kExpr || value.expr->kind != ExprKind::kVar || section_ == nullptr) return;
  typed::Var& var = kernel_.vars[value.expr->id];
  const auto is_pipe = [&](const typed::Pipe& pipe) { return pipe.name == var.name; };
  const bool is_of_pipe = var.kind == VarKind::kReceived && std::ranges::any_of(section_->pipes, is_pipe);
  const bool is_of_function = var.kind == VarKind::kLet && value.expr->id >= first_var_of_let_;
  if (is_of_pipe || is_of_function) var.name = name;
}

void Elaborator::BindName(const ast::Name& name, Value value, const std::optional<Type>& declared, bool is_mutable) {
  if (value.IsError()) {
    if (name.text != "_") DeclareValue(name, Error());
    return;
  }
  if (declared) {
    const Span span = value.span;
    const int64_t count = value.count;
    ExprPtr expr = Coerce(std::move(value), *declared, true, fmt::format("`{}`", name.text), name.span);
    value = expr ? ExprValue(std::move(expr), span) : Error();
    value.count = count;
    if (value.IsError()) return DeclareValue(name, Error());
  }
  if (name.text == "_") return;
  if (!is_mutable) {
    NameAnew(value, name.text);
    return DeclareValue(name, BindNew(name.text, std::move(value), name.span));
  }
  if (value.kind != Value::Kind::kExpr) {
    DiagnosticBuilder report = diagnostics_.Error(DiagnosticKind::kTypeMismatch, value.span, "a `var` holds a number or a tile");
    report.Label(value.span, fmt::format("is {}", Describe(value)));
    if (value.kind == Value::Kind::kTuple)
      report.Help(fmt::format("name each of the {} values: `var ({}_0, {}_1{}) = ..`", value.elements.size(), name.text, name.text,
                              value.elements.size() > 2 ? ", .." : ""));
    return DeclareValue(name, Error());
  }
  const Type type = value.expr->type;
  const typed::VarId var = AddVar(name.text, type, VarKind::kMutable, Level::kWorker, name.span);
  loops_of_[var] = loops_;
  typed::Stmt& stmt = Append(StmtKind::kLet, name.span);
  stmt.var = var;
  stmt.expr = std::move(value.expr);
  ExprPtr use = MakeNode(ExprKind::kVar, Op::kNone, type, {}, name.span);
  use->id = var;
  use->level = Level::kWorker;
  DeclareValue(name, ExprValue(std::move(use), name.span));
  if (Symbol* symbol = scope_->Find(name.text)) {
    symbol->var = var;
    symbol->has_declared_type = declared.has_value();
  }
}

std::vector<const ast::TypeExpr::Field*> Elaborator::FieldsOf(const ast::TypeExpr& tuple) {
  std::vector<const ast::TypeExpr::Field*> fields;
  for (const ast::TypeExpr::Field& field : tuple.fields) {
    const std::optional<int64_t> count = TimesOf(field);
    if (!count) return {};
    fields.insert(fields.end(), static_cast<size_t>(*count), &field);
  }
  return fields;
}

Value Elaborator::CoerceTuple(Value value, const ast::TypeExpr& type, const ast::Name& name) {
  if (type.kind != ast::TypeExpr::Kind::kTuple) {
    const std::optional<Type> declared = DeclaredType(type);
    const Span span = value.span;
    ExprPtr expr = declared && !value.IsError()
                       ? Coerce(std::move(value), *declared, true, fmt::format("`{}`", name.text), name.span)
                       : nullptr;
    return expr ? ExprValue(std::move(expr), span) : Error();
  }
  const std::vector<const ast::TypeExpr::Field*> fields = FieldsOf(type);
  if (fields.empty() || value.IsError()) return Error();
  if (value.kind != Value::Kind::kTuple || value.elements.size() != fields.size()) {
    diagnostics_
        .Error(DiagnosticKind::kTypeMismatch, value.span, fmt::format("`{}` is a tuple of {} values", name.text, fields.size()))
        .Label(type.span, fmt::format("{} fields", fields.size()))
        .Label(value.span, fmt::format("is {}", Describe(value)));
    return Error();
  }
  value.names.clear();
  for (size_t i = 0; i < fields.size(); ++i) {
    value.elements[i] = CoerceTuple(std::move(value.elements[i]), *fields[i]->type, name);
    if (value.elements[i].IsError()) return Error();
    value.names.push_back(fields[i]->name.text);
  }
  return value;
}

void Elaborator::BindLet(const ast::Pattern& pattern, const ast::TypeExpr* written, Value value, bool is_mutable) {
  if (!pattern.is_tuple) {
    if (written != nullptr && written->kind == ast::TypeExpr::Kind::kTuple)
      return BindName(pattern.names[0], CoerceTuple(std::move(value), *written, pattern.names[0]), std::nullopt, is_mutable);
    std::optional<Type> declared;
    if (written != nullptr) {
      declared = DeclaredType(*written);
      if (!declared) return DeclareValue(pattern.names[0], Error());
    }
    return BindName(pattern.names[0], std::move(value), declared, is_mutable);
  }
  if (!value.IsError() && (value.kind != Value::Kind::kTuple || value.elements.size() != pattern.names.size())) {
    diagnostics_
        .Error(DiagnosticKind::kTypeMismatch, pattern.span, fmt::format("{} names for {}", pattern.names.size(), Describe(value)))
        .Label(pattern.span, fmt::format("{} names", pattern.names.size()))
        .Label(value.span, fmt::format("is {}", Describe(value)));
    value = Error();
  }
  std::vector<std::optional<Type>> declared(pattern.names.size());
  if (written != nullptr && !value.IsError()) {
    const bool is_tuple = written->kind == ast::TypeExpr::Kind::kTuple;
    const std::vector<const ast::TypeExpr::Field*> fields =
        is_tuple ? FieldsOf(*written) : std::vector<const ast::TypeExpr::Field*>{};
    if (fields.size() != pattern.names.size()) {
      diagnostics_.Error(DiagnosticKind::kTypeMismatch, written->span,
                         fmt::format("{} names want a type with as many fields", pattern.names.size()));
    } else {
      for (size_t i = 0; i < declared.size(); ++i) declared[i] = DeclaredType(*fields[i]->type);
    }
  }
  for (size_t i = 0; i < pattern.names.size(); ++i) {
    BindName(pattern.names[i], value.IsError() ? Error() : std::move(value.elements[i]), declared[i], is_mutable);
  }
}

void Elaborator::CheckLet(const ast::LetStmt& stmt) {
  const Scoped first_var(first_var_of_let_, static_cast<typed::VarId>(kernel_.vars.size()));
  const auto* receive = ast::DynCast<ast::ReceiveExpr>(*stmt.value);
  Value value = receive != nullptr ? EvalReceive(*receive, &stmt.pattern) : Eval(*stmt.value);
  value.span = stmt.value->span;
  BindLet(stmt.pattern, stmt.type.get(), std::move(value), false);
}

void Elaborator::CheckVar(const ast::VarStmt& stmt) { BindLet(stmt.pattern, stmt.type.get(), Eval(*stmt.value), true); }

void Elaborator::CheckIf(const ast::IfStmt& stmt) {
  Value condition = Eval(*stmt.condition);
  if (!condition.IsError() && (!condition.IsScalar() || condition.expr->type.dtype != DType::kBool)) {
    DiagnosticBuilder report =
        diagnostics_.Error(DiagnosticKind::kTypeMismatch, stmt.condition->span, "the condition of `if` is one `bool`");
    report.Label(stmt.condition->span, fmt::format("is {}", Describe(condition)));
    if (condition.IsTile()) report.Help("ask `any(..)` or `all(..)`, or choose by element with `where(c, a, b)`");
    condition = Error();
  }
  if (condition.IsError()) {
    CheckBlock(stmt.then_branch);
    if (stmt.else_branch) CheckBlock(*stmt.else_branch);
    return;
  }
  if (const auto known = NumberOf(*condition.expr)) {
    section_->leaves_out |= *known == 0 || stmt.else_branch;
    if (*known != 0)
      CheckBlock(stmt.then_branch);
    else if (stmt.else_branch)
      CheckBlock(*stmt.else_branch);
    return;
  }
  const bool is_outermost = condition.expr->level == Level::kWorker && !worker_control_;
  const Scoped<std::optional<Span>> under_control(worker_control_, is_outermost ? stmt.condition->span : worker_control_);
  typed::Stmt& branch = Append(StmtKind::kIf, {stmt.span.file, stmt.span.begin, stmt.condition->span.end});
  branch.expr = std::move(condition.expr);
  const Scoped<typed::Block*> in_branch(block_, &branch.body);
  CheckBlock(stmt.then_branch);
  if (stmt.else_branch) {
    block_ = &branch.orelse;
    CheckBlock(*stmt.else_branch);
  }
}

}  // namespace tkc::sema

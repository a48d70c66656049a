// SPDX-License-Identifier: MIT
// Assignments: to a variable, to several, to a part of one.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "compiler/sema/elaborator.h"
#include "compiler/sema/views.h"
#include "compiler/support/scoped.h"

namespace tkc::sema {

using typed::ExprKind;
using typed::ExprPtr;
using typed::Op;
using typed::StmtKind;
using typed::Type;

const Symbol* Elaborator::AssignableVar(const ast::NameExpr& target, ast::AssignOp op) {
  const Symbol* symbol = scope_->Find(target.name);
  if (symbol == nullptr) {
    UnknownName(target.name, target.span, NameUse::kVar);
    return nullptr;
  }
  if (symbol->kind == SymbolKind::kValue && symbol->value.IsError()) return nullptr;
  if (symbol->var != typed::kNone) return symbol;
  const bool combines =
      op == ast::AssignOp::kAdd || op == ast::AssignOp::kSubtract || op == ast::AssignOp::kMax || op == ast::AssignOp::kMin;
  DiagnosticBuilder report =
      diagnostics_.Error(DiagnosticKind::kNotAssignable, target.span, fmt::format("`{}` can't be assigned", target.name));
  report.Note(symbol->span, symbol->kind == SymbolKind::kTensor ? "it is a tensor"
                            : symbol->kind == SymbolKind::kPipe ? "it is a pipe"
                                                                : "it is not declared by `var`");
  if (symbol->kind == SymbolKind::kTensor)
    report.Help(fmt::format("store to elements of it: `{} {} x`", ElementsText(*symbol), combines ? Spelling(op) : "<-"));
  else if (symbol->kind == SymbolKind::kPipe)
    report.Help(fmt::format("send: `{} <- x`", target.name));
  else if (symbol->can_be_hidden)
    report.Help(
        symbol->kind == SymbolKind::kValue && symbol->value.expr && !symbol->value.expr->type.is_tile
            ? fmt::format("declare it by `var {0} = ..`; if it is to hold a tile, with its type: `var {0}: f32[64, 64] = 0`",
                          target.name)
            : fmt::format("declare it by `var {} = ..`", target.name));
  else
    report.Help("it is the same in the whole kernel: give what changes a name of its own");
  return nullptr;
}

namespace {

Op OpOf(ast::AssignOp op) {
  switch (op) {
    case ast::AssignOp::kSet: return Op::kNone;
    case ast::AssignOp::kAdd: return Op::kAdd;
    case ast::AssignOp::kSubtract: return Op::kSub;
    case ast::AssignOp::kMultiply: return Op::kMul;
    case ast::AssignOp::kDivide: return Op::kDiv;
    case ast::AssignOp::kMax: return Op::kMax;
    case ast::AssignOp::kMin: return Op::kMin;
  }
  return Op::kNone;
}

bool IsStoreTarget(const ast::Expr& expr) {
  if (expr.kind == ast::ExprKind::kField) return IsStoreTarget(*ast::Cast<ast::FieldExpr>(expr).base);
  if (expr.kind == ast::ExprKind::kMethod) return IsStoreTarget(*ast::Cast<ast::MethodExpr>(expr).base);
  return expr.kind == ast::ExprKind::kIndex;
}

}  // namespace

void Elaborator::CheckAssign(const ast::AssignStmt& stmt) {
  if (IsStoreTarget(*stmt.target)) {
    switch (stmt.op) {
      case ast::AssignOp::kAdd: return CheckStore(*stmt.target, *stmt.value, typed::StoreOp::kAdd, false, stmt.op_span, stmt.span);
      case ast::AssignOp::kSubtract:
        return CheckStore(*stmt.target, *stmt.value, typed::StoreOp::kAdd, true, stmt.op_span, stmt.span);
      case ast::AssignOp::kMax: return CheckStore(*stmt.target, *stmt.value, typed::StoreOp::kMax, false, stmt.op_span, stmt.span);
      case ast::AssignOp::kMin: return CheckStore(*stmt.target, *stmt.value, typed::StoreOp::kMin, false, stmt.op_span, stmt.span);
      default:
        if (ReportSliceOfVariable(*stmt.target)) return;
        diagnostics_
            .Error(DiagnosticKind::kNotAssignable, stmt.op_span, fmt::format("`{}` on elements of a tensor", Spelling(stmt.op)))
            .Help(stmt.op == ast::AssignOp::kSet ? "a store is written `<-`" : "a tensor takes `<-`, `+=`, `-=`, `max=` and `min=`",
                  stmt.op == ast::AssignOp::kSet ? std::vector<Edit>{{stmt.op_span, "<-"}} : std::vector<Edit>{});
        return;
    }
  }
  const auto* variable = ast::DynCast<ast::NameExpr>(*stmt.target);
  const Symbol* symbol = variable ? scope_->Find(variable->name) : nullptr;
  const bool is_tile = symbol != nullptr && symbol->var != typed::kNone && kernel_.vars[symbol->var].type.is_tile;
  const Scoped<const ast::Expr*> assigned(assigned_, is_tile ? stmt.value.get() : nullptr);
  if (is_tile) assigned_type_ = kernel_.vars[symbol->var].type;
  Value value = Eval(*stmt.value);
  if (const auto* name = ast::DynCast<ast::NameExpr>(*stmt.target)) return AssignName(stmt, *name, std::move(value));
  if (const auto* tuple = ast::DynCast<ast::TupleExpr>(*stmt.target); tuple != nullptr && stmt.op == ast::AssignOp::kSet) {
    return AssignTuple(stmt, *tuple, std::move(value));
  }
  if (const auto* method = ast::DynCast<ast::MethodExpr>(*stmt.target)) return AssignPart(stmt, *method, std::move(value));
  diagnostics_.Error(DiagnosticKind::kNotAssignable, stmt.target->span, "this can't be assigned")
      .Help("a target is a `var`, a part of one, or elements of a tensor");
}

void Elaborator::AssignName(const ast::AssignStmt& stmt, const ast::NameExpr& target, Value value) {
  const Symbol* symbol = AssignableVar(target, stmt.op);
  if (symbol == nullptr || value.IsError()) return;
  const typed::VarId var = symbol->var;
  const bool declared = symbol->has_declared_type;
  if (value.expr && value.expr->type.is_tile && !kernel_.vars[var].type.is_tile) return ReportTileForNumber(target, *symbol, value);
  if (stmt.op != ast::AssignOp::kSet) {
    WarnOfRounding(stmt, target, *symbol);
    Value old = EvalName(target);
    old.span = target.span;
    if (ReportGrowth(stmt, old, value)) return;
    value = Combined(stmt, std::move(old), std::move(value));
  }
  ExprPtr expr = Coerce(std::move(value), kernel_.vars[var].type, declared, fmt::format("`{}`", target.name), target.span);
  if (!expr) return;
  typed::Stmt& typed_stmt = Append(StmtKind::kAssign, stmt.span);
  typed_stmt.var = var;
  typed_stmt.expr = std::move(expr);
}

/// What `x += value` and the like assign.
Value Elaborator::Combined(const ast::AssignStmt& stmt, Value old, Value value) {
  const Op op = OpOf(stmt.op);
  const Span span = value.span;
  Value result = op == Op::kMax || op == Op::kMin
                     ? MinMax(op, Spelling(stmt.op), std::move(old), std::move(value), stmt.op_span)
                     : Arithmetic(op, Spelling(stmt.op), std::move(old), std::move(value), stmt.span, stmt.op_span);
  result.span = span;
  return result;
}

/// A column with which a row is combined, or a row with a tile: the result is larger than the variable.
bool Elaborator::ReportGrowth(const ast::AssignStmt& stmt, const Value& old, const Value& value) {
  if (!old.IsTile() || !value.IsTile()) return false;
  const Type &mine = old.expr->type, &other = value.expr->type;
  const bool grows = (mine.rows == 1 && other.rows > 1) || (mine.cols == 1 && other.cols > 1);
  const auto fits = [](int64_t m, int64_t n) { return m == n || m == 1 || n == 1; };
  if (!grows || !fits(mine.rows, other.rows) || !fits(mine.cols, other.cols)) return false;
  DiagnosticBuilder report =
      diagnostics_.Error(DiagnosticKind::kShapeMismatch, stmt.op_span,
                         fmt::format("`{}` of shapes [{}, {}] and [{}, {}] is no [{}, {}]", Spelling(stmt.op), mine.rows, mine.cols,
                                     other.rows, other.cols, mine.rows, mine.cols));
  report.Label(old.span, fmt::format("`{}`", TypeText(mine))).Label(value.span, fmt::format("`{}`", TypeText(other)));
  NoteDeclaration(old, report);
  const typed::Expr* reduced = value.expr.get();
  while (reduced->kind == ExprKind::kConvert) reduced = reduced->args[0].get();
  if (reduced->kind == ExprKind::kReduce && mine.rows == reduced->args[0]->type.rows && mine.cols == 1)
    report.Help("`rowsum`, `rowmax` and `rowmin` give a column: one number of each row");
  else if (reduced->kind == ExprKind::kReduce && mine.cols == reduced->args[0]->type.cols && mine.rows == 1)
    report.Help("`colsum`, `colmax` and `colmin` give a row: one number of each column");
  else if (mine.rows == other.cols && mine.cols == other.rows)
    report.Help("transpose it: `.T`");
  return true;
}

/// A sum of a loop in a variable of 16 bits or less.
void Elaborator::WarnOfRounding(const ast::AssignStmt& stmt, const ast::NameExpr& target, const Symbol& symbol) {
  const DType dtype = kernel_.vars[symbol.var].type.dtype;
  const bool adds = stmt.op == ast::AssignOp::kAdd || stmt.op == ast::AssignOp::kSubtract;
  if (!adds || !IsNarrowFloat(dtype) || loops_of_[symbol.var] >= loops_) return;
  loops_of_[symbol.var] = std::numeric_limits<int>::max();  // once
  diagnostics_
      .Warning(DiagnosticKind::kRoundedAdd, stmt.op_span,
               fmt::format("each `{}` on `{}` rounds to `{}`", Spelling(stmt.op), target.name, Name(dtype)))
      .Note(symbol.span, "declared here")
      .Help("let it be `f32`, and convert once behind the loop");
}

/// `var acc = 0` and later `acc += a @ b`: what begins as a number stays one.
void Elaborator::ReportTileForNumber(const ast::NameExpr& target, const Symbol& symbol, const Value& value) {
  const std::string type = TypeText(value.expr->type);
  diagnostics_.Error(DiagnosticKind::kTypeMismatch, target.span, fmt::format("`{}` is a number and is given a tile", target.name))
      .Label(target.span, fmt::format("is `{}`", TypeText(kernel_.vars[symbol.var].type)))
      .Label(value.span, fmt::format("`{}`", type))
      .Note(symbol.span, "declared here")
      .Help(fmt::format("declare it as a tile: `var {}: {} = ..`", target.name, type),
            Edit{{symbol.span.file, symbol.span.end, symbol.span.end}, ": " + type});
  scope_->Find(target.name)->value = Error();  // nothing else is reported of it
}

void Elaborator::AssignTuple(const ast::AssignStmt& stmt, const ast::TupleExpr& target, Value value) {
  if (value.IsError()) return;
  if (value.kind != Value::Kind::kTuple || value.elements.size() != target.elements.size()) {
    diagnostics_.Error(DiagnosticKind::kTypeMismatch, stmt.target->span,
                       fmt::format("{} targets for {}", target.elements.size(), Describe(value)));
    return;
  }
  // All values are taken before the first target changes. A plain read of a `var` that is not assigned here needs no copy.
  std::vector<const Symbol*> symbols;
  for (const ast::ExprPtr& element : target.elements) {
    const auto* name = ast::DynCast<ast::NameExpr>(*element);
    if (name == nullptr) {
      diagnostics_.Error(DiagnosticKind::kNotAssignable, element->span, "an element of a tuple of targets is a `var`");
      return;
    }
    symbols.push_back(AssignableVar(*name, stmt.op));
    if (symbols.back() == nullptr) return;
  }
  std::vector<typed::VarId> vars;
  for (const Symbol* symbol : symbols) vars.push_back(symbol->var);
  for (size_t i = 0; i < vars.size(); ++i) {
    const typed::Var& var = kernel_.vars[vars[i]];
    ExprPtr expr = Coerce(std::move(value.elements[i]), var.type, symbols[i]->has_declared_type, fmt::format("`{}`", var.name),
                          target.elements[i]->span);
    if (!expr) return;
    const bool is_leaf = expr->kind == ExprKind::kVar && std::find(vars.begin(), vars.end(), expr->id) == vars.end();
    const Span span = expr->span;
    Value taken = ExprValue(std::move(expr), span);
    value.elements[i] = is_leaf ? std::move(taken) : BindNew("next_" + kernel_.vars[vars[i]].name, std::move(taken), span);
  }
  for (size_t i = 0; i < vars.size(); ++i) {
    typed::Stmt& typed_stmt = Append(StmtKind::kAssign, stmt.span);
    typed_stmt.var = vars[i];
    typed_stmt.expr = std::move(value.elements[i].expr);
  }
}

void Elaborator::AssignPart(const ast::AssignStmt& stmt, const ast::MethodExpr& target, Value value) {
  std::vector<const ast::MethodExpr*> parts{&target};  // the outermost first, which is the last that is taken
  while (const auto* inner = ast::DynCast<ast::MethodExpr>(*parts.back()->base)) parts.push_back(inner);
  const auto* name = ast::DynCast<ast::NameExpr>(*parts.back()->base);
  if (name == nullptr) {
    diagnostics_.Error(DiagnosticKind::kNotAssignable, stmt.target->span, "this can't be assigned")
        .Help("a target is a `var`, a part of one, or elements of a tensor");
    return;
  }
  const Symbol* symbol = AssignableVar(*name, stmt.op);
  if (symbol == nullptr || value.IsError()) return;
  const typed::VarId var = symbol->var;
  const bool declared = symbol->has_declared_type;
  const Type whole = kernel_.vars[var].type;
  if (!whole.is_tile) {
    diagnostics_.Error(DiagnosticKind::kTypeMismatch, stmt.target->span, "a part of a number")
        .Label(name->span, fmt::format("is `{}`", TypeText(whole)));
    return;
  }
  Type type = whole;
  ExprPtr row = MakeInt(0, target.span), col = MakeInt(0, target.span);
  Value old = EvalName(*name);
  for (auto method = parts.rbegin(); method != parts.rend(); ++method) {
    const int axis = (*method)->method.text == "rows" ? 0 : 1;
    int64_t& extent = axis == 0 ? type.rows : type.cols;
    std::optional<PartOf> part = PartIndex(**method, extent, (*method)->base->span, fmt::format("`{}`", TypeText(type)));
    if (!part) return;
    extent = part->extent;
    old = ExprValue(Part(std::move(old.expr), axis, Clone(*part->offset), extent, target.span), target.span);
    ExprPtr& offset = axis == 0 ? row : col;
    offset = MakeInteger(Op::kAdd, std::move(offset), std::move(part->offset), target.span);
  }
  if (stmt.op != ast::AssignOp::kSet) value = Combined(stmt, std::move(old), std::move(value));
  ExprPtr expr = Coerce(std::move(value), type, declared, fmt::format("the part of `{}`", name->name), target.span);
  if (!expr) return;
  typed::Stmt& typed_stmt = Append(type == whole ? StmtKind::kAssign : StmtKind::kAssignPart, stmt.span);
  typed_stmt.var = var;
  typed_stmt.expr = std::move(expr);
  if (type == whole) return;
  typed_stmt.row = std::move(row);
  typed_stmt.col = std::move(col);
}

}  // namespace tkc::sema

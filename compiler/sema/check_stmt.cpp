// SPDX-License-Identifier: MIT
// Statements that bind, assign and steer. Sends and stores are in check_traffic.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/sema/elaborator.h"

namespace tkc::sema {

using typed::ExprKind;
using typed::ExprPtr;
using typed::Level;
using typed::Op;
using typed::StmtKind;
using typed::Type;
using typed::VarKind;

namespace {

constexpr int64_t kMostUnrolled = 64;
constexpr int64_t kMostExpansions = 20000;

/// Does the index `name` choose a part, a slice, a ring, or go into a function: then its value has to be known.
class NeedsNumber {
 public:
  explicit NeedsNumber(const std::string& name) : name_(name) {}

  bool In(const ast::Block& block) const {
    return std::any_of(block.stmts.begin(), block.stmts.end(), [&](const ast::StmtPtr& stmt) { return In(*stmt); });
  }

 private:
  bool In(const ast::Stmt& stmt) const {
    switch (stmt.kind) {
      case ast::StmtKind::kLet: return In(*ast::Cast<ast::LetStmt>(stmt).value, false);
      case ast::StmtKind::kVar: return In(*ast::Cast<ast::VarStmt>(stmt).value, false);
      case ast::StmtKind::kAssign: {
        const auto& assign = ast::Cast<ast::AssignStmt>(stmt);
        return In(*assign.target, false) || In(*assign.value, false);
      }
      case ast::StmtKind::kArrow: {
        const auto& arrow = ast::Cast<ast::ArrowStmt>(stmt);
        // `p[u] <- x` names a ring; a store `Y[u] <- x` an element. A number serves both.
        const auto* index = ast::DynCast<ast::IndexExpr>(*arrow.target);
        return In(*arrow.target, index != nullptr && index->indices.size() == 1) || In(*arrow.value, false);
      }
      case ast::StmtKind::kFor: return In(ast::Cast<ast::ForStmt>(stmt).body);
      case ast::StmtKind::kIf: {
        const auto& branch = ast::Cast<ast::IfStmt>(stmt);
        return In(*branch.condition, false) || In(branch.then_branch) || (branch.else_branch && In(*branch.else_branch));
      }
      case ast::StmtKind::kEach: return In(ast::Cast<ast::EachStmt>(stmt).body);
    }
    return false;
  }

  bool In(const ast::Expr& expr, bool wanted) const {
    const auto any = [&](const std::vector<ast::ExprPtr>& list, bool want) {
      return std::any_of(list.begin(), list.end(), [&](const ast::ExprPtr& e) { return In(*e, want); });
    };
    switch (expr.kind) {
      case ast::ExprKind::kName: return wanted && ast::Cast<ast::NameExpr>(expr).name == name_;
      case ast::ExprKind::kUnary: return In(*ast::Cast<ast::UnaryExpr>(expr).operand, wanted);
      case ast::ExprKind::kBinary:
        return In(*ast::Cast<ast::BinaryExpr>(expr).left, wanted) || In(*ast::Cast<ast::BinaryExpr>(expr).right, wanted);
      case ast::ExprKind::kCall: return any(ast::Cast<ast::CallExpr>(expr).arguments, true);
      case ast::ExprKind::kMethod:
        return In(*ast::Cast<ast::MethodExpr>(expr).base, wanted) || any(ast::Cast<ast::MethodExpr>(expr).arguments, true);
      case ast::ExprKind::kField: return In(*ast::Cast<ast::FieldExpr>(expr).base, wanted);
      case ast::ExprKind::kTuple: return any(ast::Cast<ast::TupleExpr>(expr).elements, wanted);
      case ast::ExprKind::kReceive:
        return ast::Cast<ast::ReceiveExpr>(expr).index && In(*ast::Cast<ast::ReceiveExpr>(expr).index, true);
      case ast::ExprKind::kIf:
        return In(*ast::Cast<ast::IfExpr>(expr).condition, wanted) ||
               In(*ast::Cast<ast::IfExpr>(expr).then_branch.result, wanted) ||
               In(*ast::Cast<ast::IfExpr>(expr).else_branch.result, wanted);
      case ast::ExprKind::kIndex: {
        const auto& index = ast::Cast<ast::IndexExpr>(expr);
        if (In(*index.base, wanted)) return true;
        for (const ast::Index& i : index.indices) {
          if (i.expr && In(*i.expr, wanted || i.kind == ast::Index::Kind::kSlice)) return true;
        }
        return false;
      }
      default: return false;
    }
  }

  const std::string& name_;
};

}  // namespace

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
    return;
  }
  Symbol symbol;
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
  typed::Stmt& stmt = Append(StmtKind::kLet, value.span);
  stmt.var = var;
  stmt.expr = std::move(value.expr);
  ExprPtr use = MakeNode(ExprKind::kVar, Op::kNone, type, {}, span);
  use->id = var;
  use->level = level;
  Value bound = ExprValue(std::move(use), span);
  bound.count = value.count;
  return bound;
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
  if (!is_mutable) return DeclareValue(name, BindNew(name.text, std::move(value), name.span));
  if (value.kind != Value::Kind::kExpr) {
    diagnostics_.Error(DiagnosticKind::kTypeMismatch, value.span, "a `var` holds a number or a tile")
        .Label(value.span, fmt::format("is {}", Describe(value)));
    return DeclareValue(name, Error());
  }
  const Type type = value.expr->type;
  const typed::VarId var = AddVar(name.text, type, VarKind::kMutable, Level::kWorker, name.span);
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

void Elaborator::BindLet(const ast::Pattern& pattern, const ast::TypeExpr* written, Value value, bool is_mutable) {
  if (!pattern.is_tuple) {
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
    if (written->kind != ast::TypeExpr::Kind::kTuple || written->fields.size() != pattern.names.size()) {
      diagnostics_.Error(DiagnosticKind::kTypeMismatch, written->span,
                         fmt::format("{} names want a type with as many fields", pattern.names.size()));
    } else {
      for (size_t i = 0; i < declared.size(); ++i) declared[i] = DeclaredType(*written->fields[i].type);
    }
  }
  for (size_t i = 0; i < pattern.names.size(); ++i) {
    BindName(pattern.names[i], value.IsError() ? Error() : std::move(value.elements[i]), declared[i], is_mutable);
  }
}

void Elaborator::CheckLet(const ast::LetStmt& stmt) {
  const auto* receive = ast::DynCast<ast::ReceiveExpr>(*stmt.value);
  Value value = receive != nullptr ? EvalReceive(*receive, &stmt.pattern) : Eval(*stmt.value);
  value.span = stmt.value->span;
  BindLet(stmt.pattern, stmt.type.get(), std::move(value), false);
}

void Elaborator::CheckVar(const ast::VarStmt& stmt) { BindLet(stmt.pattern, stmt.type.get(), Eval(*stmt.value), true); }

const Symbol* Elaborator::AssignableVar(const ast::NameExpr& target) {
  const Symbol* symbol = scope_->Find(target.name);
  if (symbol == nullptr) {
    UnknownName(target.name, target.span);
    return nullptr;
  }
  if (symbol->kind == SymbolKind::kValue && symbol->value.IsError()) return nullptr;
  if (symbol->var != typed::kNone) return symbol;
  DiagnosticBuilder report =
      diagnostics_.Error(DiagnosticKind::kNotAssignable, target.span, fmt::format("`{}` can't be assigned", target.name));
  report.Note(symbol->span, symbol->kind == SymbolKind::kTensor ? "it is a tensor"
                            : symbol->kind == SymbolKind::kPipe ? "it is a pipe"
                                                                : "it is not declared by `var`");
  if (symbol->kind == SymbolKind::kTensor)
    report.Help(fmt::format("store to elements of it: `{}[..] <- x`", target.name));
  else if (symbol->kind == SymbolKind::kPipe)
    report.Help(fmt::format("send: `{} <- x`", target.name));
  else
    report.Help(fmt::format("declare it by `var {} = ..`", target.name));
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
        diagnostics_
            .Error(DiagnosticKind::kNotAssignable, stmt.op_span, fmt::format("`{}` on elements of a tensor", Spelling(stmt.op)))
            .Help(stmt.op == ast::AssignOp::kSet ? "a store is written `<-`" : "a tensor takes `<-`, `+=`, `-=`, `max=` and `min=`",
                  stmt.op == ast::AssignOp::kSet ? std::vector<Edit>{{stmt.op_span, "<-"}} : std::vector<Edit>{});
        return;
    }
  }
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
  const Symbol* symbol = AssignableVar(target);
  if (symbol == nullptr || value.IsError()) return;
  const typed::VarId var = symbol->var;
  const bool declared = symbol->has_declared_type;
  const Span span = value.span;
  if (stmt.op != ast::AssignOp::kSet) {
    Value old = EvalName(target);
    old.span = target.span;
    const Op op = OpOf(stmt.op);
    value = op == Op::kMax || op == Op::kMin
                ? MinMax(op, Spelling(stmt.op), std::move(old), std::move(value), stmt.op_span)
                : Arithmetic(op, Spelling(stmt.op), std::move(old), std::move(value), stmt.span, stmt.op_span);
    value.span = span;
  }
  ExprPtr expr = Coerce(std::move(value), kernel_.vars[var].type, declared, fmt::format("`{}`", target.name), target.span);
  if (!expr) return;
  typed::Stmt& typed_stmt = Append(StmtKind::kAssign, stmt.span);
  typed_stmt.var = var;
  typed_stmt.expr = std::move(expr);
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
    symbols.push_back(AssignableVar(*name));
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
  const auto* name = ast::DynCast<ast::NameExpr>(*target.base);
  if (name == nullptr) {
    diagnostics_.Error(DiagnosticKind::kNotAssignable, stmt.target->span, "this can't be assigned")
        .Help("a target is a `var`, a part of one, or elements of a tensor");
    return;
  }
  const Symbol* symbol = AssignableVar(*name);
  if (symbol == nullptr || value.IsError()) return;
  const typed::VarId var = symbol->var;
  const bool declared = symbol->has_declared_type;
  const Type whole = kernel_.vars[var].type;
  if (!whole.is_tile) {
    diagnostics_.Error(DiagnosticKind::kTypeMismatch, stmt.target->span, "a part of a number")
        .Label(name->span, fmt::format("is `{}`", TypeText(whole)));
    return;
  }
  const int axis = target.method.text == "rows" ? 0 : 1;
  std::optional<PartOf> part =
      PartIndex(target, axis == 0 ? whole.rows : whole.cols, name->span, fmt::format("`{}`", TypeText(whole)));
  if (!part) return;
  Type type = whole;
  (axis == 0 ? type.rows : type.cols) = part->extent;
  const Span span = value.span;
  if (stmt.op != ast::AssignOp::kSet) {
    Value old = EvalName(*name);
    old = ExprValue(Part(std::move(old.expr), axis, Clone(*part->offset), part->extent, target.span), target.span);
    const Op op = OpOf(stmt.op);
    value = op == Op::kMax || op == Op::kMin
                ? MinMax(op, Spelling(stmt.op), std::move(old), std::move(value), stmt.op_span)
                : Arithmetic(op, Spelling(stmt.op), std::move(old), std::move(value), stmt.span, stmt.op_span);
    value.span = span;
  }
  ExprPtr expr = Coerce(std::move(value), type, declared, fmt::format("the part of `{}`", name->name), target.span);
  if (!expr) return;
  typed::Stmt& typed_stmt = Append(type == whole ? StmtKind::kAssign : StmtKind::kAssignPart, stmt.span);
  typed_stmt.var = var;
  typed_stmt.expr = std::move(expr);
  if (type == whole) return;
  typed_stmt.row = axis == 0 ? std::move(part->offset) : MakeInt(0, target.span);
  typed_stmt.col = axis == 0 ? MakeInt(0, target.span) : std::move(part->offset);
}

RangeInfo Elaborator::CheckRange(const ast::Range& range) {
  RangeInfo info;
  bool ok = true;
  if (range.step) {
    const std::optional<int64_t> step = Constant(*range.step, "the size of a block");
    ok = step.has_value();
    if (ok && (*step < 1 || *step > (1 << 20))) {
      diagnostics_.Error(DiagnosticKind::kBadIndex, range.step->span, fmt::format("blocks of {} elements", *step));
      ok = false;
    }
    info.step = step.value_or(1);
    info.is_block = true;
  }
  Value high = Eval(*range.high);
  if (range.low) {
    info.lo = IntegerScalar(Eval(*range.low), "the start of a range");
    info.hi = IntegerScalar(std::move(high), "the end of a range");
  } else if (high.kind == Value::Kind::kBlock) {
    const BlockIndex& block = *high.block;
    info.lo = Clone(*block.start);
    if (block.shifted) info.lo = MakeInteger(Op::kMax, std::move(info.lo), Clone(*block.lo), range.span);
    info.hi = MakeInteger(Op::kMin, MakeInteger(Op::kAdd, Clone(*block.start), MakeInt(block.step, range.span), range.span),
                          Clone(*block.hi), range.span);
  } else {
    info.lo = MakeInt(0, range.span);
    info.hi = IntegerScalar(std::move(high), "a range");
  }
  info.ok = ok && info.lo && info.hi;
  return info;
}

Value Elaborator::LoopValue(typed::VarId var, const RangeInfo& range, Span span) {
  ExprPtr start = MakeNode(ExprKind::kVar, Op::kNone, Type::Scalar(DType::kI64), {}, span);
  start->id = var;
  start->level = Level::kGrid;
  if (!range.is_block) {
    Value value = ExprValue(std::move(start), span);
    const std::optional<int64_t> hi = NumberOf(*range.hi);
    if (NumberOf(*range.lo) == 0 && hi) value.count = std::max<int64_t>(0, *hi);
    return value;
  }
  auto block = std::make_shared<BlockIndex>();
  block->start = std::move(start);
  block->lo = Clone(*range.lo);
  block->hi = Clone(*range.hi);
  block->step = range.step;
  Value value;
  value.kind = Value::Kind::kBlock;
  value.block = std::move(block);
  value.span = span;
  return value;
}

bool Elaborator::UnrollFor(const ast::ForStmt& stmt, const RangeInfo& range) {
  const std::optional<int64_t> lo = NumberOf(*range.lo);
  const std::optional<int64_t> hi = NumberOf(*range.hi);
  if (range.is_block || !lo || !hi || !NeedsNumber(stmt.index.text).In(stmt.body)) return false;
  if (*hi - *lo > kMostUnrolled) return false;
  for (int64_t i = *lo; i < *hi; ++i) {
    if (++expansions_ > kMostExpansions) {
      if (expansions_ == kMostExpansions + 1) {
        diagnostics_.Error(DiagnosticKind::kNestingTooDeep, stmt.index.span,
                           fmt::format("calls and unrolled loops make more than {} copies", kMostExpansions));
      }
      return true;
    }
    scope_->Open();
    Value index = ExprValue(MakeInt(i, stmt.index.span), stmt.index.span);
    if (*lo == 0) index.count = *hi;
    DeclareValue(stmt.index, std::move(index));
    CheckStmts(stmt.body.stmts);
    scope_->Close();
  }
  return true;
}

void Elaborator::CheckFor(const ast::ForStmt& stmt) {
  RangeInfo range = CheckRange(stmt.range);
  if (!range.ok) {
    scope_->Open();
    DeclareValue(stmt.index, Error());
    CheckStmts(stmt.body.stmts);
    scope_->Close();
    return;
  }
  if (UnrollFor(stmt, range)) return;
  // A range is computed once, before the first iteration.
  const auto bind = [&](ExprPtr& bound, const char* suffix) {
    if (CountNodes(*bound, 6) < 6) return;
    const Span span = bound->span;
    bound = std::move(BindNew(stmt.index.text + suffix, ExprValue(std::move(bound), span), span).expr);
  };
  bind(range.lo, "_begin");
  bind(range.hi, "_end");
  const typed::VarId var = AddVar(stmt.index.text, Type::Scalar(DType::kI64), VarKind::kLoop, Level::kGrid, stmt.index.span);
  // Messages and quotes show the head of a loop, not its body.
  typed::Stmt& loop = Append(StmtKind::kFor, {stmt.span.file, stmt.span.begin, stmt.range.span.end});
  loop.var = var;
  loop.step = range.step;
  loop.is_block_loop = range.is_block;
  loop.lo = Clone(*range.lo);
  loop.hi = Clone(*range.hi);
  typed::Block* outer = block_;
  block_ = &loop.body;
  scope_->Open();
  DeclareValue(stmt.index, LoopValue(var, range, stmt.index.span));
  CheckStmts(stmt.body.stmts);
  scope_->Close();
  block_ = outer;
}

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
    if (*known != 0)
      CheckBlock(stmt.then_branch);
    else if (stmt.else_branch)
      CheckBlock(*stmt.else_branch);
    return;
  }
  const std::optional<Span> outer_control = worker_control_;
  if (condition.expr->level == Level::kWorker && !worker_control_) worker_control_ = stmt.condition->span;
  typed::Stmt& branch = Append(StmtKind::kIf, {stmt.span.file, stmt.span.begin, stmt.condition->span.end});
  branch.expr = std::move(condition.expr);
  typed::Block* outer = block_;
  block_ = &branch.body;
  CheckBlock(stmt.then_branch);
  if (stmt.else_branch) {
    block_ = &branch.orelse;
    CheckBlock(*stmt.else_branch);
  }
  block_ = outer;
  worker_control_ = outer_control;
}

}  // namespace tkc::sema

// SPDX-License-Identifier: MIT
// Sends and stores: what leaves a worker.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "compiler/sema/elaborator.h"
#include "compiler/sema/views.h"
#include "compiler/syntax/source_text.h"

namespace tkc::sema {

using typed::ExprKind;
using typed::ExprPtr;
using typed::Op;
using typed::StmtKind;
using typed::StoreOp;
using typed::Type;

namespace {

/// The innermost name of `p`, `p[u]`, `p.rows(w)`, `p.name`.
const ast::NameExpr* RootName(const ast::Expr& expr) {
  switch (expr.kind) {
    case ast::ExprKind::kName: return &ast::Cast<ast::NameExpr>(expr);
    case ast::ExprKind::kIndex: return RootName(*ast::Cast<ast::IndexExpr>(expr).base);
    case ast::ExprKind::kField: return RootName(*ast::Cast<ast::FieldExpr>(expr).base);
    case ast::ExprKind::kMethod: return RootName(*ast::Cast<ast::MethodExpr>(expr).base);
    default: return nullptr;
  }
}

}  // namespace

void Elaborator::CheckTrafficLevel(Span span, std::string_view what) {
  if (!worker_control_) return;
  diagnostics_.Error(DiagnosticKind::kWorkerLevel, span, fmt::format("a {} under a condition that only this worker knows", what))
      .Label(span, fmt::format("this {} is conditional", what))
      .Note(*worker_control_, "the condition depends on tile data or on a `var`")
      .Help(
          "make the condition of numbers, dimensions, launch scalars, indices and elements of `in` integer tensors, or choose "
          "values with `where`");
}

void Elaborator::CheckArrow(const ast::ArrowStmt& stmt) {
  const ast::NameExpr* root = RootName(*stmt.target);
  if (root == nullptr) {
    diagnostics_.Error(DiagnosticKind::kNotAssignable, stmt.target->span, "`<-` leads to a pipe or to elements of a tensor");
    return;
  }
  const Symbol* symbol = scope_->Find(root->name);
  if (symbol == nullptr) {
    Eval(*stmt.value);
    UnknownName(root->name, root->span, stmt.target->kind == ast::ExprKind::kName ? NameUse::kPipe : NameUse::kValue);
    return;
  }
  if (symbol->kind == SymbolKind::kPipe) return CheckSend(stmt, symbol->id);
  if (symbol->kind == SymbolKind::kTensor && stmt.target->kind != ast::ExprKind::kName) {
    return CheckStore(*stmt.target, *stmt.value, StoreOp::kSet, false, stmt.arrow_span, stmt.span);
  }
  Eval(*stmt.value);
  if (symbol->kind == SymbolKind::kValue && symbol->value.IsError()) return;
  if (symbol->kind == SymbolKind::kTensor) return ReportWholeTensor(*root);
  DiagnosticBuilder report =
      diagnostics_.Error(DiagnosticKind::kNotAssignable, stmt.target->span,
                         fmt::format("`<-` leads to a pipe or to elements of a tensor, not to `{}`", root->name));
  report.Note(symbol->span, "declared here");
  if (symbol->var != typed::kNone) report.Help("a `var` is assigned by `=`", Edit{stmt.arrow_span, "="});
}

/// A store names elements: `C[m, n] <- x`, never `C <- x` or `C.T <- x`.
void Elaborator::ReportWholeTensor(const ast::NameExpr& target) {
  const Symbol& tensor = *scope_->Find(target.name);
  diagnostics_
      .Error(DiagnosticKind::kNotAssignable, target.span,
             fmt::format("`<-` leads to a pipe or to elements of a tensor, not to `{}`", target.name))
      .Note(tensor.span, "declared here")
      .Help(fmt::format("name the elements: `{} <- x`", ElementsText(tensor)));
}

/// Ring, field and part of `p`, `p[u]`, `p.name`, `p.rows(w)`; `type` starts as the type of the one field, if there is one.
bool Elaborator::ParseSendTarget(const ast::Expr& target, typed::Stmt& send, const typed::Pipe& pipe, Type& type) {
  if (target.kind == ast::ExprKind::kName) return true;
  if (const auto* index = ast::DynCast<ast::IndexExpr>(target))
    return ParseSendTarget(*index->base, send, pipe, type) && SendToRing(*index, send, pipe);
  if (const auto* field = ast::DynCast<ast::FieldExpr>(target))
    return ParseSendTarget(*field->base, send, pipe, type) && SendToField(*field, send, pipe, type);
  const auto& method = ast::Cast<ast::MethodExpr>(target);
  return ParseSendTarget(*method.base, send, pipe, type) && SendToPart(method, send, pipe, type);
}

bool Elaborator::IsOfInstance(const typed::Expr& expr) const {
  if (expr.kind == ExprKind::kVar)
    return kernel_.vars[expr.id].kind == typed::VarKind::kInstance || of_instance_.count(expr.id) != 0;
  const bool is_made_of = expr.kind == ExprKind::kBinary || expr.kind == ExprKind::kUnary || expr.kind == ExprKind::kCall;
  if (!is_made_of) return NumberOf(expr).has_value();
  return std::all_of(expr.args.begin(), expr.args.end(), [&](const ExprPtr& arg) { return IsOfInstance(*arg); });
}

ExprPtr Elaborator::WithoutNames(const typed::Expr& expr) const {
  const auto named = expr.kind == ExprKind::kVar ? of_instance_.find(expr.id) : of_instance_.end();
  ExprPtr result = Clone(named == of_instance_.end() ? expr : *named->second);
  for (ExprPtr& arg : result->args) arg = WithoutNames(*arg);
  return result;
}

bool Elaborator::IsRing(const Value& ring, const typed::Pipe& pipe) {
  const bool is_number = ring.IsScalar() && ring.expr->type.dtype == DType::kI64 && ring.expr->level != typed::Level::kWorker;
  if (is_number && (ring.count != 0 || IsOfInstance(*ring.expr))) return true;
  DiagnosticBuilder report = diagnostics_.Error(
      DiagnosticKind::kRingIndex, ring.span,
      fmt::format("the ring of `{}` is neither a number that tkc knows nor the index of a loop over numbers", pipe.name));
  if (!ring.IsScalar()) report.Label(ring.span, fmt::format("is {}", Describe(ring)));
  report.Help(
      "index it by a number, by one made of the instance's, as `(w + 1) % 4`, or by a loop over numbers: `for u in 4`; a loop `by` "
      "goes over blocks");
  return false;
}

bool Elaborator::SendToRing(const ast::IndexExpr& target, typed::Stmt& send, const typed::Pipe& pipe) {
  if (pipe.per_worker == typed::kNone || target.indices.size() != 1 || target.indices[0].kind != ast::Index::Kind::kExpr ||
      send.ring) {
    diagnostics_
        .Error(DiagnosticKind::kRingIndex, target.span, fmt::format("`{}` is one pipe, not one for each instance", pipe.name))
        .Note(pipe.span, "declared here")
        .Help(
            "a part of a slot is sent by its number: `p.rows(u) <- x` or `p.cols(u) <- x`, with `u` of an instance or of `for u in "
            "4`");
    return false;
  }
  Value ring = Eval(*target.indices[0].expr);
  if (ring.IsError()) return false;
  if (!IsRing(ring, pipe)) return false;
  if (ring.count > kMostUnrolled) {
    diagnostics_
        .Error(DiagnosticKind::kRingIndex, ring.span,
               fmt::format("a loop of {} turns says which ring of `{}` is meant, which has {}", ring.count, pipe.name, pipe.rings))
        .Help(fmt::format("a loop that goes over the rings: `for u in {}`", pipe.rings));
    return false;
  }
  if (const auto number = NumberOf(*ring.expr); number && (*number < 0 || *number >= pipe.rings)) {
    diagnostics_
        .Error(DiagnosticKind::kRingIndex, ring.span, fmt::format("ring {} of `{}`, which has {}", *number, pipe.name, pipe.rings))
        .Note(pipe.span, "declared here");
    return false;
  }
  send.ring = WithoutNames(*ring.expr);
  return true;
}

bool Elaborator::SendToField(const ast::FieldExpr& target, typed::Stmt& send, const typed::Pipe& pipe, Type& type) {
  size_t position = target.position ? *target.position : pipe.fields.size();
  for (size_t i = 0; i < pipe.fields.size(); ++i) {
    if (!pipe.fields[i].name.empty() && pipe.fields[i].name == target.field.text) position = i;
  }
  if (position >= pipe.fields.size() || send.row) {
    diagnostics_
        .Error(DiagnosticKind::kUnknownName, target.field.span,
               fmt::format("a slot of `{}` has no field `{}`", pipe.name, target.field.text))
        .Note(pipe.span, "declared here");
    return false;
  }
  send.field = static_cast<int>(position);
  type = Type::Tile(pipe.fields[position].dtype, pipe.fields[position].rows, pipe.fields[position].cols);
  return true;
}

bool Elaborator::SendToPart(const ast::MethodExpr& target, typed::Stmt& send, const typed::Pipe& pipe, Type& type) {
  if (send.field == typed::kNone && pipe.fields.size() > 1) {
    diagnostics_
        .Error(DiagnosticKind::kTypeMismatch, target.method.span,
               fmt::format("a slot of `{}` has {} fields; a part is of one", pipe.name, pipe.fields.size()))
        .Note(pipe.span, "declared here")
        .Help(fmt::format("name the field: `{}.{}.{}(..)`", pipe.name, pipe.fields[0].name.empty() ? "0" : pipe.fields[0].name,
                          target.method.text));
    return false;
  }
  if (send.field == typed::kNone) send.field = 0;
  const int axis = target.method.text == "rows" ? 0 : 1;
  int64_t& extent = axis == 0 ? type.rows : type.cols;
  std::optional<PartOf> part = PartIndex(target, extent, target.base->span, fmt::format("`{}`", TypeText(type)));
  if (!part) return false;
  extent = part->extent;
  if (!send.row) send.row = MakeInt(0, target.span), send.col = MakeInt(0, target.span);
  ExprPtr& offset = axis == 0 ? send.row : send.col;
  offset = MakeInteger(Op::kAdd, std::move(offset), std::move(part->offset), target.span);
  return true;
}

namespace {

/// Values that do not fit the fields in the order written, but do in another.
bool ReportExchanged(const ast::ArrowStmt& stmt, const Value& value, const typed::Pipe& pipe, Diagnostics& diagnostics) {
  const auto* tuple = ast::DynCast<ast::TupleExpr>(*stmt.value);
  if (tuple == nullptr) return false;
  const auto fits = [&](size_t field, size_t element) {
    const Value& given = value.elements[element];
    return given.IsTile() && given.expr->type.rows == pipe.fields[field].rows && given.expr->type.cols == pipe.fields[field].cols;
  };
  std::vector<size_t> left(pipe.fields.size());
  std::iota(left.begin(), left.end(), size_t{0});
  bool is_exchanged = false;
  std::string ordered;
  for (size_t i = 0; i < pipe.fields.size(); ++i) {
    // What stands in its place stays there.
    const auto own = std::find_if(left.begin(), left.end(), [&](size_t element) { return element == i && fits(i, i); });
    const auto found = own != left.end() ? own : std::find_if(left.begin(), left.end(), [&](size_t element) {
      return fits(i, element) && !fits(element, element);
    });
    if (found == left.end()) return false;
    is_exchanged |= *found != i;
    ordered += (i == 0 ? "" : ", ") + ast::SourceText(*tuple->elements[*found]);
    left.erase(found);
  }
  if (!is_exchanged) return false;
  diagnostics
      .Error(DiagnosticKind::kShapeMismatch, stmt.value->span,
             fmt::format("the values come in another order than the fields of a slot of `{}`", pipe.name))
      .Note(pipe.span, "declared here")
      .Help(fmt::format("write `({})`", ordered), Edit{stmt.value->span, fmt::format("({})", ordered)});
  return true;
}

}  // namespace

/// The value, or a tuple with one value for each field, as what a slot holds.
bool Elaborator::SlotValues(const ast::ArrowStmt& stmt, Value value, const typed::Pipe& pipe, typed::Stmt& send) {
  const std::string slot = fmt::format("a slot of `{}`", pipe.name);
  if (value.kind != Value::Kind::kTuple || value.elements.size() != pipe.fields.size()) {
    DiagnosticBuilder report =
        diagnostics_.Error(DiagnosticKind::kTypeMismatch, value.span,
                           fmt::format("{} has {} fields, the value is {}", slot, pipe.fields.size(), Describe(value)));
    report.Label(value.span, fmt::format("is {}", Describe(value)))
        .Note(pipe.span, fmt::format("`{}` is declared here", pipe.name));
    const std::string& name = pipe.fields[0].name;
    report.Help(fmt::format(
        "a slot is sent at once, `{} <- (x, .., y)`, or field by field, {}", pipe.name,
        name.empty() ? fmt::format("where these have names: `pipe {}: (x: .., y: ..)`, `{}.x <- x`", pipe.name, pipe.name)
                     : fmt::format("`{}.{} <- x`", pipe.name, name)));
    return false;
  }
  if (ReportExchanged(stmt, value, pipe, diagnostics_)) return false;
  for (size_t i = 0; i < pipe.fields.size(); ++i) {
    const typed::PipeField& field = pipe.fields[i];
    const std::string what =
        fmt::format("field {} of {}", field.name.empty() ? fmt::format("{}", i) : "`" + field.name + "`", slot);
    const Type type = Type::Tile(field.dtype, field.rows, field.cols);
    ExprPtr expr = Coerce(std::move(value.elements[i]), type, true, what, stmt.target->span);
    if (!expr) return false;
    send.values.push_back(std::move(expr));
  }
  return true;
}

void Elaborator::CheckSend(const ast::ArrowStmt& stmt, typed::PipeId id) {
  if (worker_ == nullptr) {
    diagnostics_.Error(DiagnosticKind::kWorkerLevel, stmt.span, "a send outside a worker");
    return;
  }
  Value value = Eval(*stmt.value);
  CheckTrafficLevel(stmt.span, "send");
  const typed::Pipe& pipe = section_->pipes[id];
  typed::Stmt send;
  Type type = Type::Tile(pipe.fields[0].dtype, pipe.fields[0].rows, pipe.fields[0].cols);
  if (!ParseSendTarget(*stmt.target, send, pipe, type) || value.IsError()) return;
  if (pipe.per_worker != typed::kNone && !send.ring) {
    diagnostics_
        .Error(DiagnosticKind::kRingIndex, stmt.target->span, fmt::format("`{}` has a ring for each instance; name one", pipe.name))
        .Note(pipe.span, "declared here");
    return;
  }
  if (send.field == typed::kNone && pipe.fields.size() > 1) {
    if (!SlotValues(stmt, std::move(value), pipe, send)) return;
  } else {
    ExprPtr expr = Coerce(std::move(value), type, true, fmt::format("a slot of `{}`", pipe.name), stmt.target->span);
    if (!expr) return;
    send.values.push_back(std::move(expr));
  }
  if (send.field != typed::kNone) {
    // All of the only field is all of the slot.
    const typed::PipeField& field = pipe.fields[send.field];
    if (type.rows == field.rows && type.cols == field.cols) {
      send.row = nullptr;
      send.col = nullptr;
      if (pipe.fields.size() == 1) send.field = typed::kNone;
    }
  }
  typed::Stmt& appended = Append(StmtKind::kSend, stmt.span);
  appended.pipe = id;
  appended.ring = std::move(send.ring);
  appended.field = send.field;
  appended.row = std::move(send.row);
  appended.col = std::move(send.col);
  appended.values = std::move(send.values);
}

bool Elaborator::CheckStoreMode(const Access& access, StoreOp op, Span op_span) {
  const typed::Param& param = kernel_.params[access.tensor];
  if (param.kind == typed::ParamKind::kTensor && param.mode == typed::TensorMode::kIn) {
    diagnostics_.Error(DiagnosticKind::kWriteOfIn, op_span, fmt::format("`{}` is `in` and is written", param.name))
        .Note(param.span, "declared here")
        .Help(fmt::format("declare it `{}: out ..`, or `{}: inout ..` where it is read, too", param.name, param.name));
    return false;
  }
  if (op != StoreOp::kSet && param.mode == typed::TensorMode::kInOut) {
    diagnostics_.Error(DiagnosticKind::kAddWithoutPreset, op_span, fmt::format("`{}` is `inout` and combined with", param.name))
        .Note(param.span, "declared here")
        .Help("send what is there through a pipe, and store what becomes of it: `<-`");
    handed_on_.Write(access.tensor, op, op_span);
    return false;
  }
  if (op != StoreOp::kSet && !param.has_preset) {
    const char* preset = op == StoreOp::kAdd ? "0" : op == StoreOp::kMax ? "-inf" : "inf";
    diagnostics_
        .Error(DiagnosticKind::kAddWithoutPreset, op_span, fmt::format("`{}` is combined with, but holds nothing yet", param.name))
        .Note(param.span, "declared here, without a preset")
        .Help(fmt::format("have the launcher set it first: `= {}`", preset),
              Edit{{param.span.file, param.span.end, param.span.end}, fmt::format(" = {}", preset)})
        .Help("or, where one tile of work has the whole result, store it: `<-`");
    handed_on_.Write(access.tensor, op, op_span);
    return false;
  }
  if (op != StoreOp::kSet && Bytes(param.dtype) == 1) {
    diagnostics_.Error(DiagnosticKind::kTypeMismatch, op_span, fmt::format("elements of `{}` are not combined", Name(param.dtype)))
        .Note(param.span, "declared here")
        .Help(fmt::format("combine in an `{}` tensor and convert once at the end", IsInteger(param.dtype) ? "i32" : "f32"));
    return false;
  }
  if (!handed_on_.Write(access.tensor, op, op_span)) return true;
  if (const std::optional<Span> other = handed_on_.WriteOfOtherKind(access.tensor, op)) {
    diagnostics_
        .Error(DiagnosticKind::kMixedStores, op_span,
               fmt::format("`{}` is stored with `<-` and combined with in one grid; their order is not fixed", param.name))
        .Label(op_span, op == StoreOp::kSet ? "stored here" : "combined here")
        .Note(*other, op == StoreOp::kSet ? "combined here" : "stored here");
  }
  if (op == StoreOp::kAdd && IsNarrowFloat(param.dtype)) {
    diagnostics_
        .Warning(DiagnosticKind::kRoundedAdd, op_span,
                 fmt::format("each `+=` on `{}` rounds to `{}`", param.name, Name(param.dtype)))
        .Note(param.span, "declared here")
        .Help("let it be `f32` and convert once at the end");
  }
  return true;
}

bool Elaborator::ReportSliceOfVariable(const ast::Expr& target) {
  const ast::NameExpr* root = RootName(target);
  const Symbol* symbol = root == nullptr ? nullptr : scope_->Find(root->name);
  if (symbol == nullptr || symbol->var == typed::kNone) return false;
  const std::string& name = root->name;
  diagnostics_.Error(DiagnosticKind::kNotAssignable, target.span, fmt::format("a slice of `{}` can't be assigned", name))
      .Help(fmt::format(
          "a part of a variable is `{}.rows(u)` or `{}.cols(u)`, `u` the index of a loop over as many parts as there are, "
          "`for u in 4`",
          name, name));
  return true;
}

void Elaborator::CheckStore(const ast::Expr& target, const ast::Expr& source, StoreOp op, bool negate, Span op_span, Span span) {
  Value value = Eval(source);
  if (worker_ == nullptr) {
    diagnostics_.Error(DiagnosticKind::kWorkerLevel, span, "a store outside a worker");
    return;
  }
  const ast::NameExpr* root = RootName(target);
  const Symbol* tensor = root == nullptr ? nullptr : scope_->Find(root->name);
  if (tensor == nullptr || tensor->kind != SymbolKind::kTensor) {
    if (root != nullptr && tensor == nullptr) {
      UnknownName(root->name, root->span);
    } else if (!ReportSliceOfVariable(target) &&
               (tensor == nullptr || !tensor->value.IsError() || tensor->kind == SymbolKind::kPipe)) {
      diagnostics_.Error(DiagnosticKind::kNotAssignable, target.span, "this can't be assigned")
          .Help("a target is a `var`, a part of one by `.rows(w)` or `.cols(u)`, or elements of a tensor");
    }
    return;
  }
  CheckTrafficLevel(span, "store");
  Access access = ResolveTarget(target);
  if (!access.ok || !CheckStoreMode(access, op, op_span) || value.IsError()) return;
  const typed::Param& param = kernel_.params[access.tensor];
  // One element may be written from a tile of one element.
  if (!access.type.is_tile && value.IsTile() && value.expr->type.rows == 1 && value.expr->type.cols == 1) {
    access.axes.back().dropped = false;
    access.type = Type::Tile(param.dtype, 1, 1);
  }
  ExprPtr expr =
      Coerce(std::move(value), access.type, true, fmt::format("the target in `{}`", param.name), target.span, &access.axes);
  if (!expr) return;
  if (negate) {
    const Type type = expr->type;
    expr = MakeFolded(ExprKind::kUnary, Op::kNeg, type, Args(std::move(expr)), span);
  }
  if (access.transposed) expr = Transpose(std::move(expr), span);
  typed::Stmt& store = Append(StmtKind::kStore, span);
  store.tensor = access.tensor;
  store.axes = std::move(access.axes);
  store.expr = std::move(expr);
  store.store_op = op;
}

}  // namespace tkc::sema

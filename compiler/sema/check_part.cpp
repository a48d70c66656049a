// SPDX-License-Identifier: MIT
// Parts of tiles, and receives: where received ones come from.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/sema/elaborator.h"
#include "compiler/sema/habits.h"
#include "compiler/sema/views.h"
#include "compiler/syntax/source_text.h"

namespace tkc::sema {

using typed::ExprKind;
using typed::ExprPtr;
using typed::Level;
using typed::Op;
using typed::Type;

std::optional<Elaborator::PartOf> Elaborator::PartIndex(const ast::MethodExpr& method, int64_t extent, Span base,
                                                        std::string_view described) {
  const bool rows = method.method.text == "rows";
  if (!rows && method.method.text != "cols") {
    const std::string_view help = HelpForMember(method.method.text);
    diagnostics_.Error(DiagnosticKind::kUnknownName, method.method.span, fmt::format("there is no `.{}(..)`", method.method.text))
        .Help(!help.empty()                            ? std::string(help)
              : IsStandardFunction(method.method.text) ? fmt::format("it is written in front: `{}(x)`", method.method.text)
                                                       : "parts of a tile are `.rows(w)` and `.cols(u)`");
    return std::nullopt;
  }
  if (method.arguments.size() != 1) {
    diagnostics_.Error(DiagnosticKind::kWrongArguments, method.span,
                       fmt::format("`.{}` takes one index, found {}", method.method.text, method.arguments.size()));
    return std::nullopt;
  }
  Value index = Eval(*method.arguments[0]);
  if (index.IsError()) return std::nullopt;
  if (!index.IsScalar() || index.expr->type.dtype != DType::kI64 || index.count == 0) {
    const bool is_number = index.IsScalar() && index.expr->kind == ExprKind::kInt;
    DiagnosticBuilder report =
        diagnostics_.Error(DiagnosticKind::kPartIndex, index.span,
                           fmt::format("`.{}` takes an index that knows how many parts there are", method.method.text));
    report.Label(index.span, fmt::format("is {}", Describe(index)))
        .Help("use the index of a worker, `worker compute[W] as w`, or of a loop, `for u in 4`");
    if (is_number)
      report.Help(fmt::format("a {} that a number names is read by it: `x[{}{} :+ 1]`", rows ? "row" : "column", rows ? "" : ":, ",
                              ast::SourceText(*method.arguments[0])));
    return std::nullopt;
  }
  if (extent % index.count != 0) {
    diagnostics_
        .Error(DiagnosticKind::kPartSize, method.span,
               fmt::format("{} {} do not divide into {} parts: {} / {} leaves {}", extent, rows ? "rows" : "columns", index.count,
                           extent, index.count, extent % index.count))
        .Label(base, fmt::format("{}", described))
        .Label(index.span, fmt::format("0 .. {}", index.count));
    return std::nullopt;
  }
  PartOf part;
  part.extent = extent / index.count;
  part.offset = MakeInteger(Op::kMul, std::move(index.expr), MakeInt(part.extent, method.span), method.span);
  return part;
}

Value Elaborator::EvalMethod(const ast::MethodExpr& expr) {
  if (ReportModule(expr, *scope_, diagnostics_)) return Error();
  Value base = Eval(*expr.base);
  if (base.IsError()) return base;
  if (!base.IsTile()) {
    diagnostics_.Error(DiagnosticKind::kTypeMismatch, expr.span, fmt::format("`.{}(..)` takes a part of a tile", expr.method.text))
        .Label(expr.base->span, fmt::format("is {}", Describe(base)));
    return Error();
  }
  const int axis = expr.method.text == "rows" ? 0 : 1;
  std::optional<PartOf> part =
      PartIndex(expr, axis == 0 ? base.expr->type.rows : base.expr->type.cols, expr.base->span, Describe(base));
  if (!part) return Error();
  return ExprValue(Part(std::move(base.expr), axis, std::move(part->offset), part->extent, expr.span), expr.span);
}

/// The pipe, where a receive may stand; null if reported.
const Symbol* Elaborator::ReceivedPipe(const ast::ReceiveExpr& expr) {
  const Symbol* symbol = scope_->Find(expr.pipe.text);
  if (symbol == nullptr) {
    UnknownName(expr.pipe.text, expr.pipe.span, NameUse::kPipe);
    return nullptr;
  }
  if (symbol->kind == SymbolKind::kValue && symbol->value.IsError()) return nullptr;
  if (symbol->kind != SymbolKind::kPipe) {
    diagnostics_.Error(DiagnosticKind::kTypeMismatch, expr.pipe.span, fmt::format("`{}` is not a pipe", expr.pipe.text))
        .Note(symbol->span, fmt::format("`{}` is declared here", expr.pipe.text))
        .Help(fmt::format("for a comparison with a negative number write `< -{}`", expr.pipe.text));
    return nullptr;
  }
  if (worker_ == nullptr || no_receive_ != nullptr) {
    diagnostics_
        .Error(DiagnosticKind::kConditionalReceive, expr.span,
               fmt::format("a receive {}", no_receive_ != nullptr ? no_receive_ : "outside a worker"))
        .Note("a receive stands where it is always evaluated, as the sender does not know the condition")
        .Help(fmt::format("receive first: `let x = <-{}`", expr.pipe.text));
    return nullptr;
  }
  return symbol;
}

/// Which ring of a pipe that has one for each instance, into `ring`; false if reported.
bool Elaborator::RingOfReceive(const ast::ReceiveExpr& expr, const typed::Pipe& pipe, ExprPtr& ring) {
  if ((pipe.per_worker != typed::kNone) != (expr.index != nullptr)) {
    diagnostics_
        .Error(DiagnosticKind::kRingIndex, expr.span,
               pipe.per_worker != typed::kNone ? fmt::format("`{}` has a ring for each instance; name one", pipe.name)
                                               : fmt::format("`{}` is one pipe, not one for each instance", pipe.name))
        .Note(pipe.span, "declared here");
    return false;
  }
  if (!expr.index) return true;
  Value index = Eval(*expr.index);
  if (index.IsError()) return false;
  if (!IsRing(index, pipe)) return false;
  ring = std::move(index.expr);
  return true;
}

Value Elaborator::EvalReceive(const ast::ReceiveExpr& expr, const ast::Pattern* wish) {
  const Symbol* symbol = ReceivedPipe(expr);
  if (symbol == nullptr) return Error();
  CheckTrafficLevel(expr.span, "receive");
  const typed::PipeId id = symbol->id;
  const typed::Pipe& pipe = section_->pipes[id];
  ExprPtr ring;
  if (!RingOfReceive(expr, pipe, ring)) return Error();
  typed::Stmt& stmt = Append(typed::StmtKind::kReceive, expr.span);
  stmt.pipe = id;
  stmt.ring = std::move(ring);
  const bool named = wish != nullptr && wish->names.size() == (wish->is_tuple ? pipe.fields.size() : 1) &&
                     (wish->is_tuple || pipe.fields.size() == 1);
  std::vector<Value> fields;
  std::vector<std::string> names;
  for (size_t i = 0; i < pipe.fields.size(); ++i) {
    const typed::PipeField& field = pipe.fields[i];
    std::string name = !field.name.empty() ? field.name : pipe.fields.size() == 1 ? pipe.name : fmt::format("{}_{}", pipe.name, i);
    Span span = expr.span;
    if (named && wish->names[i].text != "_") name = wish->names[i].text, span = wish->names[i].span;
    const Type type = Type::Tile(field.dtype, field.rows, field.cols);
    const typed::VarId var = AddVar(name, type, typed::VarKind::kReceived, Level::kWorker, span);
    stmt.received.push_back(var);
    ExprPtr value = MakeNode(ExprKind::kVar, Op::kNone, type, {}, expr.span);
    value->id = var;
    value->level = Level::kWorker;
    fields.push_back(ExprValue(std::move(value), expr.span));
    names.push_back(field.name);
  }
  if (fields.size() == 1) return std::move(fields[0]);
  Value tuple = TupleValue(std::move(fields), expr.span);
  tuple.names = std::move(names);
  return tuple;
}

}  // namespace tkc::sema

// SPDX-License-Identifier: MIT
// What a schedule set says: its condition and its cost, its items for a section of the grid, and the -D of the same names.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/sema/choose_grid.h"
#include "compiler/sema/elaborator.h"
#include "compiler/support/nearest_name.h"
#include "compiler/support/scoped.h"
#include "compiler/target/cluster.h"
#include "compiler/target/target.h"

namespace tkc::sema {

using typed::ExprKind;
using typed::ExprPtr;
using typed::Level;
using typed::Type;

/// A scalar that has its value in the launcher only.
typed::VarId Elaborator::DeclareOfLauncher(const std::string& name, DType dtype, Scope& scope) {
  const typed::VarId var = AddVar(name, Type::Scalar(dtype), typed::VarKind::kLet, Level::kGrid, kNoSpan);
  ExprPtr value = MakeNode(ExprKind::kVar, typed::Op::kNone, Type::Scalar(dtype), {}, kNoSpan);
  value->id = var;
  value->level = Level::kGrid;
  Symbol symbol;
  symbol.value = ExprValue(std::move(value), kNoSpan);
  scope.Declare(name, std::move(symbol));
  return var;
}

/// The condition and the cost, of what the launcher knows.
void Elaborator::ElaborateChoice() {
  if (variant_.schedule == nullptr) return;
  const ast::ExprPtr& condition = variant_.schedule->condition;
  choice_ = condition ? Choice::kAtLaunch : Choice::kAlways;
  const ast::Expr* cost = ast::CostOf(*variant_.schedule);
  if (!condition && cost == nullptr) return;
  scope_->Open();
  // What only the launcher knows; a name of the kernel hides it.
  const auto declare = [&](const std::string& name, DType dtype) {
    return scope_->Find(name) != nullptr ? typed::kNone : DeclareOfLauncher(name, dtype, *scope_);
  };
  kernel_.sms_var = declare("sms", DType::kI64);
  kernel_.room_var = declare("room", DType::kI64);
  kernel_.aligned_var = declare("aligned", DType::kBool);
  kernel_.contiguous_var = declare("contiguous", DType::kBool);
  const auto evaluate = [&](const ast::Expr& source, DType dtype, std::string_view rule) -> ExprPtr {
    Value value = Eval(source);
    if (value.IsError()) return nullptr;
    if (!value.IsScalar() || value.expr->type.dtype != dtype) {
      diagnostics_.Error(DiagnosticKind::kTypeMismatch, source.span, std::string(rule))
          .Label(source.span, fmt::format("is {}", Describe(value)));
      return nullptr;
    }
    if (!IsOfLaunch(*value.expr, dtype == DType::kBool ? "the condition of a schedule set" : "a cost")) return nullptr;
    value.expr->span = source.span;
    return std::move(value.expr);
  };
  if (condition) kernel_.when = evaluate(*condition, DType::kBool, "the condition of a schedule set is a `bool`");
  if (kernel_.when && kernel_.when->kind == ExprKind::kBool) {
    choice_ = kernel_.when->int_value != 0 ? Choice::kAlways : Choice::kNever;
    kernel_.when = nullptr;
  }
  if (cost != nullptr) kernel_.cost = evaluate(*cost, DType::kI64, "the cost of a schedule set is an integer");
  const auto* call = cost == nullptr ? nullptr : ast::DynCast<ast::CallExpr>(*cost);
  if (kernel_.cost && call != nullptr) kernel_.cost_formula = FormulaOf(*call);
  scope_->Close();
}

/// What the function computes of any arguments, so that the launcher has it once for all sets; none if it has to know them, or
/// declares what they are converted to.
std::optional<typed::CostFormula> Elaborator::FormulaOf(const ast::CallExpr& call) {
  const auto fn = context_.fns.find(call.callee.text);
  if (fn == context_.fns.end() || fn->second->return_type) return std::nullopt;
  typed::CostFormula formula;
  formula.name = call.callee.text;
  formula.declaration = fn->second->span;
  Scope own;
  own.Open();
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const ast::FnParam& param = fn->second->params[i];
    Value arg = Eval(*call.arguments[i]);
    if (param.type || !arg.IsScalar() || arg.expr->type.dtype != DType::kI64) return std::nullopt;
    formula.args.push_back(std::move(arg.expr));
    formula.params.emplace_back(param.name.text, DeclareOfLauncher(param.name.text, DType::kI64, own));
  }
  const Scoped<Scope*> in_function(scope_, &own);
  own.Open();
  for (const ast::StmtPtr& stmt : fn->second->body.stmts) {
    const auto* let = ast::DynCast<ast::LetStmt>(*stmt);
    if (let == nullptr) {
      CheckStmt(*stmt);
      continue;
    }
    Value value = Eval(*let->value);
    value.span = let->value->span;
    const Scoped<typed::Block*> in_formula(block_, &formula.lets);
    BindLet(let->pattern, let->type.get(), std::move(value), false);
  }
  Value body = Eval(*fn->second->body.result);
  if (!body.IsScalar() || body.expr->type.dtype != DType::kI64) return std::nullopt;
  formula.body = std::move(body.expr);
  return formula;
}

void Elaborator::SetOrder(const ast::Expr& value, typed::Section& section) {
  const auto* name = ast::DynCast<ast::NameExpr>(value);
  const auto* call = ast::DynCast<ast::CallExpr>(value);
  if (name != nullptr && name->name == "rows") {
    section.order = typed::GridOrder::kRows;
  } else if (name != nullptr && name->name == "columns") {
    section.order = typed::GridOrder::kColumns;
  } else if (call != nullptr && call->callee.text == "grouped" && call->arguments.size() == 1) {
    const std::optional<int64_t> group = Constant(*call->arguments[0], "the size of a group");
    if (group && (*group < 1 || *group > 65536)) {
      diagnostics_.Error(DiagnosticKind::kBadSchedule, value.span,
                         fmt::format("groups of {} blocks; they have 1 to 65536", *group));
      return;
    }
    section.order = typed::GridOrder::kGrouped;
    section.group = group.value_or(8);
  } else {
    DiagnosticBuilder report =
        diagnostics_.Error(DiagnosticKind::kBadSchedule, value.span, "an order is `rows`, `columns` or `grouped(n)`");
    const std::string nearest = name == nullptr ? "" : NearestName(name->name, {"rows", "columns", "grouped"});
    if (nearest == "grouped") {
      report.Help("say how many blocks a group has: `grouped(8)`", Edit{value.span, "grouped(8)"});
    } else if (!nearest.empty()) {
      report.Help(fmt::format("write `{}`", nearest), Edit{value.span, nearest});
    }
  }
}

/// `cluster = n`, along the last axis but one, or `cluster = (a, b)`, sizes along the last axes.
void Elaborator::SetCluster(const ast::Expr& value, typed::Section& section) {
  const auto* tuple = ast::DynCast<ast::TupleExpr>(value);
  if (tuple == nullptr) {
    section.cluster = ClusterSize(value);
    section.cluster_of_columns = false;
    return;
  }
  const size_t count = tuple->elements.size(), axes = section.axes.size();
  if (count > axes) {
    diagnostics_.Error(DiagnosticKind::kBadSchedule, value.span,
                       fmt::format("a cluster with sizes along {} axes; the grid has {}", count, axes));
    return;
  }
  section.cluster = 1;
  const ast::Expr* chosen = nullptr;  // what is not 1
  for (size_t i = 0; i < count; ++i) {
    const ast::Expr& element = *tuple->elements[i];
    const int64_t size = ClusterSize(element);
    if (size == 1) continue;
    if (chosen != nullptr) return GateFeature(element.span, "a cluster along two axes", "let one of the sizes be 1");
    if (i + 2 < count) return GateFeature(element.span, "a cluster along another axis than the last two");
    chosen = &element;
    section.cluster = size;
    section.cluster_of_columns = i + 1 == count && axes > 1;
  }
}

/// 1 where it is none, which is reported.
int64_t Elaborator::ClusterSize(const ast::Expr& value) {
  const std::optional<int64_t> size = Constant(value, "the size of a cluster");
  if (!size) return 1;
  const bool is_power = *size > 0 && (*size & (*size - 1)) == 0;
  if (is_power && *size <= kMostBlocksOfCluster) return *size;
  diagnostics_.Error(DiagnosticKind::kBadSchedule, value.span, fmt::format("a cluster of {} blocks; it has 1, 2, 4 or 8", *size));
  return 1;
}

void Elaborator::SetSplit(const ast::Expr& value, typed::Section& section) {
  if (const auto* name = ast::DynCast<ast::NameExpr>(value); name != nullptr && name->name == "stream") {
    GateFeature(value.span, "`split = stream`");
    return;
  }
  const std::optional<int64_t> ways = Constant(value, "the number of splits");
  if (!ways) return;
  if (*ways < 1 || *ways > 64) {
    diagnostics_.Error(DiagnosticKind::kBadSchedule, value.span, fmt::format("{} splits; there are 1 to 64", *ways));
    return;
  }
  section.split = *ways;
}

void Elaborator::SetDepth(const ast::Expr& value, typed::Section& section) {
  const std::optional<int64_t> depth = Constant(value, "the depth");
  if (!depth) return;
  if (*depth < 0 || *depth > 16) {
    diagnostics_.Error(DiagnosticKind::kBadSchedule, value.span, fmt::format("a depth of {}; it lies between 0 and 16", *depth));
    return;
  }
  section.depth = *depth;
}

void Elaborator::SetResident(const ast::Expr& value, typed::Section& section) {
  const std::optional<int64_t> blocks = Constant(value, "the number of resident blocks");
  if (!blocks) return;
  if (*blocks < 1 || *blocks > 32) {
    diagnostics_.Error(DiagnosticKind::kBadSchedule, value.span,
                       fmt::format("{} resident blocks; a multiprocessor holds 1 to 32", *blocks));
    return;
  }
  section.resident = *blocks;
}

void Elaborator::SetPersistent(const ast::Expr& value, typed::Section& section) {
  const Value truth = Eval(value);
  if (truth.IsError()) return;
  const bool is_whole = truth.IsScalar() && !IsFloat(truth.expr->type.dtype);
  const std::optional<int64_t> number = is_whole ? NumberOf(*truth.expr) : std::nullopt;
  if (number == 0 || number == 1) {
    section.persistent = number == 1;
    return;
  }
  diagnostics_.Error(DiagnosticKind::kBadSchedule, value.span, "`persistent` is `true` or `false`")
      .Help("write `persistent` for blocks that take tile after tile, `persistent = false` for a block for each tile");
}

const ast::ScheduleItem* Elaborator::ScheduleItemOf(ast::ScheduleItem::Kind kind, std::string_view worker) const {
  return variant_.schedule == nullptr ? nullptr : ast::FindItem(*variant_.schedule, kind, worker);
}

/// What a block that draws its tiles can't do yet.
void Elaborator::CheckDynamic(const ast::GridSection& source, const typed::Section& section) {
  if (!section.dynamic) return;
  const ast::ScheduleItem* item = ScheduleItemOf(ast::ScheduleItem::Kind::kDynamic);
  const Span span = item != nullptr ? item->span : source.dynamic ? source.flags_span : kNoSpan;
  const auto gate = [&](std::string_view what, std::string_view help) {
    GateFeature(span, fmt::format("`dynamic` {}", what), std::string(help));
  };
  const Target* target = FindTarget(context_.options->target);
  if (target && !target->draws_tiles)
    gate(fmt::format("for `{}`", target->name), "write `persistent`, and `dynamic` in a schedule set for targets that have it");
  if (variant_.kernel->grids.size() > 1) gate("in a kernel of several grid sections", "write `persistent`");
  if (section.split > 1) gate("together with `split`", "leave one of them out of this schedule");
}

void Elaborator::ApplyScheduleItem(const ast::ScheduleItem& item, typed::Section& section) {
  using Kind = ast::ScheduleItem::Kind;
  switch (item.kind) {
    case Kind::kParam:   // bound before
    case Kind::kCost:    // of the choice
    case Kind::kInTurn:  // of workers, which ask for theirs
    case Kind::kAlternate:
    case Kind::kSpread: return;
    case Kind::kPersistent:
      if (item.value) return SetPersistent(*item.value, section);
      section.persistent = true;
      return;
    case Kind::kDynamic: section.dynamic = true; return;
    case Kind::kOrder: return SetOrder(*item.value, section);
    case Kind::kCluster: return SetCluster(*item.value, section);
    case Kind::kSplit: return SetSplit(*item.value, section);
    case Kind::kDepth: return SetDepth(*item.value, section);
    case Kind::kResident: return SetResident(*item.value, section);
    case Kind::kSlots: {
      const std::optional<int64_t> slots = Constant(*item.value, "the number of slots");
      if (!slots) return;
      if (*slots < 1 || *slots > 1024) {
        diagnostics_.Error(DiagnosticKind::kBadSlots, item.value->span,
                           fmt::format("`{}` with {} slots; a pipe has 1 to 1024", item.name.text, *slots));
        return;
      }
      for (typed::Pipe& pipe : section.pipes) {
        if (pipe.name == item.name.text) pipe.slots = *slots;
      }
      return;
    }
  }
}

void Elaborator::ApplyScheduleItems(typed::Section& section) {
  if (variant_.schedule != nullptr) {
    for (const ast::ScheduleItem& item : variant_.schedule->items) ApplyScheduleItem(item, section);
  }
  ApplyDefines(section);
}

void Elaborator::ApplyDefines(typed::Section& section) {
  for (const Define& define : context_.options->defines) {
    if (scope_->Find(define.name) != nullptr || !define.value) continue;
    if (define.name == "split") SetSplit(*define.value, section);
    if (define.name == "cluster") SetCluster(*define.value, section);
    if (define.name == "order") SetOrder(*define.value, section);
    if (define.name == "depth") SetDepth(*define.value, section);
    if (define.name == "resident") SetResident(*define.value, section);
    if (define.name == "dynamic") section.dynamic = Constant(*define.value, "`dynamic`").value_or(0) != 0;
    if (define.name == "persistent") SetPersistent(*define.value, section);
  }
}

/// Of several sections those with products take what a schedule says about products; what it does not say is chosen.
void Elaborator::FitSchedules() {
  std::vector<typed::Section>& sections = kernel_.sections;
  if (std::ranges::none_of(sections, Multiplies)) return;
  const Target* target = FindTarget(context_.options->target);
  for (typed::Section& section : sections) {
    if (!Multiplies(section)) section.split = section.cluster = 1;
    if (target != nullptr) ChooseGrid(section, *target);
  }
}

}  // namespace tkc::sema

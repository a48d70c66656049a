// SPDX-License-Identifier: MIT
// Grid sections: axes, pipes, workers.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/sema/elaborator.h"
#include "compiler/target/cluster.h"

namespace tkc::sema {

using typed::ExprKind;
using typed::ExprPtr;
using typed::Level;
using typed::Type;
using typed::VarKind;

namespace {

constexpr int64_t kMostInstances = 32;
constexpr int64_t kMostSlots = 1024;

bool DependsOnData(const typed::Expr& expr, const typed::Kernel& kernel) {
  return typed::Contains(expr, [&](const typed::Expr& node) {
    return node.kind == ExprKind::kElement || (node.kind == ExprKind::kVar && kernel.vars[node.id].kind != VarKind::kLet);
  });
}

const ast::EachStmt* FindEach(const std::vector<ast::StmtPtr>& stmts) {
  for (const ast::StmtPtr& stmt : stmts) {
    if (stmt->kind == ast::StmtKind::kEach) return &ast::Cast<ast::EachStmt>(*stmt);
    if (stmt->kind == ast::StmtKind::kFor) {
      if (const auto* each = FindEach(ast::Cast<ast::ForStmt>(*stmt).body.stmts)) return each;
    }
  }
  return nullptr;
}

/// The first assignment to one of `names` in the statements.
const ast::AssignStmt* FindAssign(const std::vector<ast::StmtPtr>& stmts, const std::map<std::string, Span>& names) {
  for (const ast::StmtPtr& stmt : stmts) {
    const ast::AssignStmt* found = nullptr;
    switch (stmt->kind) {
      case ast::StmtKind::kAssign: {
        const auto& assign = ast::Cast<ast::AssignStmt>(*stmt);
        const auto* name = ast::DynCast<ast::NameExpr>(*assign.target);
        if (name != nullptr && names.count(name->name) > 0) found = &assign;
        break;
      }
      case ast::StmtKind::kFor: found = FindAssign(ast::Cast<ast::ForStmt>(*stmt).body.stmts, names); break;
      case ast::StmtKind::kEach: found = FindAssign(ast::Cast<ast::EachStmt>(*stmt).body.stmts, names); break;
      case ast::StmtKind::kIf: {
        const auto& branch = ast::Cast<ast::IfStmt>(*stmt);
        found = FindAssign(branch.then_branch.stmts, names);
        if (found == nullptr && branch.else_branch) found = FindAssign(branch.else_branch->stmts, names);
        break;
      }
      default: break;
    }
    if (found != nullptr) return found;
  }
  return nullptr;
}

/// Where one worker opens the tile loop, all do; a worker whose instances take turns carries nothing from tile to tile.
void CheckEach(const ast::GridSection& source, const ast::ScheduleDecl* schedule, Diagnostics& diagnostics) {
  const ast::EachStmt* with = nullptr;
  const ast::WorkerDecl* without = nullptr;
  for (const ast::WorkerDecl& worker : source.workers) {
    const ast::EachStmt* each = FindEach(worker.body.stmts);
    if (each == nullptr)
      without = &worker;
    else if (with == nullptr)
      with = each;
    const ast::ScheduleItem* item =
        schedule == nullptr ? nullptr : ast::FindItem(*schedule, ast::ScheduleItem::Kind::kInTurn, worker.name.text);
    if (each == nullptr || (!worker.in_turn && item == nullptr)) continue;
    std::map<std::string, Span> carried;
    for (const ast::StmtPtr& stmt : worker.body.stmts) {
      if (stmt->kind != ast::StmtKind::kVar) continue;
      for (const ast::Name& name : ast::Cast<ast::VarStmt>(*stmt).pattern.names) carried.emplace(name.text, name.span);
    }
    if (const ast::AssignStmt* assign = FindAssign(each->body.stmts, carried)) {
      const std::string& name = ast::Cast<ast::NameExpr>(*assign->target).name;
      diagnostics
          .Error(DiagnosticKind::kCarryInTurn, assign->span,
                 fmt::format("`{}` takes tiles in turn; `{}` would be split between its instances", worker.name.text, name))
          .Label(assign->target->span, "carried from tile to tile")
          .Note(item != nullptr ? item->span : worker.in_turn_span, "each instance sees every other tile only")
          .Help("leave out `in turn`, or start the value anew in each tile");
    }
  }
  if (with != nullptr && without != nullptr) {
    diagnostics
        .Error(DiagnosticKind::kEachMismatch, without->name.span, fmt::format("worker `{}` has no `each`", without->name.text))
        .Label(without->name.span, "its body is one tile")
        .Note(with->span, "another worker of the section opens the loop over tiles here")
        .Help("write `each` over the same axes in all workers of the section");
  }
}

}  // namespace

void Elaborator::DeclareAxis(const ast::GridAxis& axis, typed::Section& section) {
  RangeInfo range = CheckRange(axis.range);
  if (!range.ok) return DeclareValue(axis.name, Error());
  if (DependsOnData(*range.lo, kernel_) || DependsOnData(*range.hi, kernel_)) {
    GateFeature(
        axis.range.span, "a grid axis whose range depends on other axes or on a tensor",
        "give the axis the longest of these ranges and have tiles behind the end do nothing, `if first < end { .. }`; where a "
        "range begins inside a tensor, add its begin: `let (first, end) = (off[e] + i.start, off[e + 1])`");
  } else if (!IsOfLaunch(*range.lo, "the range of a grid axis") || !IsOfLaunch(*range.hi, "the range of a grid axis")) {
    return DeclareValue(axis.name, Error());
  }
  const typed::VarId var = AddVar(axis.name.text, Type::Scalar(DType::kI64), VarKind::kGrid, Level::kGrid, axis.name.span);
  ranges_[var] = &axis.range;
  Value value = LoopValue(LoopVariable(var, axis.name.span), range, axis.name.span);
  value.count = 0;  // its parts are tiles of work, not parts of a tile
  typed::GridAxis typed_axis;
  typed_axis.var = var;
  typed_axis.lo = std::move(range.lo);
  typed_axis.hi = std::move(range.hi);
  typed_axis.step = range.step;
  typed_axis.is_block = range.is_block;
  typed_axis.span = axis.span;
  section.axes.push_back(std::move(typed_axis));
  if (scope_->IsLocal(axis.name.text)) {
    diagnostics_.Error(DiagnosticKind::kDuplicateName, axis.name.span, fmt::format("`{}` names two axes", axis.name.text))
        .Label(axis.name.span, "declared again")
        .Note(scope_->Find(axis.name.text)->span, "the first one");
    return;
  }
  DeclareValue(axis.name, std::move(value));
}

/// False if a field was wrong: the pipe is then of no use.
bool Elaborator::AddPipeFields(const ast::TypeExpr& type, const ast::Name& name, typed::Pipe& pipe) {
  if (type.kind == ast::TypeExpr::Kind::kTuple) {
    for (const ast::TypeExpr::Field& field : type.fields) {
      const std::optional<int64_t> count = TimesOf(field);
      if (!count) return false;
      for (int64_t i = 0; i < *count; ++i) {
        if (!AddPipeFields(*field.type, field.name, pipe)) return false;
      }
    }
    return true;
  }
  const std::optional<Type> declared = DeclaredType(type);
  if (!declared) return false;
  if (!declared->is_tile) {
    diagnostics_.Error(DiagnosticKind::kTypeMismatch, type.span, "a pipe carries tiles")
        .Label(type.span, "has no shape")
        .Help("one number is a tile of one row and one column: `f32[1, 1]`");
    return false;
  }
  const auto has_name = [&](const typed::PipeField& field) { return !name.text.empty() && field.name == name.text; };
  if (std::any_of(pipe.fields.begin(), pipe.fields.end(), has_name)) {
    diagnostics_.Error(DiagnosticKind::kDuplicateName, name.span, fmt::format("`{}` names two fields of a slot", name.text))
        .Help("a field without a name is taken by its position, `x.1`; fields that are repeated have no name");
    return false;
  }
  pipe.fields.push_back({name.text, declared->dtype, declared->rows, declared->cols});
  return true;
}

void Elaborator::DeclarePipe(const ast::PipeDecl& source, const ast::GridSection& section_source, typed::Section& section) {
  typed::Pipe pipe;
  pipe.name = source.name.text;
  pipe.span = source.name.span;
  const bool fields_ok = AddPipeFields(*source.type, {}, pipe);
  if (source.slots) {
    const std::optional<int64_t> slots = Constant(*source.slots, "the number of slots");
    if (slots && (*slots < 1 || *slots > kMostSlots)) {
      diagnostics_.Error(DiagnosticKind::kBadSlots, source.slots->span,
                         fmt::format("`{}` with {} slots; a pipe has 1 to {}", pipe.name, *slots, kMostSlots));
    } else {
      pipe.slots = slots.value_or(0);
    }
  }
  if (source.per) {
    for (size_t i = 0; i < section_source.workers.size(); ++i) {
      if (section_source.workers[i].name.text != source.per.text) continue;
      pipe.per_worker = static_cast<int>(i);
      const ast::ExprPtr& count = section_source.workers[i].count;
      pipe.rings = count ? Constant(*count, "the number of instances").value_or(1) : 1;
      if (pipe.rings < 1 || pipe.rings > kMostInstances) pipe.rings = 1;  // reported at the worker
    }
    if (pipe.per_worker == typed::kNone) {
      diagnostics_.Error(DiagnosticKind::kUnknownName, source.per.span,
                         fmt::format("there is no worker `{}` in this section", source.per.text));
    } else if (section_source.workers[pipe.per_worker].in_turn ||
               ScheduleItemOf(ast::ScheduleItem::Kind::kInTurn, source.per.text)) {
      diagnostics_
          .Error(DiagnosticKind::kRingIndex, source.per.span,
                 fmt::format("worker `{}` takes tiles in turn, and its instances have no pipes of their own", source.per.text))
          .Label(source.per.span, "they mean one worker")
          .Help("leave out `per` or `in turn`");
    } else if (const auto* item = ScheduleItemOf(ast::ScheduleItem::Kind::kAlternate, source.per.text)) {
      diagnostics_
          .Error(DiagnosticKind::kBadSchedule, item->span,
                 fmt::format("`{}` can't alternate: its instances have pipes of their own", source.per.text))
          .Note(source.per.span, fmt::format("`{}` is one for each", pipe.name));
    }
  }
  if (!fields_ok || pipe.fields.empty()) {  // reported; a stand-in, so that its sends and receives can be looked at
    DeclareFixed(source.name, Symbol{}, "pipe");
    section.pipes.push_back(std::move(pipe));
    return;
  }
  Symbol symbol;
  symbol.kind = SymbolKind::kPipe;
  symbol.id = static_cast<int>(section.pipes.size());
  section.pipes.push_back(std::move(pipe));
  DeclareFixed(source.name, std::move(symbol), "pipe");
}

/// One of two instances loads its part while the other multiplies its own.
void Elaborator::CheckAlternates(const ast::WorkerDecl& source, typed::Worker& worker) {
  const ast::ScheduleItem* item = ScheduleItemOf(ast::ScheduleItem::Kind::kAlternate, worker.name);
  if (item == nullptr) return;
  worker.alternates = true;
  worker.alternates_span = item->span;
  const auto fail = [&](const std::string& why) {
    return diagnostics_.Error(DiagnosticKind::kBadSchedule, item->span, fmt::format("`{}` can't alternate: {}", worker.name, why));
  };
  if (worker.instances != 2) {
    fail(fmt::format("it has {} instance{}, and two are needed", worker.instances, worker.instances == 1 ? "" : "s"))
        .Note(source.name.span, "declared here")
        .Help("give it two: one loads while the other multiplies");
  } else if (worker.in_turn) {
    fail("its instances take whole tiles in turn").Help("leave out `in turn` or `alternate`");
  } else if (!source.index) {
    fail("its instances are not told apart")
        .Note(source.name.span, "declared here")
        .Help(fmt::format("write `worker {}[2] as w`, and let each have its part of the tile", worker.name));
  }
}

/// `in turn WORKER = n`: as many instances as that take the tiles of the worker's one, which keeps its number, 0.
void Elaborator::SetTurns(typed::Worker& worker) {
  const ast::ScheduleItem* item = ScheduleItemOf(ast::ScheduleItem::Kind::kInTurn, worker.name);
  if (item == nullptr) return;
  const std::optional<int64_t> takers = Constant(*item->value, "the number of instances");
  if (!takers) return;
  if (*takers < 1 || *takers > kMostInstances) {
    diagnostics_.Error(DiagnosticKind::kBadSchedule, item->value->span,
                       fmt::format("`{}` with {} instances; a worker has 1 to {}", worker.name, *takers, kMostInstances));
  } else if (!worker.in_turn && worker.instances != 1) {
    diagnostics_
        .Error(DiagnosticKind::kBadSchedule, item->span,
               fmt::format("worker `{}` has {} instances, each with a part of the tile; only whole tiles are taken in turn",
                           worker.name, worker.instances))
        .Note(worker.span, "declared here")
        .Help("let it have one instance in this set, whose tiles several then take");
  } else {
    worker.in_turn = *takers > 1;
    worker.instances = *takers;
  }
}

/// `spread WORKER = n`, once the number of instances is known.
void Elaborator::SetSpread(typed::Worker& worker) {
  const ast::ScheduleItem* item = ScheduleItemOf(ast::ScheduleItem::Kind::kSpread, worker.name);
  if (item == nullptr) return;
  const ast::Expr& value = *item->value;
  const std::optional<int64_t> blocks = Constant(value, "the number of blocks");
  if (!blocks) return;
  if (*blocks < 1 || *blocks > kMostBlocksOfCluster) {
    diagnostics_.Error(
        DiagnosticKind::kBadSchedule, value.span,
        fmt::format("`{}` spread over {} blocks; a cluster has 1 to {}", worker.name, *blocks, kMostBlocksOfCluster));
  } else if (worker.in_turn) {
    diagnostics_
        .Error(DiagnosticKind::kBadSchedule, item->span,
               fmt::format("worker `{}` takes tiles in turn, and its instances share no tile", worker.name))
        .Label(item->span, "the blocks of a cluster have parts of one tile");
  } else if (worker.instances % *blocks != 0) {
    diagnostics_
        .Error(DiagnosticKind::kBadSchedule, value.span,
               fmt::format("`{}` has {} instance{}, which {} blocks can't share out evenly", worker.name, worker.instances,
                           worker.instances == 1 ? "" : "s", *blocks))
        .Note(worker.span, "declared here")
        .Help(fmt::format("let the number of instances be a multiple of {}", *blocks));
  } else {
    worker.spread = *blocks;
  }
}

void Elaborator::ElaborateWorker(const ast::WorkerDecl& source, typed::Section& section, size_t index) {
  typed::Worker worker;
  worker.name = source.name.text;
  worker.span = source.name.span;
  worker.in_turn = source.in_turn;
  if (source.count) {
    const std::optional<int64_t> count = Constant(*source.count, "the number of instances");
    if (count && (*count < 1 || *count > kMostInstances)) {
      diagnostics_.Error(DiagnosticKind::kBadSlots, source.count->span,
                         fmt::format("worker `{}` with {} instances; a worker has 1 to {}", worker.name, *count, kMostInstances));
    } else {
      worker.instances = count.value_or(1);
    }
  }
  if (source.in_turn && source.index) {
    diagnostics_
        .Error(DiagnosticKind::kBadSchedule, source.index.span,
               fmt::format("worker `{}` takes tiles in turn, and its instances are told apart by `{}`", worker.name,
                           source.index.text))
        .Label(source.index.span, "an instance that computes whole tiles has no part of its own")
        .Help(worker.instances == 1
                  ? "leave out `in turn`: one instance takes every tile; or leave out `as` and let several do whole tiles"
                  : "leave out `as`, so that each instance does the whole tile, or leave out `in turn`");
  }
  SetTurns(worker);
  CheckAlternates(source, worker);
  SetSpread(worker);
  for (size_t i = 0; i < index; ++i) {
    if (section.workers[i].name != worker.name) continue;
    diagnostics_.Error(DiagnosticKind::kDuplicateName, source.name.span, fmt::format("`{}` names two workers", worker.name))
        .Label(source.name.span, "declared again")
        .Note(section.workers[i].span, "the first one");
  }
  scope_->Open();
  if (source.index) {
    worker.instance_var = AddVar(source.index.text, Type::Scalar(DType::kI64), VarKind::kInstance, Level::kGrid, source.index.span);
    ExprPtr number = MakeNode(ExprKind::kVar, typed::Op::kNone, Type::Scalar(DType::kI64), {}, source.index.span);
    number->id = worker.instance_var;
    number->level = Level::kGrid;
    // The only instance is number 0, and a part of one is the whole.
    const int64_t parts = worker.InstancesOfTile();
    Value value = ExprValue(parts == 1 ? MakeInt(0, source.index.span) : std::move(number), source.index.span);
    value.count = parts;
    DeclareValue(source.index, std::move(value));
  }
  block_ = &worker.body;
  worker_ = &source;
  CheckStmts(source.body.stmts);
  worker_ = nullptr;
  block_ = nullptr;
  scope_->Close();
  section.workers.push_back(std::move(worker));
}

/// Once for a `let` beside the pipes, which may be several here: a function that it calls names what it computes on the way.
void Elaborator::ReportData(const ast::Pattern& pattern, std::span<const typed::StmtPtr> lets) {
  const auto is_data = [&](const typed::StmtPtr& let) {
    const typed::Var& var = kernel_.vars[let->var];
    return var.type.is_tile || var.level == Level::kWorker;
  };
  const auto found = std::ranges::find_if(lets, is_data);
  if (found == lets.end()) return;
  const typed::Stmt& let = **found;
  const typed::Var& var = kernel_.vars[let.var];
  const auto named = std::ranges::find(pattern.names, var.name, &ast::Name::text);
  const std::string& name = named == pattern.names.end() ? pattern.names.front().text : named->text;
  diagnostics_.Error(DiagnosticKind::kWorkerLevel, let.span, fmt::format("`{}` is declared for all workers and holds data", name))
      .Label(let.span, fmt::format("is `{}`", TypeText(var.type)))
      .Help("declare it in the worker that uses it; a `let` beside the pipes is a number that every worker can compute");
}

void Elaborator::ElaborateSection(const ast::GridSection& source) {
  typed::Section section;
  section.span = source.head_span;
  if (source.persistent) section.persistent = true;
  section.dynamic = source.dynamic;
  section_ = &section;
  source_section_ = &source;
  CheckEach(source, variant_.schedule, diagnostics_);
  scope_->Open();
  for (const ast::GridAxis& axis : source.axes) DeclareAxis(axis, section);
  block_ = &section.lets;
  no_receive_ = "outside a worker";
  for (const ast::StmtPtr& let : source.lets) {
    const size_t first = section.lets.size();
    CheckStmt(*let);
    ReportData(ast::Cast<ast::LetStmt>(*let).pattern, std::span(section.lets).subspan(first));
  }
  no_receive_ = nullptr;
  block_ = nullptr;
  for (const ast::PipeDecl& pipe : source.pipes) DeclarePipe(pipe, source, section);
  ApplyScheduleItems(section);
  unrolled_loops_ = UnrolledLoops(*variant_.kernel, source);
  for (size_t i = 0; i < source.workers.size(); ++i) ElaborateWorker(source.workers[i], section, i);
  CheckDynamic(source, section);
  scope_->Close();
  section_ = nullptr;
  source_section_ = nullptr;
  kernel_.sections.push_back(std::move(section));
}

}  // namespace tkc::sema

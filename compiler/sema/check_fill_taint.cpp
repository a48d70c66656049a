// SPDX-License-Identifier: MIT
// Fill taint of statements, and the run over all workers (fill_taint.h).
#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "compiler/sema/fill_taint.h"
#include "compiler/support/internal_error.h"

namespace tkc::sema {

using typed::Block;
using typed::Stmt;
using typed::StmtKind;
using typed::VarId;

namespace {

/// Rounds until what `places` hold, pipes or variables, settles: each takes it on by one of them at least, whatever their order,
/// and one place is joined with another fill a few times.
constexpr size_t MostRounds(size_t places) { return 12 * (places + 1); }
const Taint kUntainted{Fill::kNone, {}, false};

}  // namespace

FillTaint::FillTaint(const typed::Kernel& kernel, const typed::Section& section, const Steps& steps, Diagnostics& diagnostics)
    : kernel_(kernel),
      section_(section),
      steps_(steps),
      diagnostics_(diagnostics),
      sources_(kernel, steps),
      vars_(kernel.vars.size()) {
  for (const typed::ExprPtr& requirement : kernel.requires_at_launch) NotePositive(*requirement);
}

void FillTaint::NotePositive(const typed::Expr& requirement) {
  if (requirement.kind != typed::ExprKind::kBinary) return;
  if (requirement.op == typed::Op::kAnd) {
    for (const typed::ExprPtr& each : requirement.args) NotePositive(*each);
    return;
  }
  const bool is_above = requirement.op == typed::Op::kGt || requirement.op == typed::Op::kGe;
  if (!is_above && requirement.op != typed::Op::kLt && requirement.op != typed::Op::kLe) return;
  const typed::Expr &more = *requirement.args[is_above ? 0 : 1], &less = *requirement.args[is_above ? 1 : 0];
  const bool is_strict = requirement.op == typed::Op::kGt || requirement.op == typed::Op::kLt;
  const Fill bound = Eval(less).base;
  if (more.kind == typed::ExprKind::kParam && (bound == Fill::kPositive || (bound == Fill::kZero && is_strict)))
    positive_.insert(more.id);
}

void FillTaint::Check() {
  for (size_t round = 0;; ++round) {
    Ensure(round < MostRounds(section_.pipes.size()), "what pipes hold for missing elements never settles", kernel_.span);
    const auto before = sent_;
    RunAll();
    if (before == sent_) break;
  }
  reporting_ = true;
  RunAll();
}

void FillTaint::RunAll() {
  for (const typed::Worker& worker : section_.workers) {
    SymbolicTable table(kernel_);
    table_ = &table;
    for (const auto& [var, name] : steps_.names) table.Rename(var, name);
    DefineLets(kernel_, section_.lets, table);
    DefineLets(kernel_, worker.body, table);
    sources_.Begin(table, worker.instance_var, worker.instances);
    for (const typed::GridAxis& axis : section_.axes) sources_.Enter(axis.var, *axis.lo, *axis.hi, axis.step);
    Run(section_.lets);
    Run(worker.body);
  }
}

void FillTaint::Run(const Block& block) {
  for (const typed::StmtPtr& stmt : block) Run(*stmt);
}

void FillTaint::Run(const Stmt& stmt) {
  switch (stmt.kind) {
    case StmtKind::kLet:
      lets_[stmt.var] = stmt.expr.get();
      if (kernel_.vars[stmt.var].kind == typed::VarKind::kLet && stmt.expr->type.is_tile) {
        if (const auto positions = PositionsOf(*stmt.expr)) positions_.insert_or_assign(stmt.var, *positions);
      }
      vars_[stmt.var] = Eval(*stmt.expr);
      return;
    case StmtKind::kAssign: vars_[stmt.var] = Assign(stmt); return;
    case StmtKind::kAssignPart: vars_[stmt.var] = Join(vars_[stmt.var], WithinTile(Eval(*stmt.expr), stmt)); return;
    case StmtKind::kFor: return RunLoop(stmt);
    case StmtKind::kIf: return RunIf(stmt);
    case StmtKind::kReceive: return Receive(stmt);
    case StmtKind::kSend: return Send(stmt);
    case StmtKind::kStore: Eval(*stmt.expr); return;
  }
}

Taint FillTaint::Assign(const Stmt& stmt) {
  Taint taint = Eval(*stmt.expr);
  const Taint& sum = vars_[stmt.var];
  const auto is_new_in_loop = [&](int axis, int source) {
    return sum.axis[axis].count(source) == 0 && IsOfLoopOver(source, stmt.var);
  };
  bool any_new = false;
  for (int axis = 0; axis < 2; ++axis) {
    for (const auto& [source, fill] : taint.axis[axis]) any_new = any_new || is_new_in_loop(axis, source);
  }
  if (!any_new) return taint;
  std::vector<Taint> terms;
  const std::optional<Fill> neutral = TermsBeside(stmt.var, *stmt.expr, terms);
  if (!neutral) return taint;
  for (int axis = 0; axis < 2; ++axis) {
    std::erase_if(taint.axis[axis], [&](const auto& missing) {
      const int source = missing.first;
      const auto changes_nothing = [&](const Taint& term) { return term.At(axis, source) == *neutral; };
      return is_new_in_loop(axis, source) && std::all_of(terms.begin(), terms.end(), changes_nothing);
    });
  }
  return taint;
}

std::optional<Fill> FillTaint::TermsBeside(VarId var, const typed::Expr& expr, std::vector<Taint>& terms) {
  using typed::Op;
  const bool is_sum = expr.kind == typed::ExprKind::kBinary && (expr.op == Op::kAdd || expr.op == Op::kSub);
  const bool is_extreme = expr.kind == typed::ExprKind::kCall && (expr.op == Op::kMax || expr.op == Op::kMin);
  if (!is_sum && !is_extreme) return std::nullopt;
  const Fill neutral = is_sum ? Fill::kZero : expr.op == Op::kMax ? Fill::kNegInf : Fill::kPosInf;
  size_t found = 0;
  for (size_t i = 0; i < expr.args.size(); ++i) {
    const typed::Expr& arg = *expr.args[i];
    const bool is_var = arg.kind == typed::ExprKind::kVar && arg.id == var;
    const bool is_taken_away = expr.op == Op::kSub && i == 1;
    std::vector<Taint> beside;
    if (is_taken_away || (!is_var && TermsBeside(var, arg, beside) != neutral)) {
      terms.push_back(Operands(expr, i));
      continue;
    }
    ++found;
    terms.insert(terms.end(), beside.begin(), beside.end());
  }
  return found == 1 ? std::optional(neutral) : std::nullopt;
}

bool FillTaint::IsOfLoopOver(int source, VarId var) {
  return std::any_of(loops_.begin(), loops_.end(), [&](const Stmt* loop) {
    const std::vector<VarId>& vars = Assigned(*loop);
    return std::find(vars.begin(), vars.end(), var) != vars.end() &&
           symbolic::Mentions(sources_.At(source).difference, sources_.NameOf(loop->var));
  });
}

const std::vector<VarId>& FillTaint::Assigned(const Stmt& stmt) {
  const auto [place, is_new] = assigned_.try_emplace(&stmt);
  if (is_new) {
    std::set<VarId> vars;
    CollectAssigned(stmt.body, vars);
    CollectAssigned(stmt.orelse, vars);
    place->second.assign(vars.begin(), vars.end());
  }
  return place->second;
}

void FillTaint::CollectAssigned(const Block& block, std::set<VarId>& vars) {
  std::set<VarId> own;  // declared in it
  for (const typed::StmtPtr& stmt : block) {
    if (stmt->kind == StmtKind::kLet) own.insert(stmt->var);
    if (stmt->kind == StmtKind::kAssign || stmt->kind == StmtKind::kAssignPart) vars.insert(stmt->var);
    if (!stmt->body.empty() || !stmt->orelse.empty()) {
      const std::vector<VarId>& inner = Assigned(*stmt);
      vars.insert(inner.begin(), inner.end());
    }
  }
  for (const VarId var : own) vars.erase(var);
}

std::vector<Taint> FillTaint::Get(const std::vector<VarId>& vars) const {
  std::vector<Taint> taints;
  for (const VarId var : vars) taints.push_back(vars_[var]);
  return taints;
}

void FillTaint::Set(const std::vector<VarId>& vars, const std::vector<Taint>& taints) {
  for (size_t i = 0; i < vars.size(); ++i) vars_[vars[i]] = taints[i];
}

void FillTaint::RunLoop(const Stmt& stmt) {
  sources_.Enter(stmt.var, *stmt.lo, *stmt.hi, stmt.step);
  loops_.push_back(&stmt);
  const std::string name = sources_.NameOf(stmt.var);
  const std::vector<VarId>& vars = Assigned(stmt);
  std::vector<Taint> head = Get(vars);
  const std::vector<Taint> before = head;
  if (const auto known = heads_.find(&stmt); known != heads_.end()) {
    for (size_t i = 0; i < vars.size(); ++i) head[i] = Join(head[i], known->second[i]);
  }
  const bool known = heads_.count(&stmt) > 0 && heads_[&stmt] == head;
  const bool report = reporting_;
  reporting_ = false;
  for (size_t round = 0; !(known && report); ++round) {
    Ensure(round < MostRounds(vars.size()), "what a loop's variables hold for missing elements never settles", stmt.span);
    Set(vars, head);
    Run(stmt.body);
    std::vector<Taint> next = head;
    for (size_t i = 0; i < vars.size(); ++i) next[i] = Join(head[i], sources_.Older(vars_[vars[i]], stmt));
    if (next == head) break;
    head = std::move(next);
  }
  reporting_ = report;
  heads_[&stmt] = head;
  if (report) {
    Set(vars, head);
    Run(stmt.body);
  }
  // After no iteration, or after the last.
  for (size_t i = 0; i < vars.size(); ++i) vars_[vars[i]] = sources_.Forgotten(Join(before[i], vars_[vars[i]]), name);
  loops_.pop_back();
  sources_.Leave();
}

void FillTaint::RunIf(const Stmt& stmt) {
  Eval(*stmt.expr);
  const std::vector<VarId>& vars = Assigned(stmt);
  const std::vector<Taint> before = Get(vars);
  const size_t facts = sources_.Facts();
  sources_.Assume(*stmt.expr);
  Run(stmt.body);
  sources_.Forget(facts);
  const std::vector<Taint> after = Get(vars);
  Set(vars, before);
  sources_.Assume(*stmt.expr, false);
  Run(stmt.orelse);
  sources_.Forget(facts);
  for (size_t i = 0; i < vars.size(); ++i) vars_[vars[i]] = Join(after[i], vars_[vars[i]]);
}

void FillTaint::Send(const Stmt& stmt) {
  const size_t count = section_.pipes[static_cast<size_t>(stmt.pipe)].fields.size();
  Sent& own = sent_.try_emplace(&stmt, Sent{std::vector<Taint>(count, kUntainted)}).first->second;
  if (stmt.ring) {
    own.ring = table_->Of(*stmt.ring);
    own.numbers = sources_.NumbersIn(own.ring);
  }
  const bool has_ring_by_instance = stmt.ring && sources_.IsOfInstance(own.ring);
  for (size_t i = 0; i < stmt.values.size(); ++i) {
    const size_t field = stmt.field == typed::kNone ? i : static_cast<size_t>(stmt.field);
    const Taint sent = WithinTile(Eval(*stmt.values[i]), stmt);
    own.fields[field] = Join(own.fields[field], has_ring_by_instance ? sent : sources_.OfAnyInstance(sent));
  }
}

void FillTaint::JoinRings(const Sent& sent, const symbolic::Scalar& ring, const Taint& taint, size_t numbers,
                          std::map<int64_t, Taint>& rings) {
  if (taint.base == Fill::kNone) return;
  if (numbers < sent.numbers.size()) {
    const FillSources::Numbers& each = sent.numbers[numbers];
    for (int64_t i = each.first; i < each.end; i += each.step)
      JoinRings(sent, symbolic::Substitute(ring, each.name, symbolic::Int(i)), sources_.At(taint, each.name, i), numbers + 1,
                rings);
    return;
  }
  const auto number = symbolic::ConstantDifference(ring, symbolic::Int(0));
  Ensure(number.has_value(), "the ring of a send is no number", kernel_.span);
  Taint& there = rings.try_emplace(*number, kUntainted).first->second;
  there = Join(there, taint);
}

Taint FillTaint::OfOwnRing(std::map<int64_t, Taint> rings) {
  std::map<int, Fill> own[2];
  const bool are_in_row = !rings.empty() && rings.rbegin()->first - rings.begin()->first + 1 == std::ssize(rings);
  for (int axis = 0; axis < 2 && are_in_row && rings.size() > 1; ++axis) {
    const auto [first, taint] = *rings.begin();
    for (const auto& [source, fill] : taint.axis[axis]) {
      const std::map<int, Fill> nexts = rings.at(first + 1).axis[axis];
      for (const auto& [next, unused] : nexts) {
        const std::optional<int> found = sources_.OfInstances(source, next, first);
        if (found && TakeFrom(rings, axis, *found, own[axis])) break;
      }
    }
  }
  Taint taint = kUntainted;
  for (const auto& [ring, rest] : rings) taint = Join(taint, rest);
  for (int axis = 0; axis < 2; ++axis) {
    for (const auto& [source, fill] : own[axis]) {
      const auto [slot, is_new] = taint.axis[axis].emplace(source, fill);
      if (!is_new) slot->second = Join(slot->second, fill);
    }
  }
  return taint;
}

bool FillTaint::TakeFrom(std::map<int64_t, Taint>& rings, int axis, int source, std::map<int, Fill>& own) {
  std::vector<int> there;
  for (const auto& [ring, taint] : rings) {
    there.push_back(sources_.OfInstance(source, ring));
    if (taint.axis[axis].count(there.back()) == 0) return false;
  }
  Fill& fill = own.emplace(source, Fill::kNone).first->second;
  for (size_t i = 0; auto& [ring, taint] : rings) {
    fill = Join(fill, taint.axis[axis].at(there[i]));
    taint.axis[axis].erase(there[i++]);
  }
  return true;
}

Taint FillTaint::FieldOf(const Stmt& receive, size_t field, bool& differ) {
  Taint taint = kUntainted;
  std::map<int64_t, Taint> rings;
  const auto add = [&](const Sent& sent) {
    if (receive.ring) return JoinRings(sent, sent.ring, sent.fields[field], 0, rings);
    differ |= taint.base != Fill::kNone && taint != sent.fields[field];
    taint = Join(taint, sent.fields[field]);
  };
  const auto senders = steps_.senders.find(&receive);
  if (senders == steps_.senders.end() || steps_.lagging.count(receive.pipe) > 0) {
    for (const auto& [send, sent] : sent_) {
      if (send->pipe == receive.pipe) add(sent);
    }
  } else {
    for (const Stmt* send : senders->second) {
      if (const auto sent = sent_.find(send); sent != sent_.end()) add(sent->second);
    }
  }
  return receive.ring ? OfOwnRing(std::move(rings)) : taint;
}

void FillTaint::Receive(const Stmt& stmt) {
  const std::vector<VarId>& around = sources_.around();
  for (size_t i = 0; i < stmt.received.size(); ++i) {
    Taint& taint = vars_[stmt.received[i]];
    bool differ = false;
    taint = FieldOf(stmt, i, differ);
    for (size_t loop = section_.axes.size(); loop < around.size() && steps_.lagging.count(stmt.pipe) != 0; ++loop)
      taint = sources_.Forgotten(taint, sources_.NameOf(around[loop]));
    for (int axis = 0; axis < 2 && differ; ++axis) {
      for (const auto& [source, fill] : taint.axis[axis]) mixed_[source] = stmt.pipe;
    }
  }
}

void CheckFillTaint(const typed::Kernel& kernel, const typed::Section& section, const Steps& steps, Diagnostics& diagnostics) {
  FillTaint(kernel, section, steps, diagnostics).Check();
}

}  // namespace tkc::sema

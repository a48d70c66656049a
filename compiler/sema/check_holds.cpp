// SPDX-License-Identifier: MIT
// Slots that a worker holds (lang-spec, wp-17): at a receive, how many earlier slots of that pipe are still to be read.
//
// A variable holds a slot if it is a received value, a view of one (a part, a transpose), or a `var` that is only ever
// assigned such values. Liveness of holders, backwards; loops until nothing changes.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "compiler/sema/analyses.h"

namespace tkc::sema {
namespace {

using typed::Block;
using typed::Expr;
using typed::ExprKind;
using typed::Stmt;
using typed::StmtKind;
using typed::VarId;

/// Which field of which pipe a variable holds.
struct Holding {
  typed::PipeId pipe = typed::kNone;
  int field = 0;
  VarId root = typed::kNone;  // views of one value hold one slot
};

class HoldsCheck {
 public:
  HoldsCheck(const typed::Kernel& kernel, typed::Section& section, Diagnostics& diagnostics)
      : kernel_(kernel), section_(section), diagnostics_(diagnostics), needed_(section.pipes.size(), 1) {}

  void Check(const typed::Worker& worker) {
    holders_.clear();
    not_holders_.clear();
    FindHolders(worker.body);
    if (holders_.empty()) return;
    std::set<VarId> live;
    Walk(worker.body, live);
  }

  void Finish() {
    for (size_t p = 0; p < needed_.size(); ++p) section_.pipes[p].least_slots = std::max(section_.pipes[p].least_slots, needed_[p]);
  }

 private:
  /// The holder that `expr` is a view of.
  const Holding* ViewOf(const Expr& expr) const {
    const Expr* view = &expr;
    while (view->kind == ExprKind::kPart || view->kind == ExprKind::kTranspose) view = view->args[0].get();
    if (view->kind != ExprKind::kVar) return nullptr;
    const auto place = holders_.find(view->id);
    return place == holders_.end() ? nullptr : &place->second;
  }

  void FindHolders(const Block& block) {
    for (const typed::StmtPtr& stmt : block) {
      if (stmt->kind == StmtKind::kReceive) {
        for (size_t i = 0; i < stmt->received.size(); ++i)
          holders_[stmt->received[i]] = {stmt->pipe, static_cast<int>(i), stmt->received[i]};
      } else if (stmt->kind == StmtKind::kLet || stmt->kind == StmtKind::kAssign) {
        const Holding* holding = ViewOf(*stmt->expr);
        if (holding == nullptr) {
          not_holders_.insert(stmt->var);
          holders_.erase(stmt->var);
        } else if (not_holders_.count(stmt->var) == 0) {
          Holding own = *holding;
          if (kernel_.vars[stmt->var].kind == typed::VarKind::kMutable) own.root = stmt->var;
          holders_.emplace(stmt->var, own);
        }
      } else if (stmt->kind == StmtKind::kAssignPart) {
        not_holders_.insert(stmt->var);
        holders_.erase(stmt->var);
      }
      FindHolders(stmt->body);
      FindHolders(stmt->orelse);
    }
  }

  void Use(const Expr* expr, std::set<VarId>& live) const {
    if (expr == nullptr) return;
    if (expr->kind == ExprKind::kVar && holders_.count(expr->id) > 0) live.insert(expr->id);
    for (const typed::ExprPtr& arg : expr->args) Use(arg.get(), live);
  }

  void Walk(const Block& block, std::set<VarId>& live) {
    for (auto stmt = block.rbegin(); stmt != block.rend(); ++stmt) Walk(**stmt, live);
  }

  void Walk(const Stmt& stmt, std::set<VarId>& live) {
    switch (stmt.kind) {
      case StmtKind::kFor: {
        // What is live at the head is live at the end of the body too. The head is remembered, so that a loop in a loop
        // starts its next round from what it found before.
        std::set<VarId>& head = heads_[&stmt];
        live.insert(head.begin(), head.end());
        while (true) {
          std::set<VarId> at_end = live;
          Walk(stmt.body, at_end);
          const size_t before = live.size();
          live.insert(at_end.begin(), at_end.end());
          if (live.size() == before) break;
        }
        head = live;
        return;
      }
      case StmtKind::kIf: {
        std::set<VarId> other = live;
        Walk(stmt.body, live);
        Walk(stmt.orelse, other);
        live.insert(other.begin(), other.end());
        return;
      }
      case StmtKind::kReceive: return AtReceive(stmt, live);
      case StmtKind::kLet:
      case StmtKind::kAssign: {
        const bool was_live = live.erase(stmt.var) > 0;
        // A copy of a held value that nobody reads holds nothing.
        if (was_live || ViewOf(*stmt.expr) == nullptr || holders_.count(stmt.var) == 0) Use(stmt.expr.get(), live);
        return;
      }
      default:
        Use(stmt.expr.get(), live);
        for (const typed::ExprPtr& value : stmt.values) Use(value.get(), live);
        return;
    }
  }

  void AtReceive(const Stmt& stmt, std::set<VarId>& live) {
    for (const VarId var : stmt.received) live.erase(var);
    const typed::Pipe& pipe = section_.pipes[stmt.pipe];
    std::vector<std::set<VarId>> by_field(pipe.fields.size());
    for (const VarId var : live) {
      const Holding& holding = holders_.at(var);
      if (holding.pipe == stmt.pipe) by_field[holding.field].insert(holding.root);
    }
    const auto most =
        std::max_element(by_field.begin(), by_field.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
    const auto held = static_cast<int64_t>(most->size());
    needed_[stmt.pipe] = std::max(needed_[stmt.pipe], held + 1);
    if (pipe.slots == 0 || held < pipe.slots || !reported_.insert({stmt.span.file, stmt.span.begin}).second) return;
    const typed::Var& holder = kernel_.vars[*most->begin()];
    diagnostics_
        .Error(DiagnosticKind::kTooFewSlots, stmt.span,
               fmt::format("`{}` has {} slot{}, and {} {} held at this receive", pipe.name, pipe.slots, pipe.slots == 1 ? "" : "s",
                           held, held == 1 ? "is" : "are"))
        .Label(stmt.span, "waits for another slot")
        .Note(holder.span, fmt::format("`{}` holds a slot: it is used after the receive", holder.name))
        .Note(pipe.span, fmt::format("`{}` is declared here", pipe.name))
        .Help(fmt::format("{} slots are enough: `{}[{}]`", held + 1, pipe.name, held + 1));
  }

  const typed::Kernel& kernel_;
  typed::Section& section_;
  Diagnostics& diagnostics_;
  std::vector<int64_t> needed_;
  std::map<VarId, Holding> holders_;
  std::set<VarId> not_holders_;
  std::map<const Stmt*, std::set<VarId>> heads_;
  std::set<std::pair<uint32_t, uint32_t>> reported_;
};

}  // namespace

void CheckHolds(const typed::Kernel& kernel, typed::Section& section, Diagnostics& diagnostics) {
  HoldsCheck holds(kernel, section, diagnostics);
  for (const typed::Worker& worker : section.workers) holds.Check(worker);
  holds.Finish();
}

}  // namespace tkc::sema

// SPDX-License-Identifier: MIT
#include "compiler/sema/skeleton.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/sema/scalar_text.h"
#include "compiler/support/internal_error.h"

namespace tkc::sema {
namespace {

using typed::Stmt;
using typed::StmtKind;
using TrafficKind = TrafficItem::Kind;

bool MentionsVar(const typed::Expr& expr, typed::VarId var) {
  return typed::Contains(expr, [&](const typed::Expr& node) { return node.kind == typed::ExprKind::kVar && node.id == var; });
}

/// Whether the variable says which ring is meant.
bool ChoosesRing(const typed::Block& block, typed::VarId var) {
  return std::any_of(block.begin(), block.end(), [&](const typed::StmtPtr& stmt) {
    return (stmt->ring && MentionsVar(*stmt->ring, var)) || ChoosesRing(stmt->body, var) || ChoosesRing(stmt->orelse, var);
  });
}

class Builder {
 public:
  Builder(const typed::Kernel& kernel, const typed::Section& section, Skeleton& skeleton, Diagnostics& diagnostics)
      : kernel_(kernel),
        section_(section),
        skeleton_(skeleton),
        table_(skeleton.table),
        diagnostics_(diagnostics),
        first_ring_(NumberRings(section)) {}

  std::vector<TrafficItem> Build(const typed::Block& block) {
    std::vector<TrafficItem> items;
    for (const typed::StmtPtr& stmt : block) Add(*stmt, items);
    return items;
  }

 private:
  static void Note(std::vector<int>& rings, const std::vector<TrafficItem>& items) {
    for (const TrafficItem& item : items) rings.insert(rings.end(), item.rings.begin(), item.rings.end());
    std::sort(rings.begin(), rings.end());
    rings.erase(std::unique(rings.begin(), rings.end()), rings.end());
  }

  std::optional<int64_t> Number(const typed::Expr& expr) {
    int64_t value = 0;
    const symbolic::Scalar scalar = table_.Of(expr);
    if (scalar->kind == symbolic::Kind::kBool) return scalar->int_value;
    return symbolic::IsInt(scalar, &value) ? std::optional(value) : std::nullopt;
  }

  void Add(const Stmt& stmt, std::vector<TrafficItem>& items) {
    switch (stmt.kind) {
      case StmtKind::kLet: return AddLet(stmt, items);
      case StmtKind::kFor: {
        if (ChoosesRing(stmt.body, stmt.var)) return AddRings(stmt, items);
        TrafficItem item{TrafficKind::kLoop, &stmt, 0, {}, Build(stmt.body), {}, {}};
        Note(item.rings, item.body);
        if (!item.rings.empty()) items.push_back(std::move(item));
        return;
      }
      case StmtKind::kIf: return AddIf(stmt, items);
      case StmtKind::kSend:
      case StmtKind::kReceive: return AddTraffic(stmt, items);
      default: return;
    }
  }

  /// A loop over the rings of a pipe, number by number.
  void AddRings(const Stmt& stmt, std::vector<TrafficItem>& items) {
    const std::optional<int64_t> lo = Number(*stmt.lo), hi = Number(*stmt.hi);
    Ensure(lo && hi, "a ring that is known only when the kernel runs", stmt.span);
    for (int64_t i = *lo; i < *hi; i += stmt.step) {
      table_.Fix(stmt.var, i);
      for (const typed::StmtPtr& inner : stmt.body) Add(*inner, items);
    }
  }

  void AddLet(const Stmt& stmt, std::vector<TrafficItem>& items) {
    const typed::Var& var = kernel_.vars[stmt.var];
    if (var.kind != typed::VarKind::kLet || var.type.is_tile || var.level == typed::Level::kWorker) return;
    table_.Define(stmt.var, *stmt.expr);
    items.push_back({TrafficKind::kLet, &stmt, 0, {}, {}, {}, {}});
  }

  void AddIf(const Stmt& stmt, std::vector<TrafficItem>& items) {
    if (const auto known = stmt.expr->level == typed::Level::kWorker ? std::nullopt : Number(*stmt.expr)) {
      for (const typed::StmtPtr& inner : *known != 0 ? stmt.body : stmt.orelse) Add(*inner, items);
      return;
    }
    TrafficItem item{TrafficKind::kIf, &stmt, 0, {}, Build(stmt.body), Build(stmt.orelse), {}};
    Note(item.rings, item.body);
    Note(item.rings, item.orelse);
    if (!item.rings.empty()) items.push_back(std::move(item));
  }

  void AddTraffic(const Stmt& stmt, std::vector<TrafficItem>& items) {
    const typed::Pipe& pipe = section_.pipes[stmt.pipe];
    TrafficItem item{
        stmt.kind == StmtKind::kSend ? TrafficKind::kSend : TrafficKind::kReceive, &stmt, first_ring_[stmt.pipe], {}, {}, {}, {}};
    if (stmt.ring) {
      const std::optional<int64_t> ring = Number(*stmt.ring);
      if (!ring || *ring < 0 || *ring >= pipe.rings) {
        diagnostics_
            .Error(DiagnosticKind::kRingIndex, stmt.span,
                   ring ? fmt::format("ring {} of `{}`, which has {}", *ring, pipe.name, pipe.rings)
                        : fmt::format("the ring of `{}` is known only when the kernel runs", pipe.name))
            .Note(pipe.span, "declared here");
        return;
      }
      item.ring += static_cast<int>(*ring);
      if (stmt.kind == StmtKind::kReceive && !IsOwn(stmt, pipe, *ring)) return;
    }
    item.rings = {item.ring};
    if (stmt.kind == StmtKind::kSend && !AddParts(stmt, pipe, item)) return;
    items.push_back(std::move(item));
  }

  /// Each instance receives what is its own.
  bool IsOwn(const Stmt& stmt, const typed::Pipe& pipe, int64_t ring) {
    const std::string& owner = section_.workers[pipe.per_worker].name;
    const bool is_owner = skeleton_.worker == pipe.per_worker;
    if (is_owner && ring == skeleton_.instance) return true;
    DiagnosticBuilder report = diagnostics_.Error(
        DiagnosticKind::kRingIndex, stmt.span,
        fmt::format("`{}` receives from `{}[{}]`, which is for `{}[{}]`", skeleton_.name, pipe.name, ring, owner, ring));
    report.Note(pipe.span, "declared here");
    if (is_owner)
      report.Help(fmt::format("each instance receives what is its own: `<-{}[w]` in `worker {}[..] as w`", pipe.name, owner));
    else
      report.Help("leave out `per`, and all receive all, or let who is to have it send it on");
    return false;
  }

  bool AddParts(const Stmt& stmt, const typed::Pipe& pipe, TrafficItem& item) {
    if (stmt.field == typed::kNone) {
      for (size_t i = 0; i < pipe.fields.size(); ++i)
        item.parts.push_back({static_cast<int>(i), 0, 0, pipe.fields[i].rows, pipe.fields[i].cols});
      return true;
    }
    const typed::Type& type = stmt.values[0]->type;
    const std::optional<int64_t> row = stmt.row ? Number(*stmt.row) : 0;
    const std::optional<int64_t> col = stmt.col ? Number(*stmt.col) : 0;
    if (!row || !col) {
      diagnostics_
          .Error(DiagnosticKind::kPartIndex, stmt.span,
                 fmt::format("which part of `{}` is sent is known only when the kernel runs", pipe.name))
          .Help("index the part by the number of the instance, or by a loop over a small number: `for u in 4`");
      return false;
    }
    item.parts.push_back({stmt.field, *row, *col, type.rows, type.cols});
    return true;
  }

  const typed::Kernel& kernel_;
  const typed::Section& section_;
  const Skeleton& skeleton_;
  SymbolicTable& table_;
  Diagnostics& diagnostics_;
  std::vector<int> first_ring_;
};

constexpr size_t kLongestText = 400;

/// `p`, or `p[2]` of several.
std::string RingText(const typed::Section& section, const TrafficItem& item) {
  const typed::Pipe& pipe = section.pipes[item.stmt->pipe];
  return pipe.rings == 1 ? pipe.name : fmt::format("{}[{}]", pipe.name, item.ring - NumberRings(section)[item.stmt->pipe]);
}

void AppendText(const typed::Kernel& kernel, const typed::Section& section, const std::vector<TrafficItem>& items,
                const std::vector<int>& shown, std::string& text) {
  bool first = true;
  for (const TrafficItem& item : items) {
    if (text.size() > kLongestText) return;
    const bool concerns = std::any_of(item.rings.begin(), item.rings.end(),
                                      [&](int ring) { return std::binary_search(shown.begin(), shown.end(), ring); });
    if (!concerns) continue;
    if (!first) text += "; ";
    first = false;
    switch (item.kind) {
      case TrafficKind::kSend: text += RingText(section, item) + " <-"; break;
      case TrafficKind::kReceive: text += "<-" + RingText(section, item); break;
      case TrafficKind::kLoop:
        text += "for " + LoopText(kernel, *item.stmt) + " { ";
        AppendText(kernel, section, item.body, shown, text);
        text += " }";
        break;
      case TrafficKind::kIf:
        text += "if " + ScalarText(kernel, *item.stmt->expr) + " { ";
        AppendText(kernel, section, item.body, shown, text);
        if (!item.orelse.empty()) {
          text += " } else { ";
          AppendText(kernel, section, item.orelse, shown, text);
        }
        text += " }";
        break;
      case TrafficKind::kLet: break;
    }
  }
}

}  // namespace

bool Touches(const TrafficItem& item, int ring) { return std::binary_search(item.rings.begin(), item.rings.end(), ring); }

std::vector<int> NumberRings(const typed::Section& section) {
  std::vector<int> first = {0};
  for (const typed::Pipe& pipe : section.pipes) first.push_back(first.back() + static_cast<int>(pipe.rings));
  return first;
}

std::vector<Skeleton> BuildSkeletons(const typed::Kernel& kernel, const typed::Section& section, Diagnostics& diagnostics) {
  std::vector<Skeleton> skeletons;
  for (size_t w = 0; w < section.workers.size(); ++w) {
    const typed::Worker& worker = section.workers[w];
    const int64_t count = worker.InstancesOfTile();
    for (int64_t i = 0; i < count; ++i) {
      Skeleton& skeleton = skeletons.emplace_back(kernel);
      skeleton.name = count > 1 ? fmt::format("{}[{}]", worker.name, i) : worker.name;
      skeleton.worker = static_cast<int>(w);
      skeleton.instance = i;
      DefineLets(kernel, section.lets, skeleton.table);
      skeleton.table.Fix(worker.instance_var, i);
      skeleton.items = Builder(kernel, section, skeleton, diagnostics).Build(worker.body);
    }
  }
  return skeletons;
}

std::string SkeletonText(const typed::Kernel& kernel, const typed::Section& section, const std::vector<TrafficItem>& items,
                         const std::vector<int>& shown) {
  std::string text;
  AppendText(kernel, section, items, shown, text);
  return text.empty() ? "nothing" : text.size() > kLongestText ? text.substr(0, kLongestText) + " .." : text;
}

}  // namespace tkc::sema

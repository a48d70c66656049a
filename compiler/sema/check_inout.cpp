// SPDX-License-Identifier: MIT
// `inout` tensors. What a tile of work stores is what it has read: the one read feeds a pipe, and the stored value is made of what
// was received from there, so that reading is over before the store begins, on every target and in every order of the workers.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "compiler/sema/analyses.h"
#include "compiler/sema/scalar_text.h"
#include "compiler/sema/symbolic_table.h"

namespace tkc::sema {
namespace {

using symbolic::Scalar;
using typed::Expr;
using typed::ExprKind;
using typed::ParamId;
using typed::Stmt;
using typed::StmtKind;
using typed::VarId;

/// Elements first .. first + extent of an axis, in terms that all workers share.
struct Range {
  Scalar first;
  int64_t extent = 1;
};

struct Place {
  const Stmt* stmt = nullptr;
  const Expr* read = nullptr;  // null: a store
  int worker = 0;
  std::vector<Range> axes;
};

class InOut {
 public:
  InOut(const typed::Kernel& kernel, const typed::Section& section, ParamId tensor, const Steps& steps, Diagnostics& diagnostics)
      : kernel_(kernel), section_(section), tensor_(tensor), steps_(steps), diagnostics_(diagnostics) {}

  void Check() {
    for (size_t w = 0; w < section_.workers.size(); ++w) {
      const typed::Worker& worker = section_.workers[w];
      worker_ = static_cast<int>(w);
      for (int64_t i = 0; i < worker.InstancesOfTile(); ++i) {
        SymbolicTable table(kernel_);
        for (const auto& [var, name] : steps_.names) table.Rename(var, name);
        table.Fix(worker.instance_var, i);
        DefineLets(kernel_, section_.lets, table);
        DefineLets(kernel_, worker.body, table);
        table_ = &table;
        Collect(worker.body);
      }
    }
    if (stores_.empty() || sends_.empty()) {
      if (!stores_.empty() && !others_.empty()) ReportDirect(others_[0]);
      return;
    }
    if (!others_.empty()) return ReportDirect(others_[0]);
    for (const Place& send : sends_) {
      if (send.read != sends_[0].read) return ReportSecond(*sends_[0].read, *send.read);
    }
    for (const Place& store : stores_) {
      const bool is_inside = std::any_of(sends_.begin(), sends_.end(), [&](const Place& send) { return Covers(send, store); });
      if (!is_inside) return ReportElsewhere(*sends_[0].read, *store.stmt);
    }
    Follow();
  }

 private:
  void Collect(const typed::Block& block) {
    for (const typed::StmtPtr& stmt : block) {
      const bool is_send = stmt->kind == StmtKind::kSend;
      for (size_t i = 0; i < stmt->values.size(); ++i) {
        const Expr& value = *stmt->values[i];
        if (is_send && value.kind == ExprKind::kRead && value.id == tensor_) {
          sends_.push_back({stmt.get(), &value, worker_, RangesOf(value.axes)});
          fields_.insert({stmt->pipe, stmt->field == typed::kNone ? static_cast<int>(i) : stmt->field});
        } else {
          Collect(value, *stmt);
        }
      }
      for (const typed::ExprPtr* expr : {&stmt->expr, &stmt->lo, &stmt->hi, &stmt->row, &stmt->col}) {
        if (*expr) Collect(**expr, *stmt);
      }
      if (stmt->kind == StmtKind::kStore && stmt->tensor == tensor_)
        stores_.push_back({stmt.get(), nullptr, worker_, RangesOf(stmt->axes)});
      Collect(stmt->body);
      Collect(stmt->orelse);
    }
  }

  void Collect(const Expr& expr, const Stmt& stmt) {
    const bool is_access = expr.kind == ExprKind::kRead || expr.kind == ExprKind::kElement || expr.kind == ExprKind::kGather;
    if (is_access && expr.id == tensor_) others_.push_back({&stmt, &expr, worker_, RangesOf(expr.axes)});
    for (const typed::ExprPtr& arg : expr.args) Collect(*arg, stmt);
    for (const typed::AxisRange& axis : expr.axes) Collect(*axis.start, stmt);
  }

  std::vector<Range> RangesOf(const std::vector<typed::AxisRange>& axes) {
    std::vector<Range> ranges;
    for (const typed::AxisRange& axis : axes) ranges.push_back({table_->Of(*axis.start), axis.extent});
    return ranges;
  }

  /// Does the tile that is read hold all that is stored?
  static bool Covers(const Place& read, const Place& store) {
    for (size_t i = 0; i < store.axes.size(); ++i) {
      const std::optional<int64_t> offset = symbolic::ConstantDifference(store.axes[i].first, read.axes[i].first);
      if (!offset || *offset < 0 || *offset + store.axes[i].extent > read.axes[i].extent) return false;
    }
    return true;
  }

  /// Values that are made of what was read, in the workers that store.
  void Follow() {
    for (const auto& [pipe, field] : fields_) {
      if (steps_.lagging.count(pipe) > 0) return ReportUnrelated(*stores_[0].stmt);
    }
    for (const Place& store : stores_) {
      made_.clear();
      found_ = false;
      Follow(section_.workers[static_cast<size_t>(store.worker)].body, *store.stmt);
      if (!found_) return ReportUnrelated(*store.stmt);
    }
  }

  void Follow(const typed::Block& block, const Stmt& store) {
    for (const typed::StmtPtr& stmt : block) {
      if (stmt->kind == StmtKind::kReceive) {
        for (size_t i = 0; i < stmt->received.size(); ++i) {
          if (fields_.count({stmt->pipe, static_cast<int>(i)}) > 0) made_.insert(stmt->received[i]);
        }
      } else if (stmt->kind == StmtKind::kLet && kernel_.vars[stmt->var].kind == typed::VarKind::kLet && IsMade(*stmt->expr)) {
        made_.insert(stmt->var);
      } else if (stmt.get() == &store) {
        found_ = IsMade(*stmt->expr);
      }
      Follow(stmt->body, store);
      Follow(stmt->orelse, store);
    }
  }

  bool IsMade(const Expr& expr) const {
    return typed::Contains(expr, [&](const Expr& node) { return node.kind == ExprKind::kVar && made_.count(node.id) > 0; });
  }

  /// What a store takes, as an access reads it.
  std::string AccessText(const Stmt& store) const {
    std::string indices;
    for (const typed::AxisRange& axis : store.axes) {
      const std::string start = ScalarText(kernel_, *axis.start);
      const bool is_block = axis.dropped || axis.start->kind == ExprKind::kVar;
      indices += fmt::format("{}{}{}", indices.empty() ? "" : ", ", start, is_block ? "" : fmt::format(" :+ {}", axis.extent));
    }
    return fmt::format("{}[{}]", kernel_.params[tensor_].name, indices);
  }

  DiagnosticBuilder Report(ErrorKind kind, Span span, const char* text) {
    return diagnostics_.Error(kind, span, fmt::format(fmt::runtime(text), kernel_.params[tensor_].name));
  }
  void ReportDirect(const Place& other) {
    const Expr& read = *other.read;
    const Stmt& store = *stores_[0].stmt;
    if (read.kind == ExprKind::kRead && !Covers(other, stores_[0])) return ReportElsewhere(read, store);
    Report(DiagnosticKind::kInOutOrder, read.span, "`{}` is read by a worker beside the stores to it")
        .Label(read.span, "read here")
        .Label(store.span, "stored here")
        .Help(fmt::format("read it through a pipe, in another worker: `p <- {}`; the slot is full before anything is stored",
                          AccessText(store)));
  }
  void ReportSecond(const Expr& first, const Expr& second) {
    Report(DiagnosticKind::kInOutOrder, second.span, "`{}` is read twice and stored")
        .Label(first.span, "read here")
        .Label(second.span, "and here")
        .Label(stores_[0].stmt->span, "stored here")
        .Help("read it once, or let the result be another tensor");
  }
  void ReportElsewhere(const Expr& read, const Stmt& store) {
    Report(DiagnosticKind::kHaloOnInOut, read.span, "a tile reads other elements of `{}` than it writes")
        .Label(read.span, "read here")
        .Label(store.span, "a tile writes these")
        .Help("read what the tile writes and nothing else, or let the result be another tensor");
  }
  void ReportUnrelated(const Stmt& store) {
    Report(DiagnosticKind::kInOutOrder, store.span, "what is stored to `{}` is not made of what was read there")
        .Label(store.span, "may be stored before it is read")
        .Note(sends_[0].read->span, "read here")
        .Help("store a value that follows by `let`s from what was received, or let the result be another tensor");
  }

  const typed::Kernel& kernel_;
  const typed::Section& section_;
  const ParamId tensor_;
  const Steps& steps_;
  Diagnostics& diagnostics_;
  SymbolicTable* table_ = nullptr;
  int worker_ = 0;
  std::vector<Place> sends_, stores_, others_;
  std::set<std::pair<typed::PipeId, int>> fields_;  // that carry what was read
  std::set<VarId> made_;
  bool found_ = false;
};

}  // namespace

void CheckInOut(const typed::Kernel& kernel, const typed::Section& section, const Steps& steps, Diagnostics& diagnostics) {
  for (size_t tensor = 0; tensor < kernel.params.size(); ++tensor) {
    if (kernel.params[tensor].mode == typed::TensorMode::kInOut)
      InOut(kernel, section, static_cast<ParamId>(tensor), steps, diagnostics).Check();
  }
}

}  // namespace tkc::sema

// SPDX-License-Identifier: MIT
// Elements of `out` tensors that nothing stores, and of `work` tensors that are read all the same (lang-spec, se-18, se-20).
//
// All stores of a launch of few blocks are walked through, by their indices only. A condition that depends on more than the
// extents may hold, and counts as if it did; a tensor that is stored at indices which depend on more is left out. So an element
// that is left over is one that this launch stores nowhere, whatever its arguments hold. Of reads those count that are made for
// certain.
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "compiler/sema/analyses.h"
#include "compiler/sema/sample_launch.h"
#include "compiler/sema/symbolic_table.h"
#include "compiler/symbolic/evaluate.h"

namespace tkc::sema {
namespace {

using typed::Block;
using typed::Expr;
using typed::ParamId;
using typed::Stmt;
using typed::StmtKind;

constexpr int64_t kMostSteps = 20'000;   // statements walked through
constexpr int64_t kMostCells = 1 << 22;  // between the places where stores begin and end

struct Interval {
  int64_t begin = 0, end = 0;
};
using Box = std::vector<Interval>;  // by axis

struct IsBefore {
  bool operator()(const Box& a, const Box& b) const {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), [](const Interval& x, const Interval& y) {
      return x.begin != y.begin ? x.begin < y.begin : x.end < y.end;
    });
  }
};
using Boxes = std::map<Box, Span, IsBefore>;  // with the last place that has it

/// What is stored of one tensor, and what has to be.
struct Stored {
  std::vector<int64_t> extents;
  Boxes stored, wanted;
  const Stmt* last = nullptr;
};

/// The tensor, cut where boxes begin and end.
class Cells {
 public:
  explicit Cells(const Stored& of) : cuts_(of.extents.size()), strides_(of.extents.size()) {
    for (size_t axis = 0; axis < cuts_.size(); ++axis) {
      std::vector<int64_t>& places = cuts_[axis];
      places = {0, of.extents[axis]};
      for (const Boxes* boxes : {&of.stored, &of.wanted}) {
        for (const auto& [box, span] : *boxes) places.push_back(box[axis].begin), places.push_back(box[axis].end);
      }
      std::sort(places.begin(), places.end());
      places.erase(std::unique(places.begin(), places.end()), places.end());
    }
    for (size_t axis = cuts_.size(); axis-- > 0 && count_ <= kMostCells;) {
      strides_[axis] = count_;
      count_ *= std::ssize(cuts_[axis]) - 1;
    }
  }

  int64_t Count() const { return count_; }

  void ForEachOf(const Box& box, const std::function<void(size_t cell)>& visit, size_t axis = 0, int64_t cell = 0) const {
    if (axis == cuts_.size()) return visit(static_cast<size_t>(cell));
    const auto number = [&](int64_t place) {
      return std::lower_bound(cuts_[axis].begin(), cuts_[axis].end(), place) - cuts_[axis].begin();
    };
    const int64_t end = number(box[axis].end);
    for (int64_t i = number(box[axis].begin); i < end; ++i) ForEachOf(box, visit, axis + 1, cell + i * strides_[axis]);
  }

  std::vector<int64_t> FirstElement(size_t cell) const {
    std::vector<int64_t> element(cuts_.size());
    auto rest = static_cast<int64_t>(cell);
    for (size_t axis = 0; axis < cuts_.size(); rest %= strides_[axis++])
      element[axis] = cuts_[axis][static_cast<size_t>(rest / strides_[axis])];
    return element;
  }

 private:
  std::vector<std::vector<int64_t>> cuts_;  // by axis
  std::vector<int64_t> strides_;
  int64_t count_ = 1;
};

struct Hole {
  std::vector<int64_t> element;
  Span wanted_at;
};

/// The first element, the last axis counted fastest, that lies in no stored box and in a wanted one.
std::optional<Hole> FirstHole(const Stored& of) {
  const Cells cells(of);
  if (cells.Count() > kMostCells) return std::nullopt;
  std::vector<bool> covered(static_cast<size_t>(cells.Count()));
  for (const auto& [box, span] : of.stored) cells.ForEachOf(box, [&](size_t cell) { covered[cell] = true; });
  std::optional<size_t> first;
  Span place = kNoSpan;
  for (const auto& [box, span] : of.wanted) {
    cells.ForEachOf(box, [&, span = span](size_t cell) {
      if (!covered[cell] && (!first || cell < *first)) first = cell, place = span;
    });
  }
  return first ? std::optional(Hole{cells.FirstElement(*first), place}) : std::nullopt;
}

class StoreWalk {
 public:
  StoreWalk(const typed::Kernel& kernel, const Launch& launch) : kernel_(kernel), values_(launch) {
    SymbolicTable table(kernel);
    table_ = &table;
    for (size_t i = 0; i < kernel.params.size(); ++i) AddTensor(static_cast<ParamId>(i));
    table_ = nullptr;
  }

  /// What is stored of each tensor, but for those of which that is not known.
  std::map<ParamId, Stored> Run() {
    for (const typed::Section& section : kernel_.sections) {
      for (const typed::Worker& worker : section.workers) {
        if (stored_.empty()) return {};
        if (!Uses(worker.body)) continue;
        const int64_t instances = worker.InstancesOfTile();
        for (int64_t i = 0; i < instances; ++i) RunInstance(section, worker, i);
      }
    }
    return steps_ > kMostSteps ? std::map<ParamId, Stored>{} : std::move(stored_);
  }

 private:
  void AddTensor(ParamId id) {
    const typed::Param& param = kernel_.params[static_cast<size_t>(id)];
    const bool is_out = param.kind == typed::ParamKind::kTensor && param.mode == typed::TensorMode::kOut;
    if ((!is_out && param.kind != typed::ParamKind::kWork) || param.has_preset) return;
    Stored stored;
    Box whole;
    for (const typed::ExprPtr& extent : param.extents) {
      const std::optional<int64_t> length = Value(*extent);
      if (!length || *length <= 0) return;
      stored.extents.push_back(*length);
      whole.push_back({0, *length});
    }
    if (is_out) stored.wanted.emplace(std::move(whole), param.span);
    stored_.emplace(id, std::move(stored));
  }

  void RunInstance(const typed::Section& section, const typed::Worker& worker, int64_t instance) {
    SymbolicTable table(kernel_);
    table.Fix(worker.instance_var, instance);
    DefineLets(kernel_, section.lets, table);
    DefineLets(kernel_, worker.body, table);
    table_ = &table;
    scalars_.clear();
    RunAxis(section, 0, worker.body);
    table_ = nullptr;
  }

  void RunAxis(const typed::Section& section, size_t number, const Block& body) {
    if (number == section.axes.size()) return RunBlock(body);
    const typed::GridAxis& axis = section.axes[number];
    RunRange(axis.var, *axis.lo, *axis.hi, axis.step, body, [&] { RunAxis(section, number + 1, body); });
  }

  void RunRange(typed::VarId var, const Expr& lo, const Expr& hi, int64_t step, const Block& body,
                const std::function<void()>& iteration) {
    const std::optional<int64_t> first = Value(lo), end = Value(hi);
    if (!first || !end) return ForgetStoresOf(body);
    for (int64_t i = *first; i < *end && steps_ <= kMostSteps; i += step) {
      ++steps_;
      values_[table_->NameOf(var)] = i;
      iteration();
    }
    values_.erase(table_->NameOf(var));
  }

  void RunBlock(const Block& block) {
    for (const typed::StmtPtr& stmt : block) {
      if (steps_ > kMostSteps) return;
      for (const Expr* expr : ExprsOf(*stmt)) AddReads(*expr);
      if (stmt->kind == StmtKind::kStore) AddStore(*stmt);
      if (stmt->kind == StmtKind::kFor && Uses(stmt->body))
        RunRange(stmt->var, *stmt->lo, *stmt->hi, stmt->step, stmt->body, [&] { RunBlock(stmt->body); });
      if (stmt->kind == StmtKind::kIf && (Uses(stmt->body) || Uses(stmt->orelse))) RunBranches(*stmt);
    }
  }

  void RunBranches(const Stmt& stmt) {
    const std::optional<int64_t> holds = Value(*stmt.expr);
    unknown_conditions_ += !holds;
    if (holds.value_or(1) != 0) RunBlock(stmt.body);
    if (holds.value_or(0) == 0) RunBlock(stmt.orelse);
    unknown_conditions_ -= !holds;
  }

  static std::vector<const Expr*> ExprsOf(const Stmt& stmt) {
    std::vector<const Expr*> exprs;
    if (stmt.expr) exprs.push_back(stmt.expr.get());
    for (const typed::ExprPtr& value : stmt.values) exprs.push_back(value.get());
    return exprs;
  }

  void AddReads(const Expr& expr) {
    if (unknown_conditions_ > 0) return;
    const auto place = expr.kind == typed::ExprKind::kRead ? stored_.find(expr.id) : stored_.end();
    if (place != stored_.end() && IsWork(expr.id)) {
      ++steps_;
      if (const std::optional<Box> box = BoxOf(expr.axes, place->second); box && !box->empty())
        place->second.wanted.insert_or_assign(*box, expr.span);
    }
    for (const typed::ExprPtr& arg : expr.args) AddReads(*arg);
  }

  void AddStore(const Stmt& stmt) {
    ++steps_;
    const auto place = stored_.find(stmt.tensor);
    if (place == stored_.end()) return;
    place->second.last = &stmt;
    std::optional<Box> box = BoxOf(stmt.axes, place->second);
    if (!box) return void(stored_.erase(place));
    if (!box->empty()) place->second.stored.insert_or_assign(std::move(*box), stmt.span);
  }

  /// What an access covers, without axes if that is no element; nothing if it is not known.
  std::optional<Box> BoxOf(const std::vector<typed::AxisRange>& axes, const Stored& of) {
    Box box;
    bool is_empty = false;
    for (size_t i = 0; i < axes.size(); ++i) {
      const typed::AxisRange& axis = axes[i];
      const std::optional<int64_t> start = Value(*axis.start);
      const std::optional<int64_t> lo = axis.lo ? Value(*axis.lo) : 0;
      const std::optional<int64_t> hi = axis.hi ? Value(*axis.hi) : of.extents[i];
      if (!start || !lo || !hi) return std::nullopt;
      box.push_back({std::max({*start, *lo, int64_t{0}}), std::min({*start + axis.extent, *hi, of.extents[i]})});
      is_empty |= box.back().begin >= box.back().end;
    }
    return is_empty ? Box{} : box;
  }

  bool IsWork(ParamId id) const { return kernel_.params[static_cast<size_t>(id)].kind == typed::ParamKind::kWork; }

  bool Reads(const Expr& expr) const {
    return typed::Contains(expr, [&](const Expr& node) {
      return node.kind == typed::ExprKind::kRead && stored_.count(node.id) > 0 && IsWork(node.id);
    });
  }

  /// Whether statements of the block store to tensors of which that is counted, or read them.
  bool Uses(const Block& block) {
    const auto [known, is_new] = uses_.emplace(&block, false);
    if (!is_new) return known->second;
    const bool uses = std::any_of(block.begin(), block.end(), [&](const typed::StmtPtr& stmt) {
      const std::vector<const Expr*> exprs = ExprsOf(*stmt);
      return (stmt->kind == StmtKind::kStore && stored_.count(stmt->tensor) > 0) || Uses(stmt->body) || Uses(stmt->orelse) ||
             std::any_of(exprs.begin(), exprs.end(), [&](const Expr* expr) { return Reads(*expr); });
    });
    return uses_[&block] = uses;
  }

  void ForgetStoresOf(const Block& block) {
    for (const typed::StmtPtr& stmt : block) {
      if (stmt->kind == StmtKind::kStore) stored_.erase(stmt->tensor);
      ForgetStoresOf(stmt->body);
      ForgetStoresOf(stmt->orelse);
    }
  }

  std::optional<int64_t> Value(const Expr& expr) {
    const auto [place, is_new] = scalars_.try_emplace(&expr);
    if (is_new) place->second = table_->Of(expr);
    return symbolic::Evaluate(place->second, [this](std::string_view name) {
      const auto value = values_.find(name);
      return value == values_.end() ? std::nullopt : std::optional(value->second);
    });
  }

  const typed::Kernel& kernel_;
  std::map<std::string, int64_t, std::less<>> values_;  // of dimensions, and of the indices around
  std::map<ParamId, Stored> stored_;
  int64_t steps_ = 0;
  SymbolicTable* table_ = nullptr;                   // of the instance walked
  std::map<const Expr*, symbolic::Scalar> scalars_;  // likewise
  std::map<const Block*, bool> uses_;
  int unknown_conditions_ = 0;  // around the statement at hand
};

void WarnOfUnstored(const typed::Kernel& kernel, const Launch& launch, std::set<ParamId>& reported, Diagnostics& diagnostics) {
  std::string extents;
  for (const typed::Dim& dim : kernel.dims)
    extents +=
        fmt::format("{}{} = {}", extents.empty() ? ", where " : ", ", dim.name, launch.at(SymbolicTable::NameOfDim(dim.name)));
  for (const auto& [id, stored] : StoreWalk(kernel, launch).Run()) {
    const std::optional<Hole> hole = stored.last != nullptr ? FirstHole(stored) : std::nullopt;
    if (!hole || !reported.insert(id).second) continue;
    const typed::Param& param = kernel.params[static_cast<size_t>(id)];
    const bool is_work = param.kind == typed::ParamKind::kWork;
    DiagnosticBuilder report =
        diagnostics.Warning(DiagnosticKind::kPartlyStored, param.span,
                            fmt::format("elements of `{}` that nothing stores{}", param.name, is_work ? " are read" : ""));
    report.Label(param.span, fmt::format("such as `{}[{}]`{}", param.name, fmt::join(hole->element, ", "), extents))
        .Note(stored.last->span, "stored here, but not there");
    if (is_work) {
      report.Note(hole->wanted_at, "read here")
          .Help(fmt::format("store them, too, or say what they hold by a preset, `work {}: {}[..] = 0`", param.name,
                            Name(param.dtype)));
      continue;
    }
    report.Help(
        fmt::format("store them, too; or say what they hold, by a preset, `{}: out {}[..] = 0`, or by `inout` what they held "
                    "before; or `require` extents at which all are stored",
                    param.name, Name(param.dtype)));
  }
}

}  // namespace

void WarnOfUnstored(const typed::Kernel& kernel, Diagnostics& diagnostics) {
  std::set<ParamId> reported;
  for (const Launch& launch : SampleLaunches(kernel)) WarnOfUnstored(kernel, launch, reported, diagnostics);
}

}  // namespace tkc::sema

// SPDX-License-Identifier: MIT
// Elements of `out` tensors that nothing stores (lang-spec, se-18).
//
// All stores of a launch of few blocks are walked through, by their indices only. A condition that depends on more than the
// extents may hold, and counts as if it did; a tensor that is stored at indices which depend on more is left out. So an element
// that is left over is one that this launch stores nowhere, whatever its arguments hold.
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

/// What is stored of one tensor.
struct Stored {
  std::vector<int64_t> extents;
  std::set<Box, bool (*)(const Box&, const Box&)> boxes{[](const Box& a, const Box& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), [](const Interval& x, const Interval& y) {
      return x.begin != y.begin ? x.begin < y.begin : x.end < y.end;
    });
  }};
  const Stmt* last = nullptr;
};

/// The first element, the last axis counted fastest, that lies in no box: looked for in the cells into which their ends cut the
/// tensor.
std::optional<std::vector<int64_t>> FirstOutside(const Stored& stored) {
  const size_t rank = stored.extents.size();
  std::vector<std::vector<int64_t>> cuts(rank);
  for (size_t axis = 0; axis < rank; ++axis) {
    std::vector<int64_t>& places = cuts[axis];
    places = {0, stored.extents[axis]};
    for (const Box& box : stored.boxes) places.push_back(box[axis].begin), places.push_back(box[axis].end);
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
  }
  int64_t cells = 1;
  std::vector<int64_t> strides(rank);
  for (size_t axis = rank; axis-- > 0;) {
    strides[axis] = cells;
    cells *= std::ssize(cuts[axis]) - 1;
    if (cells > kMostCells) return std::nullopt;
  }
  std::vector<bool> covered(static_cast<size_t>(cells));
  const auto cell_at = [&](size_t axis, int64_t place) {
    return std::lower_bound(cuts[axis].begin(), cuts[axis].end(), place) - cuts[axis].begin();
  };
  for (const Box& box : stored.boxes) {
    const std::function<void(size_t, int64_t)> cover = [&](size_t axis, int64_t cell) {
      if (axis == rank) {
        covered[static_cast<size_t>(cell)] = true;
        return;
      }
      const int64_t end = cell_at(axis, box[axis].end);
      for (int64_t i = cell_at(axis, box[axis].begin); i < end; ++i) cover(axis + 1, cell + i * strides[axis]);
    };
    cover(0, 0);
  }
  const auto hole = std::find(covered.begin(), covered.end(), false);
  if (hole == covered.end()) return std::nullopt;
  std::vector<int64_t> element(rank);
  int64_t rest = hole - covered.begin();
  for (size_t axis = 0; axis < rank; ++axis) {
    element[axis] = cuts[axis][static_cast<size_t>(rest / strides[axis])];
    rest %= strides[axis];
  }
  return element;
}

class StoreWalk {
 public:
  StoreWalk(const typed::Kernel& kernel, const Launch& launch) : kernel_(kernel), values_(launch) {
    SymbolicTable table(kernel);
    table_ = &table;
    for (size_t i = 0; i < kernel.params.size(); ++i) AddOutput(static_cast<ParamId>(i));
    table_ = nullptr;
  }

  /// What is stored of each tensor, but for those of which that is not known.
  std::map<ParamId, Stored> Run() {
    for (const typed::Section& section : kernel_.sections) {
      for (const typed::Worker& worker : section.workers) {
        if (stored_.empty()) return {};
        if (!HasStores(worker.body)) continue;
        const int64_t instances = worker.in_turn ? 1 : worker.instances;
        for (int64_t i = 0; i < instances; ++i) RunInstance(section, worker, i);
      }
    }
    return steps_ > kMostSteps ? std::map<ParamId, Stored>{} : std::move(stored_);
  }

 private:
  void AddOutput(ParamId id) {
    const typed::Param& param = kernel_.params[static_cast<size_t>(id)];
    if (param.kind != typed::ParamKind::kTensor || param.mode != typed::TensorMode::kOut || param.has_preset) return;
    Stored stored;
    for (const typed::ExprPtr& extent : param.extents) {
      const std::optional<int64_t> length = Value(*extent);
      if (!length || *length <= 0) return;
      stored.extents.push_back(*length);
    }
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
      if (stmt->kind == StmtKind::kStore) AddStore(*stmt);
      if (stmt->kind == StmtKind::kFor && HasStores(stmt->body))
        RunRange(stmt->var, *stmt->lo, *stmt->hi, stmt->step, stmt->body, [&] { RunBlock(stmt->body); });
      if (stmt->kind == StmtKind::kIf) {
        const std::optional<int64_t> holds = HasStores(stmt->body) || HasStores(stmt->orelse) ? Value(*stmt->expr) : 0;
        if (holds.value_or(1) != 0) RunBlock(stmt->body);
        if (holds.value_or(0) == 0) RunBlock(stmt->orelse);
      }
    }
  }

  void AddStore(const Stmt& stmt) {
    ++steps_;
    const auto place = stored_.find(stmt.tensor);
    if (place == stored_.end()) return;
    Stored& stored = place->second;
    stored.last = &stmt;
    Box box;
    for (size_t i = 0; i < stmt.axes.size(); ++i) {
      const typed::AxisRange& axis = stmt.axes[i];
      const std::optional<int64_t> start = Value(*axis.start);
      const std::optional<int64_t> lo = axis.lo ? Value(*axis.lo) : 0;
      const std::optional<int64_t> hi = axis.hi ? Value(*axis.hi) : stored.extents[i];
      if (!start || !lo || !hi) return void(stored_.erase(place));
      box.push_back({std::max({*start, *lo, int64_t{0}}), std::min({*start + axis.extent, *hi, stored.extents[i]})});
      if (box.back().begin >= box.back().end) return;
    }
    stored.boxes.insert(std::move(box));
  }

  bool HasStores(const Block& block) {
    const auto [known, is_new] = has_stores_.emplace(&block, false);
    if (!is_new) return known->second;
    const bool has = std::any_of(block.begin(), block.end(), [&](const typed::StmtPtr& stmt) {
      if (stmt->kind == StmtKind::kStore) return stored_.count(stmt->tensor) > 0;
      return HasStores(stmt->body) || HasStores(stmt->orelse);
    });
    return has_stores_[&block] = has;
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
  std::map<const Block*, bool> has_stores_;
};

}  // namespace

void WarnOfUnstored(const typed::Kernel& kernel, Diagnostics& diagnostics) {
  const std::optional<Launch> launch = SampleLaunch(kernel);
  if (!launch) return;
  for (const auto& [id, stored] : StoreWalk(kernel, *launch).Run()) {
    const std::optional<std::vector<int64_t>> element = stored.last != nullptr ? FirstOutside(stored) : std::nullopt;
    if (!element) continue;
    const typed::Param& param = kernel.params[static_cast<size_t>(id)];
    std::string extents;
    for (const typed::Dim& dim : kernel.dims)
      extents += fmt::format("{}{} = {}", extents.empty() ? "" : ", ", dim.name, launch->at(SymbolicTable::NameOfDim(dim.name)));
    diagnostics.Warning(DiagnosticKind::kPartlyStored, param.span, fmt::format("elements of `{}` that nothing stores", param.name))
        .Label(param.span, fmt::format("such as `{}[{}]`{}{}", param.name, fmt::join(*element, ", "),
                                       extents.empty() ? "" : ", where ", extents))
        .Note(stored.last->span, "stored here, but not there")
        .Help(fmt::format("store them, too; or say what they hold: a preset, `{}: out {}[..] = 0`, or what they held before, "
                          "`{}: inout {}[..]`",
                          param.name, Name(param.dtype), param.name, Name(param.dtype)));
  }
}

}  // namespace tkc::sema

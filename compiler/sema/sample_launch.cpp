// SPDX-License-Identifier: MIT
#include "compiler/sema/sample_launch.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "compiler/sema/fold.h"
#include "compiler/sema/symbolic_table.h"
#include "compiler/symbolic/evaluate.h"

namespace tkc::sema {
namespace {

using typed::Expr;
using typed::ExprKind;

constexpr int64_t kOfShortBlock = 3;  // elements of the block that is short
constexpr int64_t kMostBlocks = 3;
constexpr int64_t kMany = 1024;  // what most sizes of blocks divide

class Sampler {
 public:
  explicit Sampler(const typed::Kernel& kernel) : kernel_(kernel), table_(kernel) {
    for (const typed::Section& section : kernel.sections) {
      for (const typed::GridAxis& axis : section.axes) AddStep(*axis.hi, axis.step);
      for (const typed::Worker& worker : section.workers) AddSteps(worker.body);
    }
    for (const auto& [dim, step] : steps_) largest_ = std::max(largest_, step);
    for (const typed::ExprPtr& requirement : kernel.requires_at_launch) AddCondition(*requirement);
    if (kernel.when) AddCondition(*kernel.when);
  }

  std::vector<Launch> Run() {
    std::vector<Launch> launches;
    // Dimensions of the first try are of different length, so that one can't stand for another.
    const std::vector<Extent> extents{[n = int64_t{0}](int64_t step) mutable {
                                        const int64_t blocks = 1 + n++ % kMostBlocks;
                                        return step > 1 ? blocks * step + kOfShortBlock : blocks + 1;
                                      },
                                      [](int64_t step) { return 2 * step; }, [this](int64_t) { return 2 * largest_; },
                                      [this](int64_t) { return std::max(kMany, 2 * largest_); }};
    if (std::any_of(extents.begin(), extents.end(), [this](const Extent& extent) { return Fits(extent); }))
      launches.push_back(launch_);
    // Where a short block follows, it may cover what a division drops.
    if (divides_ && Fits([](int64_t step) { return 2 * step + 1; })) launches.push_back(launch_);
    return launches;
  }

 private:
  using Extent = std::function<int64_t(int64_t step)>;

  /// Whether dimensions of these extents, but for those that conditions say, keep all conditions.
  bool Fits(const Extent& extent) {
    for (const typed::Dim& dim : kernel_.dims) launch_[SymbolicTable::NameOfDim(dim.name)] = extent(StepOf(dim));
    for (const Expr* condition : conditions_) Solve(*condition);
    return std::all_of(conditions_.begin(), conditions_.end(),
                       [this](const Expr* condition) { return Value(*condition).value_or(1) != 0; });
  }

  int64_t StepOf(const typed::Dim& dim) const {
    const auto step = steps_.find(dim.name);
    return step == steps_.end() ? 1 : step->second;
  }

  void AddSteps(const typed::Block& block) {
    for (const typed::StmtPtr& stmt : block) {
      if (stmt->kind == typed::StmtKind::kFor) AddStep(*stmt->hi, stmt->step);
      AddSteps(stmt->body);
      AddSteps(stmt->orelse);
    }
  }

  void AddStep(const Expr& hi, int64_t step) {
    if (hi.kind == ExprKind::kDim) {
      int64_t& most = steps_[kernel_.dims[hi.id].name];
      most = std::max(most, step);
    }
    const bool divides = hi.op == typed::Op::kDiv || hi.op == typed::Op::kCdiv;
    divides_ |= divides && hi.op == typed::Op::kDiv;
    const int64_t divisor = divides ? NumberOf(*hi.args[1]).value_or(1) : 1;
    const int64_t inner = divisor > 0 && divisor < kMany ? step * divisor : step;
    for (const typed::ExprPtr& arg : hi.args) AddStep(*arg, inner);
  }

  void AddCondition(const Expr& condition) {
    if (condition.op != typed::Op::kAnd) return conditions_.push_back(&condition);
    for (const typed::ExprPtr& each : condition.args) AddCondition(*each);
  }

  /// A dimension that has to be equal to something is.
  void Solve(const Expr& requirement) {
    if (requirement.kind != ExprKind::kBinary || requirement.op != typed::Op::kEq) return;
    for (size_t i = 0; i < 2; ++i) {
      const Expr& dim = *requirement.args[i];
      const std::optional<int64_t> value = Value(*requirement.args[1 - i]);
      if (dim.kind != ExprKind::kDim || !value || *value < 0) continue;
      launch_[SymbolicTable::NameOfDim(kernel_.dims[dim.id].name)] = *value;
      return;
    }
  }

  std::optional<int64_t> Value(const Expr& expr) {
    return symbolic::Evaluate(table_.Of(expr), [this](std::string_view name) {
      const auto extent = launch_.find(name);
      return extent == launch_.end() ? std::nullopt : std::optional(extent->second);
    });
  }

  const typed::Kernel& kernel_;
  SymbolicTable table_;
  std::vector<const Expr*> conditions_;   // that all have to hold
  std::map<std::string, int64_t> steps_;  // the largest of the ranges that a dimension ends
  int64_t largest_ = 1;
  bool divides_ = false;  // whether a range ends at a part of a dimension
  Launch launch_;
};

}  // namespace

std::vector<Launch> SampleLaunches(const typed::Kernel& kernel) { return Sampler(kernel).Run(); }

}  // namespace tkc::sema

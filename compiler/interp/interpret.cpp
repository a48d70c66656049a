// SPDX-License-Identifier: MIT
#include "compiler/interp/interpret.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "compiler/interp/block.h"
#include "compiler/interp/evaluate.h"
#include "compiler/interp/execute.h"

namespace tkc::interp {
namespace {

using typed::GridAxis;
using typed::Kernel;
using typed::Section;

/// Walks the grid of one section, outermost axis first; the bounds of an axis may depend on the axes before it.
class SectionRun {
 public:
  SectionRun(Launch& launch, const Section& section, Faults& faults)
      : launch_(launch), section_(section), faults_(faults), plan_(PlanSection(launch, section)), vars_(InitialVars(launch)) {}

  void Run() { Walk(0); }

 private:
  void Walk(size_t depth) {
    if (depth == section_.axes.size()) {
      RunTile();
      return;
    }
    const GridAxis& axis = section_.axes[depth];
    Evaluator evaluator(launch_, vars_, faults_);
    const int64_t lo = evaluator.Integer(*axis.lo);
    const int64_t hi = evaluator.Integer(*axis.hi);
    for (int64_t i = lo; i < hi && !faults_.failed(); i += axis.step) {
      vars_[static_cast<size_t>(axis.var)] = Value::Integer(DType::kI64, i);
      Walk(depth + 1);
    }
  }

  void RunTile() {
    Executor(launch_, nullptr, vars_, nullptr, faults_).Execute(section_.lets);
    if (faults_.failed()) return;
    std::string place;
    for (const GridAxis& axis : section_.axes) {
      const auto var = static_cast<size_t>(axis.var);
      place += fmt::format("{}{} = {}", place.empty() ? "" : ", ", launch_.kernel->vars[var].name, vars_[var].AsInteger());
    }
    RunBlock(launch_, section_, plan_, vars_, place, stacks_, faults_);
  }

  Launch& launch_;
  const Section& section_;
  Faults& faults_;
  SectionPlan plan_;
  std::vector<Value> vars_;
  StackPool stacks_;
};

double LargestOfWork(const Launch& launch) {
  double largest = 0;
  for (size_t id = 0; id < launch.work.size(); ++id) {
    const Tensor& tensor = launch.work[id];
    if (launch.tensors[id] != &tensor || !IsFloat(tensor.dtype)) continue;
    for (const double value : tensor.ToReals()) largest = std::isfinite(value) ? std::max(largest, std::abs(value)) : largest;
  }
  return largest;
}

/// Of sums of integers in the memory of tensors.
bool AddedUpExactly(const Launch& launch) {
  for (size_t id = 0; id < launch.tensors.size(); ++id) {
    if (launch.terms.added[id].empty()) continue;
    for (const double value : launch.tensors[id]->ToReals()) {
      if (!HasRoom(launch.tensors[id]->dtype, value, 0)) return false;
    }
  }
  return true;
}

}  // namespace

Result<void> Interpret(const Kernel& kernel, Arguments& arguments, Diagnostics& diagnostics, Signs signs, Measures* measures,
                       Subnormals subnormals) {
  Faults faults(diagnostics);
  Launch launch;
  Bind(kernel, arguments, launch, faults);
  launch.magnitudes = signs == Signs::kDropped;
  launch.flushes = subnormals == Subnormals::kZero;
  launch.measures = measures;
  if (!faults.failed()) CheckRequirements(launch, faults);
  if (!faults.failed()) Prepare(launch, faults);
  for (const Section& section : kernel.sections) {
    if (faults.failed()) break;
    for (std::vector<bool>& written : launch.written) written.clear();
    SectionRun(launch, section, faults).Run();
    launch.terms.read = launch.terms.stored;
  }
  if (faults.failed()) return Failure{};
  if (measures == nullptr) return {};
  measures->largest_work = LargestOfWork(launch);
  measures->is_exact = measures->is_exact && AddedUpExactly(launch);
  measures->terms = launch.terms.stored.empty() ? 0 : *std::max_element(launch.terms.stored.begin(), launch.terms.stored.end());
  return {};
}

const Kernel* Choose(const typed::Entry& entry, const std::function<Launch(const Kernel&)>& launch_of, Faults& faults) {
  const Kernel* cheapest = nullptr;
  int64_t least = 0;
  for (const Kernel& kernel : entry.kernels) {
    if (cheapest != nullptr && !kernel.cost) break;
    const Launch launch = launch_of(kernel);
    if (faults.failed()) return nullptr;
    const std::vector<Value> vars = InitialVars(launch);
    Evaluator evaluator(launch, vars, faults);
    const bool holds = !kernel.when || evaluator.Truth(*kernel.when);
    const int64_t cost = holds && kernel.cost ? evaluator.Integer(*kernel.cost) : 0;
    if (faults.failed()) return nullptr;
    if (!holds) continue;
    if (!kernel.cost) return &kernel;
    if (cheapest != nullptr && cost >= least) continue;
    cheapest = &kernel;
    least = cost;
  }
  return cheapest;
}

Result<const Kernel*> ChooseKernel(const typed::Entry& entry, Arguments& arguments, Diagnostics& diagnostics) {
  constexpr size_t kMostNotes = 4;  // about why sets do not apply
  Faults faults(diagnostics);
  const auto launch_of = [&](const Kernel& kernel) {
    Launch launch;
    Bind(kernel, arguments, launch, faults);
    return launch;
  };
  if (const Kernel* kernel = Choose(entry, launch_of, faults)) return kernel;
  if (faults.failed()) return Failure{};
  const Span span = entry.kernels.empty() ? kNoSpan : entry.kernels.front().span;
  const bool is_one_set = entry.kernels.size() == 1 && !entry.kernels.front().schedule.empty();
  const std::string who = is_one_set
                              ? fmt::format("schedule set `{}` of `{}` does not apply", entry.kernels.front().schedule, entry.name)
                              : fmt::format("no schedule of `{}` applies", entry.name);
  DiagnosticBuilder error = diagnostics.Error(DiagnosticKind::kNoScheduleApplies, span, who + " to these arguments");
  for (size_t i = 0; i < std::min(entry.kernels.size(), kMostNotes); ++i) {
    const Kernel& kernel = entry.kernels[i];
    error.Note(kernel.when->span, fmt::format("`{}` is for {}", kernel.schedule.empty() ? kernel.name : kernel.schedule,
                                              ConditionText(launch_of(kernel), *kernel.when, faults)));
  }
  if (entry.kernels.size() > kMostNotes) error.Note(fmt::format("nor do the other {}", entry.kernels.size() - kMostNotes));
  return error;
}

Result<void> Interpret(const typed::Entry& entry, Arguments& arguments, Diagnostics& diagnostics, Signs signs, Measures* measures,
                       Subnormals subnormals) {
  Result<const Kernel*> kernel = ChooseKernel(entry, arguments, diagnostics);
  if (!kernel) return Failure{};
  return Interpret(**kernel, arguments, diagnostics, signs, measures, subnormals);
}

}  // namespace tkc::interp

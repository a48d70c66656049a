// SPDX-License-Identifier: MIT
#include "compiler/ir/from_ast.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/lower_worker.h"
#include "compiler/support/internal_error.h"
#include "compiler/support/parallel.h"

namespace tkc::ir {
namespace {

void CopyParams(const typed::Kernel& source, WorkerLowering& lowering, Kernel& kernel) {
  for (const typed::Dim& dim : source.dims) kernel.dims.push_back(dim.name);
  for (const typed::Param& param : source.params) {
    if (param.kind == typed::ParamKind::kScalar) {
      kernel.scalars.push_back({param.name, param.dtype, param.span});
      continue;
    }
    TensorParam tensor{
        param.name,   param.dtype,          {},        param.mode, param.kind == typed::ParamKind::kWork, param.has_preset,
        param.preset, param.integer_preset, param.span};
    for (const typed::ExprPtr& extent : param.extents) tensor.extents.push_back(lowering.LowerScalar(*extent));
    kernel.tensors.push_back(std::move(tensor));
  }
}

void CopyPipes(const typed::Section& section, Kernel& kernel) {
  for (const typed::Pipe& pipe : section.pipes) {
    Pipe copy{pipe.name, {}, pipe.slots, pipe.least_slots, pipe.rings, "", "", "", "", 0, 0, pipe.span};
    if (pipe.per_worker != typed::kNone) copy.per_worker = section.workers[pipe.per_worker].name;
    for (const typed::PipeField& field : pipe.fields) copy.fields.push_back({field.name, field.dtype, field.rows, field.cols});
    kernel.pipes.push_back(std::move(copy));
  }
}

bool Mentions(const Region& region, const std::string& symbol) {
  return std::any_of(region.begin(), region.end(), [&](const Op& op) {
    return op.symbol == symbol ||
           std::any_of(op.regions.begin(), op.regions.end(), [&](const Region& inner) { return Mentions(inner, symbol); });
  });
}

/// Traffic may stand in branches that this schedule set does not have.
void DropIdlePipes(Kernel& kernel) {
  std::erase_if(kernel.pipes, [&](const Pipe& pipe) {
    return std::none_of(kernel.workers.begin(), kernel.workers.end(),
                        [&](const Worker& worker) { return Mentions(worker.body, pipe.name); });
  });
}

/// Adds what is computed of the names in `scalar` whatever branches it takes.
void AddAlwaysUsed(const Scalar& scalar, std::set<std::string>& names) {
  if (scalar->kind == symbolic::Kind::kName) names.insert(scalar->name);
  const bool may_skip =
      scalar->kind == symbolic::Kind::kSelect || scalar->kind == symbolic::Kind::kAnd || scalar->kind == symbolic::Kind::kOr;
  for (size_t i = 0; i < (may_skip ? 1 : scalar->args.size()); ++i) AddAlwaysUsed(scalar->args[i], names);
}

/// What only a branch uses is put in there: a quotient may be none elsewhere.
void InlineWhatBranchesUse(Cost& cost) {
  std::set<std::string> used;
  AddAlwaysUsed(cost.value, used);
  for (size_t i = cost.lets.size(); i-- > 0;) {
    const auto [name, value] = cost.lets[i];
    if (used.contains(name)) {
      AddAlwaysUsed(value, used);
      continue;
    }
    cost.lets.erase(cost.lets.begin() + static_cast<std::ptrdiff_t>(i));
    for (size_t later = i; later < cost.lets.size(); ++later)
      cost.lets[later].second = symbolic::Substitute(cost.lets[later].second, name, value);
    cost.value = symbolic::Substitute(cost.value, name, value);
  }
}

Cost LowerFormula(const typed::Kernel& kernel, const typed::CostFormula& source, WorkerLowering& lowering) {
  Cost cost;
  cost.function = source.name;
  cost.declaration = source.declaration;
  TakenNames names;
  for (size_t i = 0; i < source.args.size(); ++i) {
    const auto& [name, var] = source.params[i];
    names.Take(name);
    lowering.GiveName(var, name);
    cost.args.emplace_back(name, lowering.LowerScalar(*source.args[i]));
  }
  for (const typed::StmtPtr& let : source.lets) {
    const std::string name = names.TakeFree(kernel.vars[let->var].name);
    cost.lets.emplace_back(name, lowering.LowerScalar(*let->expr));
    lowering.GiveName(let->var, name);
  }
  cost.value = lowering.LowerScalar(*source.body);
  InlineWhatBranchesUse(cost);
  return cost;
}

std::optional<Cost> LowerCost(const typed::Kernel& source, WorkerLowering& lowering) {
  if (source.cost_formula) return LowerFormula(source, *source.cost_formula, lowering);
  if (!source.cost) return std::nullopt;
  Cost cost;
  cost.value = lowering.LowerScalar(*source.cost);
  return cost;
}

Kernel LowerSection(const typed::Kernel& source, const typed::Section& section) {
  Kernel kernel;
  kernel.span = kernel.declaration = source.span;
  kernel.schedule = source.schedule;
  kernel.schedule_span = source.schedule_span;
  kernel.bindings = source.bindings;
  WorkerLowering lowering(source, section, kernel);
  CopyParams(source, lowering, kernel);
  for (const typed::ExprPtr& require : source.requires_at_launch) kernel.launch_requires.push_back(lowering.LowerScalar(*require));
  if (source.when) kernel.when = lowering.LowerScalar(*source.when);
  kernel.cost = LowerCost(source, lowering);
  for (const typed::GridAxis& axis : section.axes) {
    kernel.axes.push_back(
        {lowering.ScalarName(axis.var), lowering.LowerScalar(*axis.lo), lowering.LowerScalar(*axis.hi), axis.step, axis.is_block});
  }
  kernel.persistent = section.persistent.value_or(false) || section.dynamic;
  kernel.dynamic = section.dynamic;
  kernel.order = section.order.value_or(typed::GridOrder::kRows);
  kernel.group = section.group;
  kernel.cluster = section.cluster;
  kernel.cluster_of_columns = section.cluster_of_columns;
  kernel.split = section.split;
  kernel.depth = section.depth;
  kernel.resident = static_cast<int>(section.resident);
  CopyPipes(section, kernel);
  kernel.TakeNames();
  lowering.LowerBlock(section.lets, kernel.lets);
  lowering.EndShared();
  for (const typed::Worker& worker : section.workers) {
    Worker copy;
    copy.name = worker.name;
    copy.instances = worker.instances;
    copy.in_turn = worker.in_turn;
    copy.alternates = worker.alternates;
    copy.alternates_span = worker.alternates_span;
    copy.spread = worker.spread;
    copy.span = worker.span;
    lowering.BeginWorker();
    if (worker.instance_var != typed::kNone && !worker.in_turn) copy.instance_name = lowering.ScalarName(worker.instance_var);
    lowering.LowerBlock(worker.body, copy.body);
    kernel.workers.push_back(std::move(copy));
  }
  DropIdlePipes(kernel);
  return kernel;
}

bool IsEmpty(const Kernel& kernel) {
  return std::any_of(kernel.axes.begin(), kernel.axes.end(), [](const GridAxis& axis) {
    int64_t lo = 0, hi = 0;
    return symbolic::IsInt(axis.lo, &lo) && symbolic::IsInt(axis.hi, &hi) && hi <= lo;
  });
}

/// The sections of a kernel, but not those that have no tile under this schedule set, nor the scratch tensors that only these used.
std::vector<Kernel> LowerSections(const typed::Kernel& kernel) {
  std::vector<Kernel> lowered;
  for (const typed::Section& section : kernel.sections) {
    lowered.push_back(LowerSection(kernel, section));
    lowered.back().span = section.span;
  }
  if (std::all_of(lowered.begin(), lowered.end(), IsEmpty) || std::none_of(lowered.begin(), lowered.end(), IsEmpty)) return lowered;
  std::erase_if(lowered, IsEmpty);
  const auto is_unused = [lowered](const TensorParam& tensor) {
    return tensor.is_work && std::none_of(lowered.begin(), lowered.end(), [&](const Kernel& section) {
             return std::any_of(section.workers.begin(), section.workers.end(),
                                [&](const Worker& worker) { return Mentions(worker.body, tensor.name); });
           });
  };
  for (Kernel& section : lowered) std::erase_if(section.tensors, is_unused);
  return lowered;
}

}  // namespace

Module FromAst(const typed::Program& program, const std::string& target) {
  Module module;
  for (const typed::Entry& source : program.entries) {
    Entry entry{source.name, {}};
    std::vector<std::vector<Kernel>> kernels(source.kernels.size());
    ForEachInParallel(kernels.size(), [&](size_t i) {
      SetCrashPass("from_ast");
      kernels[i] = LowerSections(source.kernels[i]);
    });
    for (std::vector<Kernel>& sections : kernels) {
      std::vector<int>& launches = entry.alternatives.emplace_back();
      const bool is_one = sections.size() == 1;
      for (Kernel& lowered : sections) {
        lowered.entry = source.name;
        lowered.target = target;
        lowered.name = source.name;
        if (!lowered.schedule.empty()) lowered.name += "_" + lowered.schedule;
        if (is_one && lowered.schedule.empty()) lowered.name += "_kernel";
        if (is_one)
          lowered.span = lowered.declaration;
        else
          lowered.name += fmt::format("_grid_{}", launches.size() + 1);
        launches.push_back(static_cast<int>(module.kernels.size()));
        module.kernels.push_back(std::move(lowered));
      }
    }
    module.entries.push_back(std::move(entry));
  }
  return module;
}

}  // namespace tkc::ir

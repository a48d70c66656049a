// SPDX-License-Identifier: MIT
#include "compiler/passes/index_facts.h"

#include <iterator>

#include "compiler/ir/queries.h"

namespace tkc::passes {

using ir::OpCode;
using ir::Scalar;

IndexFacts::IndexFacts(const ir::Kernel& kernel) {
  LearnLaunch(kernel);
  for (const ir::Worker& worker : kernel.workers) LearnWorker(worker);
}

IndexFacts::IndexFacts(const ir::Kernel& kernel, const ir::Worker& worker) {
  LearnLaunch(kernel);
  LearnWorker(worker);
}

void IndexFacts::LearnLaunch(const ir::Kernel& kernel) {
  for (const std::string& dim : kernel.dims) known_.Learn(dim, {0, IntRange::kMost});
  if (kernel.when) known_.Assume(kernel.when);
  for (const Scalar& require : kernel.launch_requires) known_.Assume(require);
  known_.Learn("cluster::rank", {0, kernel.cluster - 1});
  for (const ir::GridAxis& axis : kernel.axes) Learn(Steps{axis.name, axis.lo, axis.hi, axis.step});
  Learn(kernel.lets);
}

void IndexFacts::LearnWorker(const ir::Worker& worker) {
  if (!worker.instance_name.empty()) {
    known_.DefineWithin(worker.instance_name, {0, worker.instances - 1});
    Define(worker.instance_name, {});
  }
  Learn(worker.body);
}

void IndexFacts::Learn(const ir::Region& region) {
  ForEachOp(region, [&](const ir::Op& op) {
    switch (op.code) {
      case OpCode::kFor: return Learn(Steps{op.symbol, op.scalars[0], op.scalars[1], op.Step()});
      case OpCode::kUnroll: known_.DefineWithin(op.symbol, {0, op.Trips() - 1}); return Define(op.symbol, {});
      case OpCode::kLet: {
        const bool is_known = op.Is(ir::kStays) && op.scalars[0]->dtype == DType::kI64;
        if (op.scalars[0]->dtype == DType::kI64) known_.Define(op.symbol, op.scalars[0], !op.Is(ir::kStays));
        return Define(op.symbol, is_known ? Meaning{op.scalars[0]} : Meaning{});
      }
      default: return;
    }
  });
}

void IndexFacts::Learn(const Steps& steps) {
  known_.DefineSteps(steps.name, steps.first, steps.step);
  const Scalar number = symbolic::Name(steps.name + "'");
  Define(steps.name, {symbolic::Add(steps.first, symbolic::Mul(symbolic::Int(steps.step), number)), true});
  steps_.push_back(steps);
}

void IndexFacts::Define(const std::string& name, const Meaning& meaning) {
  if (!meaning.is_steps) others_.insert(name);
  const auto [known, is_first] = meanings_.emplace(name, meaning);
  Meaning& before = known->second;
  const bool is_same =
      before.value && meaning.value && before.is_steps == meaning.is_steps && symbolic::Equal(before.value, meaning.value);
  if (!is_first && !is_same) before = {};
}

Scalar IndexFacts::Named(Scalar scalar) const {
  while (scalar->kind == symbolic::Kind::kName) {
    const auto meaning = meanings_.find(scalar->name);
    if (meaning == meanings_.end() || !meaning->second.value || meaning->second.is_steps) break;
    scalar = meaning->second.value;
  }
  return scalar;
}

bool IndexFacts::AddEndsInside(const Scalar& end, const ir::AxisRange& axis, const Scalar& extent, std::vector<Scalar>& inside,
                               int& ends) const {
  constexpr int kMostEnds = 64;  // a minimum of minima that name each other might grow for ever
  if (++ends > kMostEnds) return false;
  const Scalar meaning = Named(end);
  if (meaning->kind != symbolic::Kind::kMin) {
    if (!symbolic::Equal(meaning, extent) && Divisor(symbolic::Sub(meaning, axis.lo)) % axis.extent != 0) inside.push_back(end);
    return true;
  }
  std::vector<Scalar> least;
  for (const Scalar& each : meaning->args) {
    if (!AddEndsInside(each, axis, extent, least, ends)) return false;
  }
  // The name says all of them at once: no block ends behind those that are left out.
  if (!least.empty() && end->kind == symbolic::Kind::kName) least = {end};
  inside.insert(inside.end(), least.begin(), least.end());
  return true;
}

std::optional<std::vector<Scalar>> IndexFacts::EndsInsideBlocks(const ir::AxisRange& axis, const Scalar& extent) const {
  std::vector<Scalar> inside;
  if (!axis.lo && !axis.hi) return inside;
  const Scalar start = Named(axis.start);
  if (!axis.lo || !axis.hi || start->kind != symbolic::Kind::kName || !IsOfStepsOnly(start->name)) return std::nullopt;
  bool is_of_range = false;
  for (const Steps& steps : steps_) {
    if (steps.name != start->name) continue;
    is_of_range = steps.step == axis.extent && symbolic::Equal(steps.first, axis.lo) && symbolic::Equal(steps.end, axis.hi);
    if (!is_of_range) return std::nullopt;
  }
  if (!is_of_range) return std::nullopt;
  int ends = 0;
  if (!AddEndsInside(axis.hi, axis, extent, inside, ends)) return std::nullopt;
  return inside;
}

Scalar IndexFacts::Expanded(Scalar scalar, bool with_steps) const {
  for (auto name = meanings_.begin(); name != meanings_.end();) {
    const Meaning& meaning = name->second;
    const bool occurs = meaning.value && (with_steps || !meaning.is_steps) && symbolic::Mentions(scalar, name->first);
    if (occurs) scalar = symbolic::Substitute(scalar, name->first, meaning.value);
    name = occurs ? meanings_.begin() : std::next(name);
  }
  return scalar;
}

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
#include "compiler/driver/check_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/driver/findings.h"
#include "compiler/driver/run_kernel.h"
#include "compiler/interp/interpret.h"
#include "compiler/interp/run.h"

namespace tkc {
namespace {

void RunEverywhere(const CheckTarget& target, const CheckCase& c, double seconds, Diagnostics& diagnostics, bool& exact) {
  const typed::Kernel& parameters = target.entry.kernels.front();
  Result<interp::Arguments> before = MakeRunArguments(parameters, RunOptionsOf(target.entry, c), diagnostics);
  if (!before) return;
  before->placement = c.placement;
  const Result<Expected> expected =
      Expect(target.entry, target.arithmetic, *before, c.fill != interp::FillKind::kNormal, diagnostics);
  if (!expected) return;
  exact = expected->tolerance.exact;

  SimulationOptions options;
  options.placement = c.placement;
  options.seed = c.seed;
  options.seconds = seconds;
  Result<Simulation> simulation = Simulate(target.simulated, parameters, *before, options, diagnostics);
  if (!simulation) return;
  ReportFindings(target.simulated, simulation->result.findings, target.sources, diagnostics);
  if (ReportNoOutputs(*simulation, target.entry.name, diagnostics)) return;
  const std::optional<Difference> difference = Compare(simulation->outputs, *expected);
  if (difference) ReportDifference(target.entry, *difference, "on the simulator", diagnostics);

  if (!target.gpu) return;
  interp::Arguments on_gpu = *before;
  if (!RunOnGpu(*target.gpu, parameters, c.placement, on_gpu, diagnostics)) return;
  std::map<std::string, interp::Tensor> outputs;
  for (const typed::Param& param : parameters.params) {
    if (interp::IsOutput(param)) outputs[param.name] = on_gpu.tensors.at(param.name);
  }
  const std::optional<Difference> gpu_difference = Compare(outputs, *expected);
  if (gpu_difference) ReportDifference(target.entry, *gpu_difference, "on the GPU", diagnostics);
}

}  // namespace

CheckOutcome RunCase(const CheckTarget& target, const CheckCase& check_case, double seconds) {
  CheckOutcome outcome;
  outcome.diagnostics = std::make_unique<Diagnostics>();
  RunEverywhere(target, check_case, seconds, *outcome.diagnostics, outcome.exact);
  for (const Diagnostic& diagnostic : outcome.diagnostics->All()) {
    if (!diagnostic.IsError()) continue;
    outcome.problem = Info(diagnostic.kind).code;
    break;
  }
  return outcome;
}

CheckCase Shrink(const typed::Entry& entry, CheckCase failing, const std::function<bool(const CheckCase&)>& fails, int tries) {
  std::vector<CheckCase> tried = {failing};
  const auto attempt = [&](CheckCase smaller) {
    if (tries <= 0 || !Choose(entry, smaller) || std::find(tried.begin(), tried.end(), smaller) != tried.end()) return false;
    --tries;
    tried.push_back(smaller);
    if (!fails(smaller)) return false;
    failing = smaller;
    return true;
  };
  for (bool changed = true; changed && tries > 0;) {
    changed = false;
    for (size_t i = 0; i < failing.dims.size(); ++i) {
      // 0 and 1 first; between 1 and what fails by halves, as if all larger ones failed, too. The next round looks again.
      const auto with = [&](int64_t extent) {
        CheckCase smaller = failing;
        smaller.dims[i] = extent;
        return smaller;
      };
      const int64_t before = failing.dims[i];
      if (before > 0 && attempt(with(0))) {
        changed = true;
        continue;
      }
      if (before > 1) attempt(with(1));
      for (int64_t passes = 1; failing.dims[i] - passes > 1;) {
        const int64_t middle = passes + (failing.dims[i] - passes) / 2;
        if (!attempt(with(middle))) passes = middle;
      }
      changed |= failing.dims[i] != before;
    }
    CheckCase plain = failing;
    plain.placement = {};
    changed |= attempt(plain);
    plain = failing;
    plain.fill = interp::FillKind::kSmall;
    changed |= attempt(plain);
    for (const int64_t sms : {int64_t{132}, int64_t{1}}) {
      if (failing.sms == 132 || failing.sms == sms) continue;
      plain = failing;
      plain.sms = sms;
      changed |= attempt(plain);
    }
    for (uint64_t seed = 0; seed < std::min<uint64_t>(failing.seed, 3); ++seed) {
      plain = failing;
      plain.seed = seed;
      if (!attempt(plain)) continue;
      changed = true;
      break;
    }
  }
  return failing;
}

}  // namespace tkc

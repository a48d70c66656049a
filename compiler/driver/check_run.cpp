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

void ReportDifference(const CheckTarget& target, const std::string& who, const Difference& difference, Diagnostics& diagnostics) {
  diagnostics.Error(DiagnosticKind::kResultsDiffer, target.entry.kernels.front().span,
                    fmt::format("{}: {}", who, ToString(difference, "the reference interpreter")));
}

void RunEverywhere(const CheckTarget& target, const CheckCase& c, double seconds, Diagnostics& diagnostics, bool& exact) {
  const typed::Kernel& parameters = target.entry.kernels.front();
  Result<interp::Arguments> before = MakeRunArguments(parameters, RunOptionsOf(target.entry, c), diagnostics);
  if (!before) return;
  interp::Arguments want = *before;
  if (!interp::Interpret(target.entry, want, diagnostics)) return;
  const Tolerance tolerance = ToleranceFor(target.entry, target.arithmetic, *before, want, c.fill != interp::FillKind::kNormal);
  exact = tolerance.exact;

  SimulationOptions options;
  options.placement = c.placement;
  options.seed = c.seed;
  options.seconds = seconds;
  Result<Simulation> simulation = Simulate(target.simulated, parameters, *before, options, diagnostics);
  if (!simulation) return;
  ReportFindings(target.simulated, simulation->result.findings, target.sources, diagnostics);
  if (ReportNoOutputs(*simulation, target.entry.name, diagnostics)) return;
  const std::optional<Difference> difference = Compare(simulation->outputs, want, tolerance);
  if (difference) ReportDifference(target, "on the simulator", *difference, diagnostics);

  if (!target.gpu) return;
  interp::Arguments on_gpu = *before;
  if (!RunOnGpu(*target.gpu, parameters, c.placement, on_gpu, diagnostics)) return;
  std::map<std::string, interp::Tensor> outputs;
  for (const typed::Param& param : parameters.params) {
    if (interp::IsOutput(param)) outputs[param.name] = on_gpu.tensors.at(param.name);
  }
  const std::optional<Difference> gpu_difference = Compare(outputs, want, tolerance);
  if (gpu_difference) ReportDifference(target, "on the GPU", *gpu_difference, diagnostics);
}

/// Smaller values for `value`, smallest first.
std::vector<int64_t> Smaller(int64_t value) {
  std::vector<int64_t> list = {0, 1, 2, 8};
  for (int64_t divisor = 8; divisor >= 2; divisor /= 2) list.push_back(value / divisor);
  for (int64_t power = 4096; power >= 16; power /= 2) {
    if (value > power) list.push_back(value - power);
  }
  list.push_back(value - 8);
  list.push_back(value - 1);
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  std::erase_if(list, [value](int64_t x) { return x < 0 || x >= value; });
  return list;
}

}  // namespace

CheckOutcome RunCase(const CheckTarget& target, const CheckCase& check_case, double seconds) {
  CheckOutcome outcome;
  outcome.diagnostics = std::make_unique<Diagnostics>();
  RunEverywhere(target, check_case, seconds, *outcome.diagnostics, outcome.exact);
  for (const Diagnostic& diagnostic : outcome.diagnostics->All()) {
    if (diagnostic.severity != Severity::kError) continue;
    outcome.problem = Info(diagnostic.kind).code;
    break;
  }
  return outcome;
}

CheckCase Shrink(const typed::Entry& entry, CheckCase failing, const std::function<bool(const CheckCase&)>& fails, int tries) {
  const auto attempt = [&](CheckCase smaller) {
    if (tries <= 0 || smaller == failing || !Choose(entry, smaller)) return false;
    --tries;
    if (!fails(smaller)) return false;
    failing = smaller;
    return true;
  };
  for (bool changed = true; changed && tries > 0;) {
    changed = false;
    for (size_t i = 0; i < failing.dims.size(); ++i) {
      for (const int64_t extent : Smaller(failing.dims[i])) {
        CheckCase smaller = failing;
        smaller.dims[i] = extent;
        if (!attempt(smaller)) continue;
        changed = true;
        break;
      }
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

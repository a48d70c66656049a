// SPDX-License-Identifier: MIT
#include "compiler/driver/run_kernel.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <new>
#include <optional>

#include "compiler/driver/compare.h"
#include "compiler/driver/compile.h"
#include "compiler/driver/findings.h"
#include "compiler/driver/gpu_run.h"
#include "compiler/driver/outputs.h"
#include "compiler/driver/simulate.h"
#include "compiler/interp/interpret.h"
#include "compiler/interp/run.h"
#include "compiler/support/internal_error.h"
#include "compiler/support/nearest_name.h"

namespace tkc {
namespace {

/// Bytes that can be had without driving others out; 0 if that is not known.
uint64_t FreeMemory() {
  std::ifstream info("/proc/meminfo");
  std::string name;
  uint64_t kib = 0;
  for (std::string rest; info >> name >> kib && std::getline(info, rest);) {
    if (name == "MemAvailable:") return kib * 1024;
  }
  return 0;
}

/// While it lives, what the machine can't give fails as bad_alloc, before the system ends some process.
class MemoryBound {
 public:
  MemoryBound() {
#ifndef __SANITIZE_ADDRESS__
    std::ifstream own("/proc/self/statm");
    uint64_t pages = 0;
    const uint64_t free = FreeMemory();
    if (!(own >> pages) || free == 0 || getrlimit(RLIMIT_AS, &before_) != 0) return;
    rlimit bound = before_;
    bound.rlim_cur = std::min<rlim_t>(bound.rlim_cur, pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) + free);
    is_set_ = setrlimit(RLIMIT_AS, &bound) == 0;
#endif
  }
  ~MemoryBound() {
    if (is_set_) setrlimit(RLIMIT_AS, &before_);
  }
  MemoryBound(const MemoryBound&) = delete;
  MemoryBound& operator=(const MemoryBound&) = delete;

 private:
  rlimit before_{};
  bool is_set_ = false;
};

/// Runs the generated code; the outputs replace the tensors of `arguments`.
Result<void> RunSimulated(Session& session, const Generated& code, const typed::Entry& entry, const RunCommand& command,
                          const Placement& placement, interp::Arguments& arguments) {
  Result<SimulatedKernel> kernel = PrepareSimulation(session, code, entry);
  if (!kernel) return Failure{};
  SimulationOptions options;
  options.placement = placement;
  options.seed = command.arguments.seed;
  Result<Simulation> simulation = Simulate(*kernel, entry.kernels.front(), arguments, options, session.diagnostics);
  if (!simulation) return Failure{};
  ReportFindings(*kernel, simulation->result.findings, session.sources, session.diagnostics);
  ReportNoOutputs(*simulation, entry.name, session.diagnostics);
  if (command.counters) std::cout << CounterTable(*kernel, simulation->result.counters, session.sources);
  if (session.diagnostics.HasErrors()) return Failure{};
  for (auto& [name, tensor] : simulation->outputs) arguments.tensors[name] = std::move(tensor);
  return {};
}

/// `--compare`: the reference on what the arguments were `before` the run.
Result<void> CompareWithReference(Session& session, const typed::Entry& entry, const RunCommand& command,
                                  const interp::Arguments& before, const interp::Arguments& after) {
  const bool integers = command.arguments.fill != interp::FillKind::kNormal && command.arguments.inputs.empty();
  const Result<Expected> expected = Expect(entry, ArithmeticOf(entry.kernels.front()), before, integers, session.diagnostics);
  if (!expected) return Failure{};
  std::map<std::string, interp::Tensor> got;
  for (const typed::Param& param : entry.kernels.front().params) {
    if (interp::IsOutput(param)) got[param.name] = after.tensors.at(param.name);
  }
  const std::optional<Difference> difference = Compare(got, *expected);
  if (!difference) {
    const auto [tensor, off] = LargestError(got, expected->want);
    const char* who = command.on == Where::kGpu ? "GPU" : "simulator";
    std::cout << fmt::format("{}: {} agrees with the reference{}\n", entry.name, who,
                             off == 0 ? " in every element" : fmt::format(", off by {:.3g} at most, in `{}`", off, tensor));
    return {};
  }
  return ReportDifference(entry, *difference, "", session.diagnostics);
}

/// What --out names, before the kernel runs.
void CheckOutputs(Session& session, const typed::Kernel& kernel, const interp::RunOptions& options) {
  std::vector<std::string> paths;
  for (const auto& [name, path] : options.outputs) paths.push_back(path);
  interp::CheckOutputs(kernel, options, session.diagnostics);
  CheckOutputPaths(paths, session.sources, session.diagnostics);
}

Result<void> RunCompiled(Session& session, const Target& target, typed::Program& program, const RunCommand& command) {
  Result<typed::Entry*> entry = FindOwnEntry(program, command.arguments, session.diagnostics);
  if (!entry || !KeepSchedule(**entry, command.schedule, session.diagnostics)) return Failure{};
  const typed::Kernel& parameters = (*entry)->kernels.front();
  CheckOutputs(session, parameters, command.arguments);
  Result<interp::Arguments> arguments = MakeRunArguments(parameters, command.arguments, session.diagnostics);
  Result<Placement> placement = ParsePlacement(command.place, session.diagnostics);
  if (!arguments || !placement || session.diagnostics.HasErrors()) return Failure{};
  arguments->placement = *placement;
  if (!interp::ChooseKernel(**entry, *arguments, session.diagnostics)) return Failure{};  // the arguments fit each other
  Result<Generated> code = Generate(session, program, target);
  if (!code) return Failure{};
  SetCrashPass("run");
  std::optional<interp::Arguments> before;
  if (command.compare) before = *arguments;
  if (command.on == Where::kSimulator) {
    if (!RunSimulated(session, *code, **entry, command, *placement, *arguments)) return Failure{};
  } else {
    Result<GpuKernel> kernel = PrepareGpu(session, *code, **entry);
    if (!kernel || !RunOnGpu(*kernel, parameters, *placement, *arguments, session.diagnostics)) return Failure{};
  }
  if (before && !CompareWithReference(session, **entry, command, std::move(*before), *arguments)) return Failure{};
  const Uninterrupted scope;
  if (!interp::WriteOutputs(command.arguments, *arguments, session.diagnostics)) return Failure{};
  interp::PrintOutputs(parameters, command.arguments, *arguments, std::cout);
  return {};
}

/// The kernel on the reference interpreter, under the set that --schedule names if it does.
void RunReference(Session& session, typed::Program& program, const RunCommand& command) {
  Result<typed::Entry*> entry = FindOwnEntry(program, command.arguments, session.diagnostics);
  if (!entry || !KeepSchedule(**entry, command.schedule, session.diagnostics)) return;
  const typed::Kernel& parameters = (*entry)->kernels.front();
  CheckOutputs(session, parameters, command.arguments);
  Result<interp::Arguments> arguments = MakeRunArguments(parameters, command.arguments, session.diagnostics);
  if (!arguments || session.diagnostics.HasErrors() || !interp::Interpret(**entry, *arguments, session.diagnostics)) return;
  const Uninterrupted scope;
  if (!interp::WriteOutputs(command.arguments, *arguments, session.diagnostics)) return;
  interp::PrintOutputs(parameters, command.arguments, *arguments, std::cout);
}

}  // namespace

Result<interp::Arguments> MakeRunArguments(const typed::Kernel& kernel, const interp::RunOptions& options,
                                           Diagnostics& diagnostics) {
  try {
    const MemoryBound bound;
    return interp::MakeArguments(kernel, options, diagnostics);
  } catch (const std::bad_alloc&) {
    return diagnostics
        .Error(DiagnosticKind::kOutOfMemory, kernel.span, fmt::format("the tensors of `{}` do not fit into memory", kernel.name))
        .Note(fmt::format("{} MiB are free on this machine", FreeMemory() >> 20))
        .Help("take smaller dimensions");
  }
}

Result<void> KeepSchedule(typed::Entry& entry, const std::string& name, Diagnostics& diagnostics) {
  if (name.empty()) return {};
  std::vector<std::string> names;
  for (size_t i = 0; i < entry.kernels.size(); ++i) {
    if (entry.kernels[i].schedule == name) {
      typed::Kernel kept = std::move(entry.kernels[i]);
      entry.kernels.clear();
      entry.kernels.push_back(std::move(kept));
      return {};
    }
    if (!entry.kernels[i].schedule.empty()) names.push_back(entry.kernels[i].schedule);
  }
  return diagnostics.Error(DiagnosticKind::kBadArgument, kNoSpan,
                           fmt::format("`{}` has no schedule set `{}`; {}", entry.name, name, WhatItHas(names)));
}

Result<typed::Entry*> FindOwnEntry(typed::Program& program, const interp::RunOptions& options, Diagnostics& diagnostics) {
  Result<const typed::Entry*> found = interp::FindEntry(program, options, diagnostics);
  if (!found) return Failure{};
  return &program.entries[static_cast<size_t>(*found - program.entries.data())];
}

int RunKernel(const Options& options, const RunCommand& command) {
  Session session(options);
  const Target* target = RequireTarget(session, "a run");
  if (!target) return session.Finish();
  Result<typed::Program> checked = CheckFile(session, *target);
  if (!checked) return session.Finish();
  SetCrashPass("run");
  if (command.on == Where::kReference)
    RunReference(session, *checked, command);
  else
    (void)static_cast<bool>(RunCompiled(session, *target, *checked, command));  // what failed is in the diagnostics
  std::cout.flush();
  return session.Finish();
}

}  // namespace tkc

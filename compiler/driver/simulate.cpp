// SPDX-License-Identifier: MIT
#include "compiler/driver/simulate.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "compiler/codegen/emit_launcher.h"
#include "compiler/driver/host_compiler.h"
#include "compiler/driver/outputs.h"
#include "compiler/driver/process.h"
#include "compiler/interp/run.h"
#include "compiler/support/internal_error.h"

namespace tkc {
namespace {

using interp::Tensor;
using typed::ParamKind;

Result<std::string> FindSimulator(Diagnostics& diagnostics) {
  const char* given = std::getenv("TKC_SIM");
  const std::string beside = ProgramFolder() + "/tkc-sim";
  std::string found = given && *given ? FindProgram(given) : FindProgram(beside);
  if (found.empty() && !(given && *given)) found = FindProgram("tkc-sim");
  if (!found.empty()) return found;
  return diagnostics
      .Error(DiagnosticKind::kNoSimulator, kNoSpan, fmt::format("there is no program `{}`", given && *given ? given : beside))
      .Help("build the target `tkc-sim`, or install it beside tkc; `--on reference` needs no simulator");
}

/// The bits that a C function of this signature gets.
uint64_t BitsOf(const interp::Value& value, DType dtype) {
  if (dtype == DType::kF32) {
    const auto number = static_cast<float>(value.AsReal());
    uint32_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    return bits;
  }
  return static_cast<uint64_t>(value.AsInteger());
}

bool WriteImage(const std::string& path, const std::vector<uint8_t>& bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  out.close();
  return !out.fail();
}

std::string ReadText(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string CrashText(const ProcessResult& run, double limit) {
  std::string what = fmt::format("the simulator ended with status {} and no result", run.status);
  if (!run.not_started.empty()) what = fmt::format("the simulator can't be started: {}", run.not_started);
  if (run.signal) what = fmt::format("the simulated program was ended by a signal: {}", strsignal(run.signal));
  if (run.timed_out) what = fmt::format("the simulated program did not end within {:.0f} s of the processor", limit);
  return what;
}

/// The last lines of what the simulator printed.
std::string Tail(const std::string& output) {
  size_t begin = output.size();
  for (int lines = 0; begin > 0 && lines < 4; ++lines) {
    const size_t at = output.rfind('\n', begin - 1 - (begin == output.size() && output.back() == '\n'));
    begin = at == std::string::npos ? 0 : at;
  }
  std::string tail = output.substr(begin);
  while (!tail.empty() && (tail.back() == '\n' || tail.back() == ' ')) tail.pop_back();
  while (!tail.empty() && tail.front() == '\n') tail.erase(0, 1);
  return tail;
}

}  // namespace

void NameFunctions(const Generated& code, const typed::Entry& entry, std::string& function, std::string& workspace_query) {
  for (const ir::Entry& candidate : code.module.entries) {
    if (candidate.name != entry.name) continue;
    function = codegen::EntryFunction(candidate);
    workspace_query = codegen::WorkspaceFunction(candidate);
    return;
  }
  InternalError("an entry that was not generated");
}

Result<SimulatedKernel> PrepareSimulation(Session& session, const Generated& code, const typed::Entry& entry) {
  Result<std::string> simulator = FindSimulator(session.diagnostics);
  if (!simulator) return Failure{};
  const codegen::EmitOptions names = EmitOptionsOf(session.options);
  Result<Build> build = CompileForSimulator(code.emitted, names, code.is_part ? code.target->Number() : 0, session.diagnostics);
  if (!build) return Failure{};
  SimulatedKernel kernel{build.Take(), simulator.Take(), {}, {}, names.source_name, kNoFile, code.emitted.origins};
  kernel.shared_bytes = code.target->shared_memory_per_block;
  NameFunctions(code, entry, kernel.function, kernel.workspace_query);
  kernel.generated = session.sources.Add(names.source_name, code.emitted.source);
  return kernel;
}

Result<std::vector<JobArgument>> WriteImages(const typed::Kernel& parameters, const interp::Arguments& arguments,
                                             const Placement& placement, const std::string& folder,
                                             std::map<std::string, Tensor>& placed, Diagnostics& diagnostics) {
  std::vector<JobArgument> job;
  for (const typed::Param& param : parameters.params) {
    if (param.kind == ParamKind::kWork) continue;
    if (param.kind == ParamKind::kScalar) {
      job.push_back({std::nullopt, JobScalar{param.name, param.dtype, BitsOf(arguments.scalars.at(param.name), param.dtype)}});
      continue;
    }
    const bool given = param.mode != typed::TensorMode::kOut;
    Tensor tensor = Place(arguments.tensors.at(param.name), placement, given);
    JobTensor item{param.name,
                   param.dtype,
                   tensor.extents,
                   tensor.strides,
                   static_cast<int64_t>(tensor.bytes.size()),
                   tensor.offset * Bytes(param.dtype),
                   {},
                   {},
                   interp::IsOutput(param)};
    if (given) item.initial = fmt::format("{}/{}.in", folder, job.size());
    if (item.written) item.final_image = fmt::format("{}/{}.out", folder, job.size());
    if (given && !WriteImage(item.initial, tensor.bytes)) {
      return diagnostics.Error(DiagnosticKind::kCannotWriteFile, kNoSpan, fmt::format("`{}` can't be written", item.initial));
    }
    job.push_back({std::move(item), std::nullopt});
    placed.emplace(param.name, std::move(tensor));
  }
  return job;
}

bool ReadImages(const std::vector<JobArgument>& job, const std::map<std::string, Tensor>& placed,
                std::map<std::string, Tensor>& outputs, int64_t& trespassed, Diagnostics& diagnostics) {
  for (const JobArgument& argument : job) {
    if (!argument.tensor || !argument.tensor->written) continue;
    const Tensor& before = placed.at(argument.tensor->name);
    const std::string bytes = ReadText(argument.tensor->final_image);
    if (bytes.size() != before.bytes.size()) {
      diagnostics.Error(
          DiagnosticKind::kRunFailed, kNoSpan,
          fmt::format("the run left {} bytes of `{}`; {} were expected", bytes.size(), argument.tensor->name, before.bytes.size()));
      return false;
    }
    Tensor after = before;
    std::memcpy(after.bytes.data(), bytes.data(), bytes.size());
    trespassed += Trespassed(before, after.bytes);
    outputs[argument.tensor->name] = Gather(after);
  }
  return true;
}

Result<Simulation> Simulate(const SimulatedKernel& kernel, const typed::Kernel& parameters, const interp::Arguments& arguments,
                            const SimulationOptions& options, Diagnostics& diagnostics) {
  Result<ScratchFolder> folder = ScratchFolder::Make(diagnostics);
  if (!folder) return Failure{};
  std::map<std::string, Tensor> placed;
  Result<std::vector<JobArgument>> images =
      WriteImages(parameters, arguments, options.placement, folder->path(), placed, diagnostics);
  if (!images) return Failure{};
  SimJob job{kernel.build.product,
             kernel.function,
             kernel.workspace_query,
             images.Take(),
             options.seed,
             arguments.sms,
             kernel.shared_bytes,
             options.trace ? folder->File("trace.json") : "",
             20,
             folder->File("result.json")};
  const std::string job_file = folder->File("job.json");
  if (!WriteFiles({{job_file, ToJson(job)}}, diagnostics)) return Failure{};

  const auto start = std::chrono::steady_clock::now();
  constexpr double kByTheClock = 10;  // times as long, where the machine does much else
  const ProcessResult run = RunProcess({kernel.simulator, job_file}, {}, kByTheClock * options.seconds, options.seconds);
  Simulation simulation;
  simulation.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::string why;
  const std::string text = ReadText(job.result);
  std::optional<SimResult> result = text.empty() ? std::nullopt : ParseSimResult(text, why);
  if (!result || run.signal || run.timed_out) {
    simulation.crash = CrashText(run, options.seconds);
    if (!why.empty()) simulation.crash = fmt::format("the simulator's result can't be read: {}", why);
    const std::string tail = Tail(run.output);
    if (!tail.empty()) simulation.crash += "\n" + tail;
    return simulation;
  }
  simulation.result = std::move(*result);
  if (options.trace) simulation.trace = ReadText(job.trace);
  int64_t trespassed = 0;  // tkc-sim reports those itself, with their places
  const bool ran = simulation.result.code == 0 && simulation.result.findings.empty();
  if (ran && !ReadImages(job.arguments, placed, simulation.outputs, trespassed, diagnostics)) return Failure{};
  return simulation;
}

}  // namespace tkc

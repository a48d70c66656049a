// SPDX-License-Identifier: MIT
#include "compiler/driver/gpu_run.h"

#include <fmt/format.h>

#include <map>

#include "compiler/codegen/emit_launcher.h"
#include "compiler/driver/build_cache.h"
#include "compiler/driver/host_compiler.h"
#include "compiler/driver/outputs.h"
#include "compiler/driver/process.h"
#include "compiler/driver/simulate.h"

namespace tkc {
namespace {

constexpr std::string_view kRunner =
#include "compiler/driver/gpu_runner.inc"
    ;
constexpr double kLimit = 120;  // seconds; a kernel that hangs on a GPU is seen by nothing else

/// The capability that nvidia-smi tells in the first line, `9.0`, as 90; 0 if there is none.
int FirstCapability(const std::string& text) {
  int major = 0, minor = 0;
  return std::sscanf(text.c_str(), "%d.%d", &major, &minor) == 2 ? major * 10 + minor : 0;
}

std::string FindNvcc() {
  const std::string found = FindProgram("nvcc");
  return found.empty() ? FindProgram("/usr/local/cuda/bin/nvcc") : found;
}

/// The runner with the call of this entry.
std::string RunnerText(const Generated& code, const typed::Entry& entry, const std::string& header) {
  std::string function, query, values;
  NameFunctions(code, entry, function, query);
  int number = 0;
  for (const typed::Param& param : entry.kernels.front().params) {
    if (param.kind == typed::ParamKind::kWork) continue;
    const std::string value = param.kind == typed::ParamKind::kTensor
                                  ? fmt::format("tensor({})", number)
                                  : fmt::format("scalar<{}>({})", codegen::ScalarCType(param.dtype), number);
    values += (number ? ", " : "") + value;
    ++number;
  }
  std::string text = fmt::format("#include \"{}\"\n", header);
  text += kRunner;
  text += fmt::format("\nsize_t tkc_runner::workspace_size() {{ return ::{}({}); }}\n", query, values);
  text += fmt::format(
      "tk_status tkc_runner::call_entry(void* workspace, size_t bytes) {{ return ::{}({}{}workspace, bytes, nullptr); }}\n",
      function, values, values.empty() ? "" : ", ");
  return text;
}

std::string JobText(const std::vector<JobArgument>& arguments) {
  std::string text;
  const auto path = [](const std::string& name) { return name.empty() ? std::string("-") : name; };
  for (const JobArgument& argument : arguments) {
    if (argument.scalar) {
      text += fmt::format("scalar {}\n", argument.scalar->bits);
      continue;
    }
    const JobTensor& t = *argument.tensor;
    text += fmt::format("tensor {} {} {} {} {} {} {} {}\n", AbiCode(t.dtype), t.bytes, t.offset, path(t.initial),
                        path(t.final_image), t.extents.size(), fmt::join(t.extents, " "), fmt::join(t.strides, " "));
  }
  return text;
}

Result<Build> CompileForGpu(Session& session, const Generated& code, const typed::Entry& entry) {
  Result<std::string> include = RuntimeInclude(session.diagnostics);
  if (!include) return Failure{};
  const codegen::EmitOptions names = EmitOptionsOf(session.options);
  BuildRequest request;
  request.compiler = FindNvcc();
  request.runtime_include = *include;
  request.files = {{names.source_name, code.emitted.source},
                   {names.header_name, code.emitted.header},
                   {"tkc_runner.cu", RunnerText(code, entry, names.header_name)}};
  request.product = "kernel";
  request.arguments = {"-std=c++20",
                       "-O3",
                       "--expt-relaxed-constexpr",
                       code.target->CompilerOptions().back(),  // PTX where later devices run it, too
                       "-w",
                       "-I",
                       *include,
                       "-I.",
                       "-o",
                       request.product,
                       names.source_name,
                       "tkc_runner.cu"};
  request.seconds = 600;
  return BuildCached(request, session.diagnostics);
}

}  // namespace

bool HasGpu(const Target& target, std::string& why) {
  if (target.is_hip) {
    why = fmt::format("code for {} can only be simulated", target.name);
    return false;
  }
  if (FindNvcc().empty()) {
    why = "there is no nvcc on PATH or in /usr/local/cuda/bin";
    return false;
  }
  const std::string smi = FindProgram("nvidia-smi");
  if (smi.empty()) {
    why = "there is no nvidia-smi, so no driver";
    return false;
  }
  const ProcessResult run = RunProcess({smi, "--query-gpu=compute_cap", "--format=csv,noheader"}, {}, 20);
  const int wanted = target.Number(), found = run.ok() ? FirstCapability(run.output) : 0;  // of the first device, which is used
  if (target.RunsOnlyThere() ? found == wanted : found >= wanted) return true;
  why = fmt::format("there is no GPU of compute capability {}.{}{}", wanted / 10, wanted % 10,
                    target.RunsOnlyThere() ? "" : " or later");
  return false;
}

Result<GpuKernel> PrepareGpu(Session& session, const Generated& code, const typed::Entry& entry) {
  std::string why;
  if (!HasGpu(*code.target, why)) {
    return session.diagnostics
        .Error(DiagnosticKind::kNoGpu, kNoSpan, fmt::format("this machine can't run kernels on a GPU: {}", why))
        .Help("`--on simulator`, the default, runs the same generated code without one");
  }
  Result<Build> build = CompileForGpu(session, code, entry);
  if (!build) return Failure{};
  return GpuKernel{build.Take(), entry.name};
}

Result<void> RunOnGpu(const GpuKernel& kernel, const typed::Kernel& parameters, const Placement& placement,
                      interp::Arguments& arguments, Diagnostics& diagnostics) {
  Result<ScratchFolder> folder = ScratchFolder::Make(diagnostics);
  if (!folder) return Failure{};
  std::map<std::string, interp::Tensor> placed;
  Result<std::vector<JobArgument>> job = WriteImages(parameters, arguments, placement, folder->path(), placed, diagnostics);
  if (!job || !WriteFiles({{folder->File("job"), JobText(*job)}}, diagnostics)) return Failure{};
  const ProcessResult run = RunProcess({kernel.build.product, folder->File("job")}, {}, kLimit);
  if (!run.ok()) {
    const std::string said = run.output.substr(0, run.output.find('\n'));
    const std::string how = run.timed_out ? fmt::format("did not end within {:.0f} s", kLimit) : "failed";
    const bool refused = run.status == 2;
    return diagnostics.Error(refused ? ErrorKind(DiagnosticKind::kLaunchRefused) : ErrorKind(DiagnosticKind::kRunFailed), kNoSpan,
                             fmt::format("`{}` on the GPU {}{}{}", kernel.entry, how, said.empty() ? "" : ": ", said));
  }
  std::map<std::string, interp::Tensor> outputs;
  int64_t trespassed = 0;
  if (!ReadImages(*job, placed, outputs, trespassed, diagnostics)) return Failure{};
  if (trespassed > 0) {
    return diagnostics.Error(
        DiagnosticKind::kOutOfBounds, kNoSpan,
        fmt::format("`{}` on the GPU wrote {} bytes that belong to no element of its tensors", kernel.entry, trespassed));
  }
  for (auto& [name, tensor] : outputs) arguments.tensors[name] = std::move(tensor);
  return {};
}

}  // namespace tkc

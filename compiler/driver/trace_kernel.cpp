// SPDX-License-Identifier: MIT
#include "compiler/driver/trace_kernel.h"

#include <fmt/format.h>

#include "compiler/driver/compile.h"
#include "compiler/driver/findings.h"
#include "compiler/driver/outputs.h"
#include "compiler/driver/run_kernel.h"
#include "compiler/driver/simulate.h"
#include "compiler/driver/timeline.h"
#include "compiler/interp/interpret.h"
#include "compiler/support/internal_error.h"

namespace tkc {
namespace {

constexpr int kPicturedBlocks = 1;  // all look alike in a picture; the .json has every one

Result<Timeline> Trace(Session& session, const Target& target, typed::Program& program, const RunCommand& command) {
  Diagnostics& diagnostics = session.diagnostics;
  Result<typed::Entry*> entry = FindOwnEntry(program, command.arguments, diagnostics);
  if (!entry || !KeepSchedule(**entry, command.schedule, diagnostics)) return Failure{};
  Result<interp::Arguments> arguments = MakeRunArguments((*entry)->kernels.front(), command.arguments, diagnostics);
  if (!arguments || !interp::ChooseKernel(**entry, *arguments, diagnostics)) return Failure{};
  Result<Generated> code = Generate(session, program, target);
  if (!code) return Failure{};
  SetCrashPass("trace");
  Result<SimulatedKernel> kernel = PrepareSimulation(session, *code, **entry);
  if (!kernel) return Failure{};
  SimulationOptions options;
  options.seed = 0;
  options.trace = true;
  Result<Simulation> simulation = Simulate(*kernel, (*entry)->kernels.front(), *arguments, options, diagnostics);
  if (!simulation) return Failure{};
  ReportFindings(*kernel, simulation->result.findings, session.sources, diagnostics);
  if (ReportNoOutputs(*simulation, (*entry)->name, diagnostics)) return Failure{};
  std::string why;
  const std::optional<SimTrace> trace = ParseSimTrace(simulation->trace, why);
  if (!trace)
    return diagnostics.Error(DiagnosticKind::kRunFailed, kNoSpan, fmt::format("the simulator's timeline can't be read: {}", why));
  Timeline timeline = MakeTimeline(*trace, *kernel, code->module, session.sources);
  std::string dims;
  for (const auto& [name, extent] : arguments->dims) dims += fmt::format("{}{} = {}", dims.empty() ? "" : ", ", name, extent);
  if (!dims.empty()) timeline.title += " at " + dims;
  return timeline;
}

}  // namespace

int TraceKernel(const Options& options, const RunCommand& command) {
  Session session(options);
  const bool is_svg = command.timeline.ends_with(".svg");
  if (!is_svg && !command.timeline.ends_with(".json")) {
    session.diagnostics
        .Error(DiagnosticKind::kBadArgument, kNoSpan,
               command.timeline.empty() ? "no file for the timeline"
                                        : fmt::format("`{}` ends in neither `.svg` nor `.json`", command.timeline))
        .Help("write `-o trace.svg` for a picture, or `-o trace.json` for Perfetto");
    return session.Finish();
  }
  const Target* target = RequireTarget(session, "a timeline");
  if (!target) return session.Finish();
  Result<typed::Program> program = CheckFile(session, *target);
  if (!program) return session.Finish();
  Result<Timeline> timeline = Trace(session, *target, *program, command);
  if (!timeline) return session.Finish();
  if (timeline->rows.empty()) {
    session.diagnostics.Error(DiagnosticKind::kRunFailed, kNoSpan, "there is nothing to draw: no thread waited or accessed memory")
        .Help("take larger dimensions");
    return session.Finish();
  }
  return session.Write({{command.timeline, is_svg ? TimelineSvg(*timeline, kPicturedBlocks) : TimelineJson(*timeline)}});
}

}  // namespace tkc

// SPDX-License-Identifier: MIT
#include "compiler/certify/certify.h"

#include <fmt/format.h>

#include "compiler/certify/program.h"
#include "compiler/certify/replay.h"
#include "compiler/certify/structure.h"

namespace tkc::certify {
namespace {

bool Report(const Finding& finding, Diagnostics& diagnostics) {
  auto report = diagnostics.Error(finding.kind, finding.span, finding.headline);
  for (const auto& [span, text] : finding.notes) report.Note(span, text);
  report.Help(
      "synchronisation is derived by tkc: this is its fault, not the source's; please report the file, the options and `tkc "
      "--version`");
  return false;
}

}  // namespace

bool Certify(const ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics, Certificate* certificate) {
  Program program = BuildProgram(kernel);
  if (!program.unknowns.empty()) {
    const Unknown& unknown = program.unknowns.front();
    return Report({DiagnosticKind::kCertificateUnknown, unknown.span, fmt::format("the certificate cannot tell {}", unknown.what)},
                  diagnostics);
  }
  if (const auto finding = CheckRings(program)) return Report(*finding, diagnostics);
  if (const auto finding = CheckBudgets(program, target)) return Report(*finding, diagnostics);
  const ReplayResult replay = Replay(program);
  if (replay.finding) return Report(*replay.finding, diagnostics);
  if (certificate) {
    certificate->kernel = kernel.name;
    certificate->text = fmt::format("{}: {} states, {} steps\n", kernel.name, replay.states, replay.steps);
  }
  return true;
}

}  // namespace tkc::certify

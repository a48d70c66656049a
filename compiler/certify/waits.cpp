// SPDX-License-Identifier: MIT
#include "compiler/certify/waits.h"

#include <fmt/format.h>

#include <algorithm>

namespace tkc::certify {
namespace {

std::vector<const ir::Op*> Each(const Program& program, ir::OpCode code) {
  std::vector<const ir::Op*> ops;
  for (const Agent& agent : program.agents) {
    for (const Step& step : agent.steps) {
      if (step.kind != StepKind::kOp || step.op->code != code) continue;
      if (std::find(ops.begin(), ops.end(), step.op) == ops.end()) ops.push_back(step.op);
    }
  }
  return ops;
}

}  // namespace

std::vector<const ir::Op*> WaitsForCopies(const Program& program) { return Each(program, ir::OpCode::kWaitCopies); }

std::optional<Finding> CheckWaits(const Program& program, Replays& replays, const ReplayResult& replay) {
  const char* what = program.counts_instructions ? "copy instructions" : "groups of copies";
  for (const ir::Op* wait : WaitsForCopies(program)) {
    if (!replays.HoldsLoosened(wait, replay)) continue;
    return Finding{
        DiagnosticKind::kCertificateWait, wait->span,
        fmt::format("this waits until {} {} are unfinished, and nothing would go wrong with one more", wait->Unfinished(), what)};
  }
  if (program.counts_instructions) return std::nullopt;
  for (const ir::Op* commit : Each(program, ir::OpCode::kCommitCopies)) {
    if (replay.filled.count(commit) != 0) continue;
    return Finding{DiagnosticKind::kCertificateWait, commit->span,
                   "this group of copies is always empty, and every wait that counts it is for more than it says"};
  }
  return std::nullopt;
}

}  // namespace tkc::certify

// SPDX-License-Identifier: MIT
#include "compiler/certify/certify.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/certify/ahead.h"
#include "compiler/certify/budgets.h"
#include "compiler/certify/coverage.h"
#include "compiler/certify/draws.h"
#include "compiler/certify/frame.h"
#include "compiler/certify/marks.h"
#include "compiler/certify/named_barriers.h"
#include "compiler/certify/program.h"
#include "compiler/certify/replay.h"
#include "compiler/certify/sets_apart.h"
#include "compiler/certify/structure.h"
#include "compiler/certify/threads.h"
#include "compiler/certify/waits.h"

namespace tkc::certify {
namespace {

bool Report(const Finding& finding, Diagnostics& diagnostics) {
  auto report = diagnostics.Error(finding.kind, finding.span, finding.headline);
  for (const auto& [span, text] : finding.notes) report.Note(span, text);
  if (!finding.help.empty()) report.Help(finding.help);
  report.Help(
      "synchronisation is derived by tkc: this is its fault, not the source's; please report the file, the options and `tkc "
      "--version`");
  return false;
}

std::string Describe(const Program& program, const Target& target, Replays& replays, const ReplayResult& replay) {
  const ir::Kernel& kernel = *program.kernel;
  std::string text = fmt::format("kernel {}{}: certified\n", kernel.name,
                                 kernel.schedule.empty() ? "" : fmt::format(" (schedule {})", kernel.schedule));
  const auto line = [&](std::string_view what, std::string how) { text += fmt::format("  {:<14}{}\n", what, how); };
  std::string agents;
  for (const Agent& agent : program.agents) {
    if (agent.block == 0) agents += (agents.empty() ? "" : ", ") + agent.name;
  }
  line("agents", agents + (program.blocks > 1 ? fmt::format(", in each of {} blocks of a cluster", program.blocks) : ""));
  line("replay", fmt::format("closed: {} decisions about loops and conditions in {} states, {} steps", replay.choices,
                             replay.states, replay.steps));
  line("deadlock", "none: every replay comes to its end, with all phases over and every slot given back");
  line("hazards", "none: each access to shared memory comes behind those that it conflicts with, copies and products included");
  int64_t elements = 0;
  for (const ir::Barrier& barrier : kernel.barriers) elements += barrier.count;
  line("barriers", elements == 0
                       ? "no mbarrier"
                       : fmt::format("{} mbarrier{}: arrivals and bytes as expected in every phase, no wait two phases behind",
                                     elements, elements == 1 ? "" : "s"));
  if (!target.folds_copies) line("proxies", "a fence of the writer between ordinary stores and the copy engine or the matrix unit");
  if (const std::vector<const ir::Op*> waits = WaitsForCopies(program); !waits.empty()) {
    const auto drained = std::count_if(waits.begin(), waits.end(), [](const ir::Op* wait) { return wait->Unfinished() == 0; });
    line("copies",
         fmt::format(
             "each read in its own turn, behind its threads' waits and a barrier; {} counted {}, none for more than needed{}",
             waits.size(), waits.size() == 1 ? "wait" : "waits",
             drained == 0 ? "" : fmt::format("; {} of them {} for all copies", drained, drained == 1 ? "is" : "are")));
  }
  line("registers", !target.registers.Moves()
                        ? "what is read has been set"
                        : fmt::format("accumulators untouched in flight, fenced before; {} of {} a thread over all warpgroups",
                                      RegisterSum(kernel, target), target.registers.Pool(kernel.threads)));
  const bool shares = std::any_of(kernel.buffers.begin(), kernel.buffers.end(), [](const ir::Buffer& b) { return b.shares_room; });
  line("shared memory", fmt::format("{} of {} bytes, {}", kernel.shared_bytes, target.shared_memory_per_block,
                                    shares ? "no tile is read behind a write into what lies over it" : "no two arrays overlap"));
  line("coverage", "each tile of the grid is taken once; no element is stored twice in a tile, no hole is left");
  text += "  assumed\n";
  const auto assumed = [&](std::string_view what) { text += fmt::format("    - {}\n", what); };
  assumed("the printer prints each operation as op.def says");
  assumed("the runtime's functions synchronise as lang-spec/certificate.md lists them");
  assumed("the launcher starts one block (or cluster) for each tile, or any number of them where the kernel is persistent");
  if (kernel.dynamic) assumed("the counter of drawn tiles is zero when the kernel begins, and nothing else changes it");
  for (const Family& family : replays.Of(replay.remembers)->families) {
    if (replay.remembers == Remembers::kLittle) break;  // of conditions nothing had to be assumed
    if (family.members != 0 && family.text.starts_with("launch|"))
      assumed("one value for the whole launch: " + family.text.substr(family.text.find('|') + 1));
  }
  return text;
}

bool CertifyRoles(const ir::Kernel& kernel, const Setup& setup, const Target& target, Diagnostics& diagnostics,
                  Certificate* certificate) {
  Program program = BuildProgram(kernel, target, Remembers::kLittle);
  if (!program.unknowns.empty()) {
    const Unknown& unknown = program.unknowns.front();
    return Report({DiagnosticKind::kCertificateUnknown, unknown.span, fmt::format("the certificate cannot tell {}", unknown.what)},
                  diagnostics);
  }
  if (const auto finding = CheckRings(program)) return Report(*finding, diagnostics);
  if (const auto finding = CheckThreads(program)) return Report(*finding, diagnostics);
  if (const auto finding = CheckCluster(program, setup)) return Report(*finding, diagnostics);
  if (const auto finding = CheckLaunch(kernel, target)) return Report(*finding, diagnostics);
  if (const auto finding = CheckBudgets(kernel, target)) return Report(*finding, diagnostics);
  if (const auto finding = CheckNamedBarriers(program, target)) return Report(*finding, diagnostics);
  if (const auto finding = CheckDraws(program)) return Report(*finding, diagnostics);
  if (const auto finding = CheckGrid(program)) return Report(*finding, diagnostics);
  if (const auto finding = CheckStores(program)) return Report(*finding, diagnostics);
  if (const auto finding = CheckMarks(program)) return Report(*finding, diagnostics);
  if (const auto finding = CheckMissingRows(program)) return Report(*finding, diagnostics);
  if (const auto finding = CheckAhead(program)) return Report(*finding, diagnostics);
  Replays replays(program, target);
  const ReplayResult replay = replays.Run();
  if (replay.finding) return Report(*replay.finding, diagnostics);
  if (!certificate) return true;
  if (const auto finding = CheckWaits(program, replays, replay)) return Report(*finding, diagnostics);
  *certificate = {kernel.name, Describe(program, target, replays, replay)};
  return true;
}

}  // namespace

bool Certify(const ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics, Certificate* certificate) {
  Setup setup;
  if (const auto finding = CheckFrame(kernel, setup)) return Report(*finding, diagnostics);
  if (HasSets(kernel)) return CertifyRoles(WithSetsApart(kernel), setup, target, diagnostics, certificate);
  return CertifyRoles(kernel, setup, target, diagnostics, certificate);
}

}  // namespace tkc::certify

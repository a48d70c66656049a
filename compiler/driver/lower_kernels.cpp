// SPDX-License-Identifier: MIT
#include "compiler/driver/lower_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "compiler/certify/certify.h"
#include "compiler/ir/verify.h"
#include "compiler/sema/check.h"
#include "compiler/support/internal_error.h"
#include "compiler/support/parallel.h"

namespace tkc {
namespace {

/// What the kernel is printed for, where its text says that; else what the options say.
const Target& TargetOf(const ir::Kernel& kernel, const Target& target) {
  const Target* own = FindTarget(kernel.target);
  return own ? *own : target;
}

/// Text of the schedule level has passed no pass, behind which it would have been verified.
bool VerifyText(const Options& options, const ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics) {
  if (options.from != From::kSchedule) return true;
  if (!kernel.is_schedule) {
    diagnostics
        .Error(DiagnosticKind::kMalformedIr, kernel.span, fmt::format("kernel `{}` does not say `level schedule`", kernel.name))
        .Help("text that `--emit=tile` wrote is read with `--from=tile`");
    return false;
  }
  if (!kernel.tiles) diagnostics.Error(DiagnosticKind::kMalformedIr, kernel.span, "how many tiles there are is not said");
  for (const ir::Fault& fault : ir::Verify(kernel, ir::Level::kSchedule, &target)) {
    diagnostics.Error(DiagnosticKind::kMalformedIr, fault.span, fault.message);
  }
  return !diagnostics.HasErrors();
}

/// The proof of a kernel: on by default in every compile. `certificate` may be null.
void Certify(const Options& options, const ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics,
             certify::Certificate* certificate) {
  SetCrashPass("certify");
  if (!VerifyText(options, kernel, target, diagnostics)) return;
  if (options.certify) certify::Certify(kernel, target, diagnostics, certificate);
}

/// Which of the kernels behind an entry is meant, for what is reported for it; empty where there is one.
std::string NoteOfSet(const ir::Module& module, const ir::Kernel& kernel) {
  if (!kernel.schedule.empty()) return fmt::format("in schedule set `{}`", kernel.schedule);
  const bool has_sets = std::ranges::any_of(
      module.kernels, [&](const ir::Kernel& other) { return other.entry == kernel.entry && !other.schedule.empty(); });
  return std::string(has_sets ? kInDefaults : "");
}

/// The kernels of a module, those first whose proof takes longest, so that all cores end together. It grows with the agents that
/// are replayed, and with their tiles.
std::vector<size_t> LongestFirst(const ir::Module& module) {
  const auto work = [&](size_t i) {
    const ir::Kernel& kernel = module.kernels[i];
    int64_t of_block = 0;
    for (const ir::Worker& worker : kernel.workers) of_block += worker.instances;
    return of_block * kernel.cluster * kernel.split * (kernel.persistent ? 2 : 1);
  };
  std::vector<size_t> order(module.kernels.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater<>{}, work);
  return order;
}

}  // namespace

bool LowerKernels(std::span<const Pass> passes, Session& session, ir::Module& module, const Target& target, Until until,
                  std::string* certificate, std::vector<const ir::Kernel*>* failed) {
  const Options& options = session.options;
  const size_t count = module.kernels.size();
  std::vector<Diagnostics> reports(count);
  std::vector<certify::Certificate> certificates(count);
  const auto lower = [&](size_t i) {
    ir::Kernel& kernel = module.kernels[i];
    if (options.from != From::kSchedule) {
      const bool ok = RunPasses(passes, options, kernel, target, reports[i]);
      reports[i].EndCompilation(0, NoteOfSet(module, kernel));
      if (!ok) return;
    }
    if (until == Until::kProved)
      Certify(options, kernel, TargetOf(kernel, target), reports[i], certificate ? &certificates[i] : nullptr);
  };
  if (!options.dump_after.empty()) {
    // What it prints of one kernel must not stand between the lines of another.
    for (size_t i = 0; i < count; ++i) lower(i);
  } else {
    const std::vector<size_t> order = LongestFirst(module);
    ForEachInParallel(count, [&](size_t i) { lower(order[i]); });
  }
  for (size_t i = 0; i < count && failed != nullptr; ++i) {
    if (reports[i].HasErrors()) failed->push_back(&module.kernels[i]);
  }
  const size_t reported = session.diagnostics.All().size();
  for (Diagnostics& report : reports) session.diagnostics.Append(std::move(report));
  session.diagnostics.EndCompilation(reported, "");
  if (certificate) {
    for (const certify::Certificate& one : certificates) *certificate += one.text;
  }
  return !session.diagnostics.HasErrors();
}

}  // namespace tkc

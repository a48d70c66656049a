// SPDX-License-Identifier: MIT
#include "compiler/passes/assign_roles.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/passes/register_shares.h"
#include "compiler/passes/split_instances.h"
#include "compiler/passes/walk.h"

namespace tkc::passes {
namespace {

using ir::OpCode;

/// Instances that take turns over the tiles of a block hide its latencies from each other; folded, one of them takes every tile.
void TakeEveryTile(ir::Worker& worker) {
  worker.in_turn = false;
  worker.instances = 1;
}

/// Warps for those that compute, from this one on. Returns the first behind them.
int NumberComputing(ir::Kernel& kernel, int warps) {
  for (ir::Worker& worker : kernel.workers) {
    if (worker.kind != ir::RoleKind::kCompute) continue;
    worker.first_warp = warps;
    warps += ir::kWarpsOfInstance * static_cast<int>(worker.instances);
  }
  return warps;
}

/// A warp for each of those that copy, from this one on. Returns the first behind them.
int NumberCopying(ir::Kernel& kernel, int warps) {
  for (ir::Worker& worker : kernel.workers) {
    if (worker.kind == ir::RoleKind::kCopyThread) worker.first_warp = warps++;
  }
  return warps;
}

/// Returns how many warps the block has.
int NumberWarps(ir::Kernel& kernel, const Target& target) {
  const int copying = NumberCopying(kernel, 0);
  // Copies that are folded need no warps of their own.
  if (target.folds_copies) return NumberComputing(kernel, 0);
  if (MovesRegisters(kernel, target))
    return NumberComputing(kernel, (copying + ir::kWarpsOfInstance - 1) / ir::kWarpsOfInstance * ir::kWarpsOfInstance);
  // A warpgroup that is made whole by idle warps would only take registers.
  return NumberCopying(kernel, NumberComputing(kernel, 0));
}

std::string ThreadsOfRoles(const ir::Kernel& kernel, const Target& target) {
  const int group = target.lanes * ir::kWarpsOfInstance;
  std::string text = fmt::format("a worker instance that computes takes {} threads", group);
  const auto copies = [](const ir::Worker& worker) { return worker.kind == ir::RoleKind::kCopyThread; };
  if (target.folds_copies || std::none_of(kernel.workers.begin(), kernel.workers.end(), copies)) return text;
  return text + (MovesRegisters(kernel, target) ? fmt::format(", workers that only copy share {}", group)
                                                : fmt::format(", a worker that only copies takes {}", target.lanes));
}

}  // namespace

bool OnlyCopies(const ir::Worker& worker) {
  bool only_copies = true;
  bool sends = false;
  std::set<ir::ValueId> reads;
  ForEachOp(worker.body, [&](const ir::Op& op) {
    switch (op.code) {
      case OpCode::kRead: reads.insert(op.results[0]); break;
      case OpCode::kSend:
        sends = true;
        for (ir::ValueId value : op.operands) only_copies &= reads.count(value) != 0;
        break;
      case OpCode::kLet:
      case OpCode::kFor:
      case OpCode::kIf: break;
      default: only_copies = false;
    }
  });
  return only_copies && sends && worker.instances == 1;
}

Result<void> AssignRoles(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics) {
  // Text may say otherwise.
  for (ir::Worker& worker : kernel.workers)
    worker.kind = OnlyCopies(worker) ? ir::RoleKind::kCopyThread : ir::RoleKind::kUnassigned;
  if (target.folds_copies) {
    for (ir::Worker& worker : kernel.workers) {
      if (worker.in_turn) TakeEveryTile(worker);
    }
    SplitInstances(kernel);
  }
  for (ir::Worker& worker : kernel.workers) {
    if (worker.kind == ir::RoleKind::kUnassigned) worker.kind = ir::RoleKind::kCompute;
  }
  const int warps = NumberWarps(kernel, target);
  // A kernel without workers does nothing, but is launched.
  kernel.threads = target.lanes * std::max(warps, ir::kWarpsOfInstance);
  if (kernel.threads > target.max_threads_per_block) {
    diagnostics
        .Error(DiagnosticKind::kTooManyThreads, kernel.span,
               fmt::format("the workers need {} threads; `{}` has {} per block", kernel.threads, target.name,
                           target.max_threads_per_block))
        .Note(kernel.span, ThreadsOfRoles(kernel, target))
        .Help("use fewer worker instances");
    return Failure{};
  }
  return {};
}

}  // namespace tkc::passes

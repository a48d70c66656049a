// SPDX-License-Identifier: MIT
#include "compiler/passes/assign_roles.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/ir/queries.h"
#include "compiler/passes/split_instances.h"

namespace tkc::passes {
namespace {

using ir::OpCode;

/// Instances that take turns over the tiles of a block hide its latencies from each other; folded, one of them takes every tile.
void TakeEveryTile(ir::Worker& worker) {
  worker.in_turn = false;
  worker.instances = 1;
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
  int copy_warps = 0;
  for (ir::Worker& worker : kernel.workers) {
    worker.kind = ir::RoleKind::kUnassigned;  // text may say otherwise
    if (!OnlyCopies(worker)) continue;
    worker.kind = ir::RoleKind::kCopyThread;
    worker.first_warp = copy_warps++;
  }
  if (target.folds_copies) {
    for (ir::Worker& worker : kernel.workers) {
      if (worker.in_turn) TakeEveryTile(worker);
    }
    SplitInstances(kernel);
  }
  // Copies that are folded need no warps of their own.
  int warps = target.folds_copies ? 0 : (copy_warps + ir::kWarpsOfInstance - 1) / ir::kWarpsOfInstance * ir::kWarpsOfInstance;
  for (ir::Worker& worker : kernel.workers) {
    if (worker.kind != ir::RoleKind::kUnassigned) continue;
    worker.kind = ir::RoleKind::kCompute;
    worker.first_warp = warps;
    warps += ir::kWarpsOfInstance * static_cast<int>(worker.instances);
  }
  // A kernel without workers does nothing, but is launched.
  kernel.threads = target.lanes * std::max(warps, ir::kWarpsOfInstance);
  if (kernel.threads > target.max_threads_per_block) {
    diagnostics
        .Error(DiagnosticKind::kTooManyThreads, kernel.span,
               fmt::format("the workers need {} threads; `{}` has {} per block", kernel.threads, target.name,
                           target.max_threads_per_block))
        .Note(kernel.span, fmt::format("a worker instance that computes takes {} threads{}", target.lanes * ir::kWarpsOfInstance,
                                       target.folds_copies ? "" : ", workers that only copy share 128"))
        .Help("use fewer worker instances");
    return Failure{};
  }
  return {};
}

}  // namespace tkc::passes

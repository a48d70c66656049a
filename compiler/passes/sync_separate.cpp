// SPDX-License-Identifier: MIT
// Synchronisation where copies have roles of their own: whoever fills a slot arrives at its full barrier, whoever reads it waits
// there and arrives at its empty one.
#include "compiler/ir/queries.h"
#include "compiler/passes/sync_roles.h"

namespace tkc::passes {

void SyncSeparateRoles(ir::Kernel& kernel, const std::vector<RingsOfSends>& rings, const PipeTraffic& traffic,
                       Diagnostics& diagnostics) {
  FullArrivals arrivals;
  for (size_t i = 0; i < rings.size(); ++i) {
    ir::Worker& worker = kernel.workers[i];
    if (worker.Computes())
      SyncComputeRole(kernel, worker, traffic, rings[i], arrivals, diagnostics);
    else
      SyncCopyRole(kernel, worker, traffic, arrivals);
  }
  for (const ir::Pipe& pipe : kernel.pipes) {
    if (pipe.name == kernel.next_tile) continue;  // HandOnTiles
    const bool goes_back = !traffic.filled_once.contains(pipe.name);
    if (traffic.exchanged.contains(pipe.name)) {
      AddClusterBarriers(kernel, pipe, !goes_back);
      continue;
    }
    const int64_t blocks = IsShared(kernel, pipe.name) ? kernel.cluster : 1;
    AddSlotBarriers(kernel, pipe, arrivals[pipe.name], goes_back ? pipe.receivers * ir::kWarpsOfInstance * blocks : 0);
  }
}

}  // namespace tkc::passes

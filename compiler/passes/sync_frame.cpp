// SPDX-License-Identifier: MIT
// The frame around the roles. One thread initialises the barriers, and all wait for it: the block's threads at its barrier; in a
// cluster, whose blocks reach into each other's, at that of the cluster.
//
// A block that waits for all others before it does anything idles while the slowest of them starts. Where each role that reaches
// out can wait by itself, the set-up only says that this block's barriers stand (cluster_arrive), and the roles wait when they come
// to that.
//
// Where everything that blocks send each other is filled once, no block reaches into another behind the end of what that one waits
// for: each leaves when it is done. All other clusters end together.
#include <algorithm>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/passes/sync_roles.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;

bool UsesBarrier(OpCode code) {
  return ir::StoresToBlocks(code) || code == OpCode::kWaitEmpty || code == OpCode::kWaitFull || code == OpCode::kExpect ||
         code == OpCode::kArrive;
}

bool LeaveAlone(const ir::Kernel& kernel, const PipeTraffic& traffic) {
  const bool fills_once =
      std::includes(traffic.filled_once.begin(), traffic.filled_once.end(), traffic.exchanged.begin(), traffic.exchanged.end());
  return kernel.split > 1 || (kernel.Spread() > 1 && !kernel.dynamic && fills_once);
}

/// In front of the first use of a barrier, or, with `has_met_block`, which says that the block's own barriers are ready, in front
/// of the first use of another block's. Whether there is one.
bool WaitForCluster(ir::Worker& worker, bool has_met_block) {
  const auto needs_it = [&](const Op& op) { return has_met_block ? ir::StoresToBlocks(op.code) : UsesBarrier(op.code); };
  const auto first = std::find_if(worker.body.begin(), worker.body.end(), [&](const Op& op) { return Holds(op, needs_it); });
  if (first == worker.body.end()) return false;
  worker.body.insert(first, MakeOp(OpCode::kClusterWait, "", "", 0, first->span));
  return true;
}

/// Who waits for barriers: all at once behind the set-up, or roles that wait for the cluster by themselves.
enum class Waiting : uint8_t { kBehindSetup, kSomeRoles, kAllRoles };

/// A single thread, which copies, can't wait for the cluster: where all threads meet the cluster once more at the end, they do so
/// in front of everything, too.
Waiting WaitLateForCluster(ir::Kernel& kernel, bool leave_alone) {
  const auto computes = [](const ir::Worker& worker) { return worker.Computes(); };
  const bool all_compute = std::all_of(kernel.workers.begin(), kernel.workers.end(), computes);
  if (!leave_alone && (kernel.Spread() == 1 || !all_compute)) return Waiting::kBehindSetup;
  size_t waiting = 0;
  for (ir::Worker& worker : kernel.workers) waiting += computes(worker) && WaitForCluster(worker, /*has_met_block=*/!all_compute);
  return waiting == 0 ? Waiting::kBehindSetup : waiting == kernel.workers.size() ? Waiting::kAllRoles : Waiting::kSomeRoles;
}

const char* DescribeSetup(const ir::Kernel& kernel, Waiting waiting) {
  if (kernel.barriers.empty()) return "One thread fetches ahead what the copy engine has to know of the tensors.";
  switch (waiting) {
    case Waiting::kBehindSetup: return "One thread initialises the barriers; all others wait for it.";
    case Waiting::kSomeRoles:
      return "One thread initialises the barriers; all wait for it, and whoever reaches into other blocks waits for theirs, too.";
    case Waiting::kAllRoles:
      return "One thread initialises the barriers; whoever uses them waits until all blocks of the cluster have done so.";
  }
  return "";
}

Region SetUp(const ir::Kernel& kernel, Waiting waiting) {
  const auto make = [&](OpCode code, const std::string& symbol = "") { return MakeOp(code, symbol, "", 0, kernel.span); };
  if (kernel.maps.empty() && kernel.barriers.empty()) return {};
  Op elected = MakeOp(OpCode::kIfElected, "", "", ir::kOfBlock, kernel.span);
  Region& by_one = elected.regions.emplace_back();
  for (const ir::TensorMap& map : kernel.maps) by_one.push_back(make(OpCode::kPrefetchMap, map.name));
  for (const ir::Barrier& barrier : kernel.barriers) by_one.push_back(make(OpCode::kInitBarrier, barrier.name));
  if (!kernel.barriers.empty()) by_one.push_back(make(OpCode::kFenceBarrierInit));
  Region setup = {Explain(DescribeSetup(kernel, waiting), kernel.span), std::move(elected)};
  if (kernel.barriers.empty()) return setup;
  if (waiting != Waiting::kBehindSetup) setup.push_back(make(OpCode::kClusterArrive));
  if (waiting == Waiting::kBehindSetup && kernel.cluster > 1)
    setup.push_back(make(OpCode::kClusterSync));
  else if (waiting != Waiting::kAllRoles)
    setup.push_back(make(OpCode::kSyncBlock));
  return setup;
}

}  // namespace

void AddFrame(ir::Kernel& kernel, const PipeTraffic& traffic) {
  const bool leave_alone = LeaveAlone(kernel, traffic);
  kernel.setup = SetUp(kernel, WaitLateForCluster(kernel, leave_alone));
  if (kernel.cluster == 1 || leave_alone) return;
  kernel.ending = {Explain("No block leaves while another may still reach into its shared memory.", kernel.span),
                   MakeOp(OpCode::kClusterSync, "", "", 0, kernel.span)};
}

}  // namespace tkc::passes

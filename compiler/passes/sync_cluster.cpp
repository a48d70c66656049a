// SPDX-License-Identifier: MIT
// What blocks of a cluster store into each other's shared memory: the full barrier of each counts the bytes.
//
// Pipes between instances that are spread over the blocks: a slot lies in every block, and what an instance sends is stored into
// all of them. Of the bytes the instances of a block announce equal shares when they come to receive. A slot that is filled again
// is given back to all blocks before; one that never is needs no empty barrier.
//
// Shares of a split sum: each instance of a block has a buffer for those of the other blocks, which is filled once.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/ir/derived_names.h"
#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/passes/sync_roles.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;

/// By one thread of the instance: so many bytes will come.
void Announce(const std::string& barrier, const std::string& slot, int64_t bytes, Span span, Region& out) {
  Op elected = MakeOp(OpCode::kIfElected, "", "", ir::kOfWarpgroup, span);
  elected.regions = {{MakeOp(OpCode::kExpect, barrier, slot, bytes, span)}};
  out.push_back(std::move(elected));
}

}  // namespace

void SendToCluster(ir::Kernel& kernel, const Op& send, const std::string& ring, Region& out) {
  for (Op& each : StoresOf(kernel, send, ring)) {
    if (each.code == OpCode::kStoreShared) {
      each.code = OpCode::kStoreCluster;
      each.symbol = FullBarrier(send.symbol);
      each.SetSlot(ring);
      each.SetBlocks(kernel.cluster);
    }
    out.push_back(std::move(each));
  }
}

void AnnounceSlot(const ir::Pipe& pipe, const ir::Worker& worker, Span span, Region& out) {
  Announce(FullBarrier(pipe.name), pipe.name, SlotBytes(pipe) / worker.instances, span, out);
}

void AwaitShares(const ir::Kernel& kernel, const Op& collect, Region& out) {
  const std::string full = ir::SharesBarrier(collect.symbol);
  Announce(full, collect.Slot(), FindBuffer(kernel, collect.symbol).TileBytes(), collect.span, out);
  out.push_back(MakeOp(OpCode::kSplitWait, full, collect.Slot(), 0, collect.span));
}

void AddClusterBarriers(ir::Kernel& kernel, const ir::Pipe& pipe, bool is_filled_once) {
  // Senders and receivers of the pipe are those of all blocks.
  kernel.barriers.push_back({FullBarrier(pipe.name), pipe.slots, pipe.receivers / kernel.Spread(),
                             fmt::format("all blocks have filled their parts of a slot of {}", pipe.name)});
  if (is_filled_once) return;
  kernel.barriers.push_back({EmptyBarrier(pipe.name), pipe.slots, pipe.receivers * ir::kWarpsOfInstance,
                             fmt::format("every warp that reads, in every block, is done with a slot of {}", pipe.name)});
}

void AddSharesBarrier(ir::Kernel& kernel, const ir::Buffer& buffer) {
  kernel.barriers.push_back(
      {ir::SharesBarrier(buffer.name), buffer.instances, 1, "all other blocks have filled their parts of " + buffer.name});
}

}  // namespace tkc::passes

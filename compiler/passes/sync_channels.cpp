// SPDX-License-Identifier: MIT
// Pipes between different workers of a folded program: a slot has two barriers in shared memory, as where copy engines fill it. Who
// sends waits until the slot is empty, stores, and each of his warps arrives at the full one; who receives waits there, reads, and
// arrives at the empty one behind the last read, unless no slot is filled a second time. No other threads of either worker meet for
// it.
//
// A loaded pipe that several workers receive is filled by one of them: it waits until the slot that it copies into is empty, and
// when it comes to receive the slot itself, each of its warps waits for its own copies (sync_folded) and arrives at the full one.
#include <algorithm>

#include "compiler/ir/queries.h"
#include "compiler/passes/meetings.h"
#include "compiler/passes/sent_slots.h"
#include "compiler/passes/slot_views.h"
#include "compiler/passes/sync_roles.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;

/// A received slot until its release.
struct Held {
  std::string pipe;
  size_t last_use;  // index in the region
  Span span;
};

class ChannelSync {
 public:
  ChannelSync(ir::Kernel& kernel, const ir::Worker& worker, const std::set<std::string>& channels, const PipeTraffic& traffic,
              const RingsOfSends& rings, FullArrivals& arrivals, Diagnostics& diagnostics)
      : kernel_(kernel),
        warps_(ir::kWarpsOfInstance * worker.instances),
        channels_(channels),
        traffic_(traffic),
        rings_(rings),
        arrivals_(arrivals),
        diagnostics_(diagnostics),
        slot_of_(SlotsOfViews(worker.body)) {
    ForEachOp(worker.body, [&](const Op& op) {
      if (op.code == OpCode::kSend && !op.regions.empty()) filled_.insert(op.symbol);
    });
  }

  Region Rewrite(const Region& region) {
    Region out;
    std::vector<Held> held;
    for (size_t i = 0; i < region.size(); ++i) {
      const Op& op = region[i];
      const bool is_channel = channels_.count(op.symbol) > 0;
      if (op.code == OpCode::kReceive && is_channel) {
        held.push_back(Receive(region, i, out));
      } else if (op.code == OpCode::kSend && op.regions.empty() && is_channel) {
        SendTiles(kernel_, region, i, traffic_, rings_, out);
      } else {
        if (op.code == OpCode::kSend && is_channel && !traffic_.filled_once.contains(op.symbol)) {
          out.push_back(MakeOp(OpCode::kWaitEmpty, EmptyBarrier(op.symbol), op.Slot(), 0, op.span));
        }
        out.push_back(op);
        if (op.code != OpCode::kSend) {
          for (Region& inner : out.back().regions) inner = Rewrite(inner);
        }
      }
      for (auto slot = held.begin(); slot != held.end();) {
        if (slot->last_use != i) {
          ++slot;
          continue;
        }
        if (!traffic_.filled_once.contains(slot->pipe))
          out.push_back(MakeOp(OpCode::kArrive, EmptyBarrier(slot->pipe), slot->pipe, ir::kPerWarp, slot->span));
        if (traffic_.GoesOn(FindPipe(kernel_, slot->pipe))) out.push_back(MakeOp(OpCode::kAdvance, slot->pipe, "", 0, slot->span));
        held_pipes_.erase(slot->pipe);
        slot = held.erase(slot);
      }
    }
    return out;
  }

 private:
  Held Receive(const Region& region, size_t index, Region& out) {
    const Op& op = region[index];
    const ir::Pipe& pipe = FindPipe(kernel_, op.symbol);
    if (!held_pipes_.insert(pipe.name).second) ReportTwoHeld(op, diagnostics_);
    if (filled_.count(pipe.name) > 0) {
      out.push_back(MakeOp(OpCode::kArrive, FullBarrier(pipe.name), pipe.name, ir::kPerWarp, op.span));
      arrivals_[pipe.name] = warps_;
    }
    out.push_back(MakeOp(OpCode::kWaitFull, FullBarrier(pipe.name), pipe.name, 0, op.span));
    size_t last = LastUse(region, index, op.results, slot_of_);
    for (size_t i = last + 1; i < region.size(); ++i) {
      // A copy ahead names its slot from where the ring stands at the receive; into a pipe's only slot, it waits for its release.
      const bool is_refill =
          pipe.slots > 1 && region[i].code == OpCode::kSend && !region[i].regions.empty() && region[i].symbol == pipe.name;
      if (is_refill) last = i;
    }
    ViewFields(
        kernel_, op, pipe.name, [&](ir::ValueId result) { return LastUse(region, index, {result}, slot_of_) != index; }, out);
    return {pipe.name, last, op.span};
  }

  ir::Kernel& kernel_;
  const int64_t warps_;
  const std::set<std::string>& channels_;
  const PipeTraffic& traffic_;
  const RingsOfSends& rings_;
  FullArrivals& arrivals_;
  Diagnostics& diagnostics_;
  SlotOfView slot_of_;
  std::set<std::string> filled_;      // pipes into which this worker copies
  std::set<std::string> held_pipes_;  // received and not yet released, in any region
};

}  // namespace

void SyncChannels(ir::Kernel& kernel, const std::vector<RingsOfSends>& rings, const PipeTraffic& traffic,
                  Diagnostics& diagnostics) {
  FullArrivals arrivals;
  const std::set<std::string> channels = Channels(kernel);  // while sends and receives still stand
  for (size_t i = 0; i < kernel.workers.size(); ++i) {
    ir::Worker& worker = kernel.workers[i];
    for (const std::string& pipe : channels) arrivals[pipe] += ir::kWarpsOfInstance * PartsSent(worker, pipe);
    worker.body = ChannelSync(kernel, worker, channels, traffic, rings[i], arrivals, diagnostics).Rewrite(worker.body);
  }
  for (const ir::Pipe& pipe : kernel.pipes) {
    if (channels.count(pipe.name) == 0) continue;
    const bool goes_back = !traffic.filled_once.contains(pipe.name);
    AddSlotBarriers(kernel, pipe, arrivals[pipe.name], goes_back ? pipe.receivers * ir::kWarpsOfInstance : 0);
  }
}

}  // namespace tkc::passes

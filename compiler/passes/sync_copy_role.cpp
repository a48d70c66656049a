// SPDX-License-Identifier: MIT
// Synchronisation of a role that only copies: per slot, wait until it is empty, say how many bytes will come, copy, go to the next
// slot.
#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/passes/sent_slots.h"
#include "compiler/passes/sync_roles.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;

class CopyRoleSync {
 public:
  CopyRoleSync(ir::Kernel& kernel, const ir::Worker& worker, const PipeTraffic& traffic, FullArrivals& arrivals)
      : kernel_(kernel), traffic_(traffic), by_warp_(worker.kind == ir::RoleKind::kCopyWarp), arrivals_(arrivals) {
    Count(worker.body);
  }

  Region Rewrite(Region region) {
    Region out;
    for (size_t i = 0; i < region.size(); ++i) {
      Op& op = region[i];
      if (op.code == OpCode::kSend) {
        Send(op, OpensSlot(region, i), ClosesSlot(region, i), out);
        continue;
      }
      const bool is_over_instances = IsOverInstances(op);
      for (Region& inner : op.regions) inner = Rewrite(std::move(inner));
      out.push_back(is_over_instances ? ForEachInstance(std::move(op)) : std::move(op));
      if (is_over_instances) TurnAll(out.back().span, out);
    }
    return out;
  }

 private:
  /// The greatest number of arrivals that a slot of each pipe gets from here: all slots get as many.
  void Count(const Region& region) {
    std::map<std::string, int64_t> pending;
    for (size_t i = 0; i < region.size(); ++i) {
      const Op& op = region[i];
      if (op.code != OpCode::kSend) {
        for (const Region& inner : op.regions) Count(inner);
        continue;
      }
      const Region& copies = op.regions[0];
      pending[op.symbol] += std::any_of(copies.begin(), copies.end(), [](const Op& copy) { return ir::IsEngineLoad(copy.code); });
      pending[op.symbol] += Contains(copies, OpCode::kCopyToShared);
      if (!ClosesSlot(region, i)) continue;
      most_[op.symbol] = std::max(most_[op.symbol], pending[op.symbol]);
      pending[op.symbol] = 0;
    }
  }

  /// Whose slots they are is then known wherever they are named.
  static Op ForEachInstance(Op loop) {
    int64_t instances = 0;
    symbolic::IsInt(loop.scalars[1], &instances);
    return Unroll(loop.symbol, instances, std::move(loop.regions[0]), loop.span);
  }

  /// The rings of instances' own pipes, of each of which a slot has been filled, turn together.
  void TurnAll(Span span, Region& out) {
    for (const std::string& pipe : own_) out.push_back(MakeOp(OpCode::kAdvance, pipe, "", 0, span));
    own_.clear();
  }

  void Send(Op& send, bool opens, bool closes, Region& out) {
    const std::string& pipe = send.symbol;
    const std::string slot = PresentSlot(send);
    if (opens && !traffic_.filled_once.contains(pipe))
      out.push_back(MakeOp(OpCode::kWaitEmpty, EmptyBarrier(pipe), slot, 0, send.span));
    Region views, engine, guarded;
    int64_t bytes = 0;
    for (Op& op : send.regions[0]) {
      const bool is_shared = ir::IsMulticast(op.code);
      if (ir::IsEngineLoad(op.code)) {
        // Every block receives the shares of all.
        bytes += BoxBytes(op) * (is_shared ? kernel_.cluster : 1);
        op.SetSlot(slot);
        engine.push_back(std::move(op));
      } else if (op.code == OpCode::kCopyToShared) {
        guarded.push_back(std::move(op));
      } else {
        if (op.code == OpCode::kView) op.SetSlot(slot);
        views.push_back(std::move(op));
      }
    }
    for (Op& op : views) out.push_back(std::move(op));
    int64_t arrivals = 0;
    if (!engine.empty()) {
      // The expected bytes and the arrival are one operation: the phase cannot complete between them.
      engine.insert(engine.begin(), MakeOp(OpCode::kExpect, FullBarrier(pipe), slot, bytes, send.span));
      ++arrivals;
      if (by_warp_) {
        Op elected = MakeOp(OpCode::kIfElected, "", "", ir::kOfWarp, send.span);
        elected.regions = {std::move(engine)};
        out.push_back(std::move(elected));
      } else {
        for (Op& op : engine) out.push_back(std::move(op));
      }
    }
    if (!guarded.empty()) {
      for (Op& op : guarded) out.push_back(std::move(op));
      // Each writing thread fences its stores where a unit comes after them, then the warp arrives once.
      if (traffic_.engine.contains(pipe)) out.push_back(MakeOp(OpCode::kFenceAsync, "", "", 0, send.span));
      out.push_back(MakeOp(OpCode::kArrive, FullBarrier(pipe), slot, ir::kPerWarp, send.span));
      ++arrivals;
    }
    came_[pipe] += arrivals;
    // Other slots of the pipe are copied in more ways than this one: a phase wants as many arrivals of each.
    for (; closes && came_[pipe] < most_[pipe]; ++came_[pipe], ++arrivals)
      out.push_back(MakeOp(OpCode::kArrive, FullBarrier(pipe), slot, ir::kPerWarp, send.span));
    if (closes) came_[pipe] = 0;
    arrivals_.Add(pipe, arrivals, closes);
    if (!closes || !traffic_.GoesOn(FindPipe(kernel_, pipe))) return;
    if (slot != pipe)
      own_.insert(pipe);
    else
      out.push_back(MakeOp(OpCode::kAdvance, pipe, "", 0, send.span));
  }

  /// What the engine counts: whole boxes, each as wide as a panel of the tile.
  int64_t BoxBytes(const Op& load) const {
    const ir::Type& type = kernel_.TypeOf(load.operands[0]);
    const ir::TensorMap* map = ir::FindNamed(kernel_.maps, load.symbol);
    return map ? ir::EngineBytes(*map, type) : type.Bytes();
  }

  ir::Kernel& kernel_;
  const PipeTraffic& traffic_;
  bool by_warp_;
  SlotArrivals arrivals_;
  std::set<std::string> own_;                   // pipes of instances' own that the loop at hand fills
  std::map<std::string, int64_t> most_, came_;  // arrivals of a slot by pipe: the most of all, and so far of the one being filled
};

}  // namespace

void SyncCopyRole(ir::Kernel& kernel, ir::Worker& worker, const PipeTraffic& traffic, FullArrivals& arrivals) {
  worker.body = CopyRoleSync(kernel, worker, traffic, arrivals).Rewrite(std::move(worker.body));
}

}  // namespace tkc::passes

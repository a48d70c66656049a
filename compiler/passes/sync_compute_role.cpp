// SPDX-License-Identifier: MIT
#include "compiler/passes/sync_compute_role.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/ir/derived_names.h"
#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/passes/products_in_flight.h"
#include "compiler/passes/sent_slots.h"
#include "compiler/passes/slot_views.h"

namespace tkc::passes {
namespace computing {
ComputeRoleSync::ComputeRoleSync(ir::Kernel& kernel, const ir::Worker& worker, const PipeTraffic& traffic,
                                 const RingsOfSends& rings, Diagnostics& diagnostics)
    : kernel_(kernel),
      worker_(worker),
      traffic_(traffic),
      rings_(rings),
      diagnostics_(diagnostics),
      staging_(kernel, worker),
      slot_of_(SlotsOfViews(worker.body)) {
  for (const ir::Pipe& pipe : kernel.pipes) {
    const bool reaches_all = IsShared(kernel, pipe.name) || traffic.exchanged.contains(pipe.name);
    release_kind_[pipe.name] = reaches_all ? ir::kInAllBlocks : ir::kPerWarp;
  }
  ForEachOp(worker.body, [&](const Op& op) {
    if (op.code == OpCode::kAssign) assigned_.insert(op.operands[0]);
    if (op.code == OpCode::kMma && kernel_.TypeOf(op.operands[1]).space == ir::Space::kRegister) lefts_.insert(op.operands[1]);
    if (op.code == OpCode::kReceive) {
      present_[op.symbol] = PresentSlot(op);
      for (ValueId value : op.results) pipe_of_[value] = op.symbol;
    }
    if (ir::IsPartOrTranspose(op.code) || op.code == OpCode::kMma || op.code == OpCode::kStoreAsync) return;
    for (const ValueId operand : op.operands) {
      if (const auto slot = slot_of_.find(operand); slot != slot_of_.end()) loaded_.insert(slot->second);
    }
  });
}

Region ComputeRoleSync::Run(const Region& body) {
  Region out = Rewrite(body);
  if (staging_.HasEngineStores()) {
    out.push_back(Explain("The block's shared memory stays until the copy engine has read it.", worker_.span));
    out.push_back(MakeOp(OpCode::kWaitStores, "", "read", 0, worker_.span));
  }
  return out;
}

bool ComputeRoleSync::IsFenced(const Op& receive) const {
  const bool is_any = receive.Is(ir::kPreviousReceive);
  const auto is_of_slot = [&](ValueId value) {
    return is_any ? pipe_of_.at(value) == receive.symbol : std::ranges::find(receive.results, value) != receive.results.end();
  };
  return traffic_.refilled.contains(receive.symbol) && std::ranges::any_of(loaded_, is_of_slot);
}

void ComputeRoleSync::ReleaseSlot(const Release& release, Region& out) {
  if (!release.is_previous) held_pipes_.erase(release.pipe);
  if (traffic_.filled_once.count(release.pipe) == 0) {
    out.push_back(Explain("This worker is done with the slot: it goes back.", release.span));
    if (release.is_fenced) out.push_back(MakeOp(OpCode::kFenceAsync, "", "", 0, release.span));
    const std::string slot = present_.at(release.pipe) + (release.is_previous ? ".previous" : "");
    out.push_back(MakeOp(OpCode::kArrive, EmptyBarrier(release.pipe), slot, release_kind_.at(release.pipe), release.span));
  }
  if (!release.is_previous && traffic_.GoesOn(FindPipe(kernel_, release.pipe)))
    out.push_back(MakeOp(OpCode::kAdvance, release.pipe, "", 0, release.span));
}

void ComputeRoleSync::ViewSlot(const Op& receive, const std::string& slot, const Region& region, size_t index, Region& out) {
  ViewFields(kernel_, receive, slot, [&](ValueId result) { return LastUse(region, index, {result}, slot_of_) != index; }, out);
}

void ComputeRoleSync::Receive(Op op, const Region& region, size_t index, Region& out) {
  const ir::Pipe& pipe = FindPipe(kernel_, op.symbol);
  const size_t last_use = LastUse(region, index, op.results, slot_of_);
  if (op.Is(ir::kPreviousReceive)) {  // it is there
    ViewSlot(op, present_.at(pipe.name) + ".previous", region, index, out);
    held_.push_back({{pipe.name, op.span, IsFenced(op), /*is_previous=*/true}, last_use});
    return;
  }
  // A slot that only waits for a product to finish is released first: the ring stands at the oldest slot held. So is a loop's last
  // slot: the sender may need it before it sends what is received here.
  for (const Group& group : in_flight_) {
    const auto holds = [&](const Release& release) {
      return release.is_previous ? group.loop.has_value() : release.pipe == pipe.name;
    };
    if (!std::any_of(group.releases.begin(), group.releases.end(), holds)) continue;
    WaitGroups(0, op.span, out);
    break;
  }
  if (!held_pipes_.insert(pipe.name).second) ReportTwoHeld(op, diagnostics_);
  if (traffic_.exchanged.contains(pipe.name)) AnnounceSlot(pipe, worker_, op.span, out);
  const std::string& slot = present_.at(pipe.name);
  out.push_back(MakeOp(OpCode::kWaitFull, FullBarrier(pipe.name), slot, 0, op.span));
  ViewSlot(op, slot, region, index, out);
  if (op.Is(ir::kKeptReceive))
    kept_.push_back(std::move(op));
  else
    held_.push_back({{pipe.name, op.span, IsFenced(op)}, last_use});
}

void ComputeRoleSync::StoreShared(Op op, bool is_beside, Region& out) {
  WaitFor(op, out);
  const std::string* buffer = staging_.BufferOf(op.operands[0]);
  for (size_t i = in_flight_.size(); i-- > 0;) {
    if (!staging_.Overwrites(*buffer, in_flight_[i].buffers)) continue;
    WaitGroups(in_flight_.size() - 1 - i, op.span, out);
    staging_.NoteWait();
    break;
  }
  staging_.Store(std::move(op), is_beside, out);
}

void ComputeRoleSync::Send(const Op& op, const Region& region, size_t index, Region& out) {
  WaitFor(op, out);
  if (!traffic_.exchanged.contains(op.symbol)) return SendTiles(kernel_, region, index, traffic_, rings_, out);
  const std::string& ring = RingOfSends(rings_, op.symbol);
  if (OpensSlot(region, index) && traffic_.filled_once.count(op.symbol) == 0)
    out.push_back(MakeOp(OpCode::kWaitEmpty, EmptyBarrier(op.symbol), ring, 0, op.span));
  SendToCluster(kernel_, op, ring, out);
  const bool turns = ring != op.symbol || !IsReceivedNext(region, index);
  if (ClosesSlot(region, index) && turns) out.push_back(MakeOp(OpCode::kAdvance, ring, "", 0, op.span));
}

void ComputeRoleSync::Loop(Op op, Region& out) {
  WaitGroups(0, op.span, out);
  if (op.code == OpCode::kForTiles && op.TakesTurns()) TakeTurns(kernel_, worker_, rings_, op, out);
  if (const std::optional<ProductsInFlight> flight = FindProductsInFlight(kernel_, op, slot_of_)) {
    staging_.EnterLoop(op);
    FlyAround(std::move(op), *flight, out);
    staging_.LeaveLoop();
  } else {
    RewriteLoop(op);
    out.push_back(std::move(op));
  }
}

void ComputeRoleSync::RewriteLoop(Op& op) {
  staging_.EnterLoop(op);
  op.regions[0] = Rewrite(op.regions[0]);
  staging_.LeaveLoop();
}

void ComputeRoleSync::RewriteBranches(Op& op) {
  const std::set<std::string> before = staging_.in_use();
  std::set<std::string> behind = before;  // of a branch that is not there
  for (Region& inner : op.regions) {
    staging_.SetInUse(before);
    inner = Rewrite(inner);
    behind.insert(staging_.in_use().begin(), staging_.in_use().end());
  }
  staging_.SetInUse(std::move(behind));
}

void ComputeRoleSync::RewriteOp(Op op, const Region& region, size_t index, Region& out) {
  staging_.Before(op.code, out);
  staging_.NoteReads(op);
  switch (op.code) {
    case OpCode::kReceive: return Receive(std::move(op), region, index, out);
    case OpCode::kSend: return Send(op, region, index, out);
    case OpCode::kMma: return Product(std::move(op), out);
    case OpCode::kStoreShared:
    case OpCode::kCopyToShared: return StoreShared(std::move(op), FillsBeside(kernel_, region, index), out);
    case OpCode::kForTiles:
    case OpCode::kFor: return Loop(std::move(op), out);
    case OpCode::kIf:
      if (ComputesAside({op}, slot_of_)) {
        for (const Region& inner : op.regions) ForEachOp(inner, [&](const Op& each) { WaitFor(each, out); });
        out.push_back(std::move(op));
        return;
      }
      [[fallthrough]];
    case OpCode::kUnroll:
      WaitGroups(0, op.span, out);
      if (op.code == OpCode::kUnroll)
        RewriteLoop(op);
      else
        RewriteBranches(op);
      out.push_back(std::move(op));
      return;
    case OpCode::kSplitSend:
      WaitFor(op, out);
      out.push_back(Explain(
          "Each block has the sum over its share of the loop; the cluster's blocks add these up, each for some of the columns.",
          op.span));
      out.push_back(std::move(op));
      return;
    case OpCode::kSplitCollect:
      AwaitShares(kernel_, op, out);
      out.push_back(std::move(op));
      return;
    case OpCode::kStoreAsync: {
      Op elected = MakeOp(OpCode::kIfElected, "", "", ir::kOfWarpgroup, op.span);
      const Span span = op.span;
      elected.regions = {{std::move(op), MakeOp(OpCode::kCommitStores, "", "", 0, span)}};
      out.push_back(std::move(elected));
      return;
    }
    default:
      if (std::ranges::any_of(op.results, [&](ValueId result) { return lefts_.contains(result); })) MakeRoomForLeft(op.span, out);
      WaitFor(op, out);
      // What is assigned to registers of a product in flight is computed behind the wait: ptxas, which sees one value end where the
      // product is issued and the other begin here, would give both the same ones, and serialise (C7513).
      if (index + 1 < region.size() && region[index + 1].code == OpCode::kAssign && !op.results.empty() &&
          Uses(region[index + 1], op.results[0]))
        WaitFor(region[index + 1], out);
      out.push_back(std::move(op));
  }
}

Region ComputeRoleSync::Rewrite(const Region& region) {
  Region out;
  std::vector<Held> outer = std::exchange(held_, {});
  std::vector<Op> outer_kept = std::exchange(kept_, {});
  for (size_t i = 0; i < region.size(); ++i) {
    RewriteOp(region[i], region, i, out);
    for (auto held = held_.begin(); held != held_.end();) {
      if (held->last_use != i) {
        ++held;
        continue;
      }
      const Release release = held->release;
      // A product in flight may read the slot although a later operation was its last use.
      const auto reader =
          std::find_if(in_flight_.rbegin(), in_flight_.rend(), [&](const Group& g) { return g.pipes.count(release.pipe) != 0; });
      if (reader != in_flight_.rend())
        reader->releases.push_back(release);
      else
        ReleaseSlot(release, out);
      held = held_.erase(held);
    }
  }
  staging_.Publish(out);
  if (!in_flight_.empty()) WaitGroups(0, region.empty() ? worker_.span : region.back().span, out);
  for (const Op& receive : kept_) {
    held_pipes_.erase(receive.symbol);
    out.push_back(MakeOp(OpCode::kAdvance, receive.symbol, "", 0, receive.span));
  }
  held_ = std::move(outer);
  kept_ = std::move(outer_kept);
  return out;
}

}  // namespace computing

void SyncComputeRole(ir::Kernel& kernel, ir::Worker& worker, const PipeTraffic& traffic, const RingsOfSends& rings,
                     FullArrivals& arrivals, Diagnostics& diagnostics) {
  for (const ir::Pipe& pipe : kernel.pipes) arrivals[pipe.name] += ir::kWarpsOfInstance * PartsSent(worker, pipe.name);
  computing::ComputeRoleSync sync(kernel, worker, traffic, rings, diagnostics);
  worker.body = sync.Run(worker.body);
}

}  // namespace tkc::passes

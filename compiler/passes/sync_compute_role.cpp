// SPDX-License-Identifier: MIT
// Synchronisation of a role that computes. The walk keeps two lists: the matrix groups in flight, and the slots held. An operation
// that touches what a group in flight writes (or overwrites what it reads) waits for it first; a slot is released behind the
// operation that reads it last, or behind the wait that covers that operation when it is a matrix product.
#include <algorithm>
#include <deque>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "compiler/ir/derived_names.h"
#include "compiler/passes/products_in_flight.h"
#include "compiler/passes/sent_slots.h"
#include "compiler/passes/sync_roles.h"
#include "compiler/passes/sync_staging.h"
#include "compiler/passes/walk.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

struct Release {
  std::string pipe;
  Span span;
};

/// Matrix products between two commits.
struct Group {
  ValueId acc;
  ValueId left;                   // in registers, or kNone
  std::set<std::string> buffers;  // staging buffers it reads
  std::set<std::string> pipes;    // slots it reads
  std::vector<Release> releases;  // slots that are free when it is done
};

/// A received slot until its release.
struct Held {
  std::string pipe;
  size_t last_use;  // index in the region
  Span span;
};

/// No traffic, no product, no store: nothing to be synchronised but registers.
bool ComputesOnly(const Region& region) {
  return std::all_of(region.begin(), region.end(),
                     [](const Op& op) { return op.code == OpCode::kComment || (OnlyComputes(op) && !IsProduct(op.code)); });
}

class ComputeRoleSync {
 public:
  ComputeRoleSync(ir::Kernel& kernel, const ir::Worker& worker, const PipeTraffic& traffic, const RingsOfSends& rings,
                  Diagnostics& diagnostics)
      : kernel_(kernel), worker_(worker), traffic_(traffic), rings_(rings), diagnostics_(diagnostics), staging_(kernel, worker) {
    for (const ir::Pipe& pipe : kernel.pipes) {
      const bool reaches_all = IsShared(kernel, pipe.name) || traffic.exchanged.contains(pipe.name);
      release_kind_[pipe.name] = reaches_all ? ir::kInAllBlocks : ir::kPerWarp;
    }
    ForEachOp(worker.body, [&](const Op& op) {
      if (op.code == OpCode::kAssign) assigned_.insert(op.operands[0]);
      if (op.code == OpCode::kReceive) {
        present_[op.symbol] = PresentSlot(op);
        for (ValueId value : op.results) {
          slot_of_[value] = value;
          pipe_of_[value] = op.symbol;
        }
      }
      if (op.code == OpCode::kPart || op.code == OpCode::kTranspose) {
        const auto slot = slot_of_.find(op.operands[0]);
        if (slot != slot_of_.end()) slot_of_[op.results[0]] = slot->second;
      }
      const bool is_view = op.code == OpCode::kPart || op.code == OpCode::kTranspose;
      if (is_view || op.code == OpCode::kMma || op.code == OpCode::kStoreAsync) return;
      for (const ValueId operand : op.operands) {
        if (const auto slot = slot_of_.find(operand); slot != slot_of_.end()) loaded_.insert(pipe_of_.at(slot->second));
      }
    });
  }

  Region Run(Region body) {
    Region out = Rewrite(std::move(body));
    if (staging_.HasEngineStores()) {
      out.push_back(Explain("The block's shared memory stays until the copy engine has read it.", worker_.span));
      out.push_back(SyncOp(OpCode::kWaitStores, "", "read", 0, worker_.span));
    }
    return out;
  }

 private:
  Region Rewrite(Region region);
  void RewriteOp(Op op, Region& region, size_t index, Region& out);
  void Receive(Op op, const Region& region, size_t index, Region& out);
  void Send(const Op& op, const Region& region, size_t index, Region& out);
  void Product(Op op, Region& out);
  void StoreShared(Op op, Region& out);
  void Loop(Op op, Region& out);
  void FlyAround(Op op, const ProductsInFlight& flight, Region& out);

  Region ReleasePrevious(const std::vector<std::string>& pipes, Span span) const;
  size_t LastUse(const Region& region, size_t from, const std::vector<ValueId>& slots) const;

  /// Waits until at most `left` groups are in flight, and releases what they held.
  void WaitGroups(size_t left, Span span, Region& out);
  /// Waits for groups whose registers the operation touches.
  void WaitFor(const Op& op, Region& out);
  void ReleaseSlot(const Release& release, Region& out);

  ir::Kernel& kernel_;
  const ir::Worker& worker_;
  const PipeTraffic& traffic_;
  const RingsOfSends& rings_;
  Diagnostics& diagnostics_;
  StagingSync staging_;
  SlotOfView slot_of_;
  std::map<ValueId, std::string> pipe_of_;       // received value -> its pipe
  std::map<std::string, int64_t> release_kind_;  // of each pipe: what kArrive's number says
  std::map<std::string, std::string> present_;   // of each pipe received: the text of its slot at hand
  std::set<std::string> loaded_;                 // pipes that ordinary code reads
  std::set<ValueId> assigned_;
  std::deque<Group> in_flight_;
  std::vector<Held> held_;            // received in the region at hand
  std::set<std::string> held_pipes_;  // received and not yet released, in any region
  bool flies_around_ = false;         // the product at hand stays in flight over the back edge of its loop
};

size_t ComputeRoleSync::LastUse(const Region& region, size_t from, const std::vector<ValueId>& slots) const {
  size_t last = from;
  for (size_t i = from + 1; i < region.size(); ++i) {
    if (UsesSlot(region[i], slots, slot_of_)) last = i;
  }
  return last;
}

void ComputeRoleSync::ReleaseSlot(const Release& release, Region& out) {
  held_pipes_.erase(release.pipe);
  if (traffic_.filled_once.count(release.pipe) == 0) {
    // An arrival may overtake loads of its own warp, and the copy engine then what they are to read.
    const bool is_fenced = loaded_.count(release.pipe) > 0 && traffic_.refilled.count(release.pipe) > 0;
    const std::string why = is_fenced ? ", and its reads come before what the copy engine writes there next" : "";
    out.push_back(Explain("This worker is done with the slot: it goes back" + why + ".", release.span));
    if (is_fenced) out.push_back(SyncOp(OpCode::kFenceAsync, "", "", 0, release.span));
    out.push_back(SyncOp(OpCode::kArrive, EmptyBarrier(release.pipe), present_.at(release.pipe), release_kind_.at(release.pipe),
                         release.span));
  }
  if (traffic_.GoesOn(FindPipe(kernel_, release.pipe))) out.push_back(SyncOp(OpCode::kAdvance, release.pipe, "", 0, release.span));
}

void ComputeRoleSync::WaitGroups(size_t left, Span span, Region& out) {
  if (in_flight_.size() <= left) return;
  Op wait = SyncOp(OpCode::kMmaWait, "", "", static_cast<int64_t>(left), span);
  // The wait names the accumulators that are complete behind it, so that no read of them moves above it, and left operands that
  // are assigned anew, so that this stays behind it.
  for (size_t i = 0; i + left < in_flight_.size(); ++i) {
    const ValueId acc = in_flight_[i].acc;
    bool is_complete = std::find(wait.operands.begin(), wait.operands.end(), acc) == wait.operands.end();
    for (size_t j = in_flight_.size() - left; j < in_flight_.size(); ++j) is_complete &= in_flight_[j].acc != acc;
    if (is_complete) wait.operands.push_back(acc);
    if (assigned_.contains(in_flight_[i].left)) wait.operands.push_back(in_flight_[i].left);
  }
  out.push_back(std::move(wait));
  while (in_flight_.size() > left) {
    for (const Release& release : in_flight_.front().releases) ReleaseSlot(release, out);
    in_flight_.pop_front();
  }
}

void ComputeRoleSync::WaitFor(const Op& op, Region& out) {
  for (size_t i = in_flight_.size(); i-- > 0;) {
    const Group& group = in_flight_[i];
    const bool touches = Uses(op, group.acc) || Writes(op, group.acc) || (group.left != ir::kNone && Writes(op, group.left));
    if (touches) return WaitGroups(in_flight_.size() - 1 - i, op.span, out);
  }
}

void ComputeRoleSync::Receive(Op op, const Region& region, size_t index, Region& out) {
  const ir::Pipe& pipe = FindPipe(kernel_, op.symbol);
  // A slot that only waits for a product to finish is released first: the ring stands at the oldest slot held.
  for (const Group& group : in_flight_) {
    const auto holds = [&](const Release& release) { return release.pipe == pipe.name; };
    if (!std::any_of(group.releases.begin(), group.releases.end(), holds)) continue;
    WaitGroups(0, op.span, out);
    break;
  }
  if (!held_pipes_.insert(pipe.name).second) {
    diagnostics_
        .Error(DiagnosticKind::kNotImplemented, op.span,
               fmt::format("holding two values of pipe `{}` at once is specified, not yet implemented", pipe.name))
        .Help("use the first value for the last time before the second receive, or send both in one slot");
  }
  if (traffic_.exchanged.contains(pipe.name)) AnnounceSlot(pipe, worker_, op.span, out);
  const std::string& slot = present_.at(pipe.name);
  out.push_back(SyncOp(OpCode::kWaitFull, FullBarrier(pipe.name), slot, 0, op.span));
  for (size_t i = 0; i < op.results.size(); ++i) {
    const std::vector<ValueId> slots{op.results[i]};
    if (LastUse(region, index, slots) == index) continue;  // received and not used
    Op view = SyncOp(OpCode::kView, FieldBuffer(pipe, i), slot, 0, op.span);
    view.results = {op.results[i]};
    out.push_back(std::move(view));
  }
  held_.push_back({pipe.name, LastUse(region, index, op.results), op.span});
}

void ComputeRoleSync::Product(Op op, Region& out) {
  Group group{op.operands[0], ir::kNone, {}, {}, {}};
  const ValueId left = op.operands[1];
  if (kernel_.values[left].type.space == ir::Space::kRegister) group.left = left;
  for (size_t i = 1; i <= 2; ++i) {
    if (const std::string* buffer = staging_.BufferOf(op.operands[i])) group.buffers.insert(*buffer);
    const auto slot = slot_of_.find(op.operands[i]);
    if (slot != slot_of_.end()) group.pipes.insert(pipe_of_.at(slot->second));
  }
  // Products into one accumulator follow each other without a wait; one that another product is still making as its operand does
  // not.
  for (size_t i = in_flight_.size(); i-- > 0;) {
    if (in_flight_[i].acc == left) {
      WaitGroups(in_flight_.size() - 1 - i, op.span, out);
      break;
    }
  }
  const Span span = op.span;
  Op fence = SyncOp(OpCode::kMmaFence, "", "", 0, span);
  // Registers that ordinary code has written are tied to the fence; those of a group in flight must not be touched.
  const auto is_flying = [&](const Group& g) { return g.acc == group.acc; };
  const bool keeps_value = op.number != ir::kSets && std::none_of(in_flight_.begin(), in_flight_.end(), is_flying);
  if (keeps_value && !flies_around_) fence.operands.push_back(group.acc);
  if (group.left != ir::kNone) fence.operands.push_back(group.left);
  out.push_back(std::move(fence));
  out.push_back(std::move(op));
  out.push_back(SyncOp(OpCode::kMmaCommit, "", "", 0, span));
  in_flight_.push_back(std::move(group));
}

void ComputeRoleSync::StoreShared(Op op, Region& out) {
  WaitFor(op, out);
  const std::string* buffer = staging_.BufferOf(op.operands[0]);
  for (size_t i = in_flight_.size(); i-- > 0;) {
    if (!in_flight_[i].buffers.contains(*buffer)) continue;
    WaitGroups(in_flight_.size() - 1 - i, op.span, out);
    break;
  }
  staging_.Store(std::move(op), out);
}

void ComputeRoleSync::Send(const Op& op, const Region& region, size_t index, Region& out) {
  WaitFor(op, out);
  if (!traffic_.exchanged.contains(op.symbol)) return SendTiles(kernel_, region, index, traffic_, rings_, out);
  const std::string& ring = RingOfSends(rings_, op.symbol);
  if (OpensSlot(region, index) && traffic_.filled_once.count(op.symbol) == 0)
    out.push_back(SyncOp(OpCode::kWaitEmpty, EmptyBarrier(op.symbol), ring, 0, op.span));
  SendToCluster(kernel_, op, ring, out);
  const bool turns = ring != op.symbol || !IsReceivedNext(region, index);
  if (ClosesSlot(region, index) && turns) out.push_back(SyncOp(OpCode::kAdvance, ring, "", 0, op.span));
}

void ComputeRoleSync::Loop(Op op, Region& out) {
  WaitGroups(0, op.span, out);
  if (op.code == OpCode::kForTiles && op.number > 0) TakeTurns(kernel_, worker_, rings_, op, out);
  staging_.EnterLoop(op);
  if (const std::optional<ProductsInFlight> flight = FindProductsInFlight(kernel_, op, slot_of_)) {
    FlyAround(std::move(op), *flight, out);
  } else {
    op.regions[0] = Rewrite(std::move(op.regions[0]));
    out.push_back(std::move(op));
  }
  staging_.LeaveLoop();
}

/// For each product: wait for its slots; product; wait for the product before it; release the slots which that was the last to
/// read; next slot. What the last product reads is released behind the first one of the next iteration.
void ComputeRoleSync::FlyAround(Op op, const ProductsInFlight& flight, Region& out) {
  const Region& source = op.regions[0];
  const std::vector<size_t>& products = flight.products;
  const auto read_last = [&](size_t product) {
    const auto pipes = flight.read_last.find(product);
    return pipes == flight.read_last.end() ? std::vector<std::string>{} : pipes->second;
  };
  const Span span = source[products.back()].span;  // behind the loop it is the last product that is waited for
  const ir::Scalar lo = op.scalars[0], hi = op.scalars[1];
  Region body;
  std::vector<Held> outer = std::move(held_);  // received before the loop: they go back behind it
  held_.clear();
  flies_around_ = true;
  size_t before = products.back();
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i].code == OpCode::kReceive) {
      Receive(source[i], source, i, body);
    } else if (source[i].code != OpCode::kMma) {
      body.push_back(source[i]);
    } else {
      Product(source[i], body);
      Region releases = ReleasePrevious(read_last(before), source[i].span);
      if (i == products.front() || !releases.empty()) {
        body.push_back(
            Explain("One product stays in flight; the one before it is complete, so its slot goes back.", source[i].span));
        body.push_back(SyncOp(OpCode::kMmaWait, "", "", 1, source[i].span));
      }
      if (i == products.front() && !releases.empty())
        releases = {If(symbolic::Kind::kGt, symbolic::Name(op.symbol), lo, std::move(releases), source[i].span)};
      std::move(releases.begin(), releases.end(), std::back_inserter(body));
      for (const std::string& pipe : read_last(i)) {
        held_pipes_.erase(pipe);
        body.push_back(SyncOp(OpCode::kAdvance, pipe, "", 0, source[i].span));
      }
      before = i;
    }
  }
  flies_around_ = false;
  held_ = std::move(outer);
  in_flight_.clear();
  Op wait = SyncOp(OpCode::kMmaWait, "", "", 0, span);
  for (const size_t product : products) {
    const ValueId acc = source[product].operands[0];
    if (std::find(wait.operands.begin(), wait.operands.end(), acc) == wait.operands.end()) wait.operands.push_back(acc);
  }
  Region releases = ReleasePrevious(read_last(products.back()), span);
  op.regions[0] = std::move(body);
  out.push_back(std::move(op));
  out.push_back(std::move(wait));
  if (releases.empty()) return;
  // A number is written on the right.
  out.push_back(symbolic::IsInt(lo) ? If(symbolic::Kind::kGt, hi, lo, std::move(releases), span)
                                    : If(symbolic::Kind::kLt, lo, hi, std::move(releases), span));
}

Region ComputeRoleSync::ReleasePrevious(const std::vector<std::string>& pipes, Span span) const {
  Region releases;
  for (const std::string& pipe : pipes)
    releases.push_back(SyncOp(OpCode::kArrive, EmptyBarrier(pipe), present_.at(pipe) + ".previous", release_kind_.at(pipe), span));
  return releases;
}

void ComputeRoleSync::RewriteOp(Op op, Region& region, size_t index, Region& out) {
  staging_.Before(op.code, out);
  switch (op.code) {
    case OpCode::kReceive: return Receive(std::move(op), region, index, out);
    case OpCode::kSend: return Send(op, region, index, out);
    case OpCode::kMma: return Product(std::move(op), out);
    case OpCode::kStoreShared:
    case OpCode::kCopyToShared: return StoreShared(std::move(op), out);
    case OpCode::kForTiles:
    case OpCode::kFor: return Loop(std::move(op), out);
    case OpCode::kIf:
      if (std::all_of(op.regions.begin(), op.regions.end(), ComputesOnly)) {
        for (const Region& inner : op.regions) {
          for (const Op& each : inner) WaitFor(each, out);
        }
        out.push_back(std::move(op));
        return;
      }
      [[fallthrough]];
    case OpCode::kUnroll:
      WaitGroups(0, op.span, out);
      if (op.code == OpCode::kUnroll) staging_.EnterLoop(op);
      for (Region& inner : op.regions) inner = Rewrite(std::move(inner));
      if (op.code == OpCode::kUnroll) staging_.LeaveLoop();
      out.push_back(std::move(op));
      return;
    case OpCode::kSplitPublish:
      WaitFor(op, out);
      out.push_back(Explain(
          "Each block has the sum over its share of the loop; the cluster's blocks add these up, each for some of the columns.",
          op.span));
      out.push_back(std::move(op));
      return;
    case OpCode::kSplitCollect:
      out.push_back(SyncOp(OpCode::kSplitWait, ir::PublishedBarrier(op.symbol), op.slot, 0, op.span));
      out.push_back(std::move(op));
      return;
    case OpCode::kStoreAsync: {
      Op elected = SyncOp(OpCode::kIfElected, "", "", ir::kOfWarpgroup, op.span);
      const Span span = op.span;
      elected.regions = {{std::move(op), SyncOp(OpCode::kCommitStores, "", "", 0, span)}};
      out.push_back(std::move(elected));
      return;
    }
    default:
      WaitFor(op, out);
      // What is assigned to registers of a product in flight is computed behind the wait: ptxas, which sees one value end where the
      // product is issued and the other begin here, would give both the same ones, and serialise (C7513).
      if (index + 1 < region.size() && region[index + 1].code == OpCode::kAssign && !op.results.empty() &&
          Uses(region[index + 1], op.results[0]))
        WaitFor(region[index + 1], out);
      out.push_back(std::move(op));
  }
}

Region ComputeRoleSync::Rewrite(Region region) {
  Region out;
  std::vector<Held> outer = std::move(held_);
  held_.clear();
  const std::vector<Op> source = region;
  for (size_t i = 0; i < source.size(); ++i) {
    RewriteOp(source[i], region, i, out);
    for (auto held = held_.begin(); held != held_.end();) {
      if (held->last_use != i) {
        ++held;
        continue;
      }
      const Release release{held->pipe, held->span};
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
  held_ = std::move(outer);
  return out;
}

}  // namespace

void SyncComputeRole(ir::Kernel& kernel, ir::Worker& worker, const PipeTraffic& traffic, const RingsOfSends& rings,
                     FullArrivals& arrivals, Diagnostics& diagnostics) {
  for (const ir::Pipe& pipe : kernel.pipes) arrivals[pipe.name] += ir::kWarpsOfInstance * PartsSent(worker, pipe.name);
  ComputeRoleSync sync(kernel, worker, traffic, rings, diagnostics);
  worker.body = sync.Run(std::move(worker.body));
}

}  // namespace tkc::passes

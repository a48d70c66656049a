// SPDX-License-Identifier: MIT
// Matrix products of a role that computes: issued, and waited for where somebody touches what they write or read.
#include <algorithm>
#include <utility>

#include "compiler/ir/queries.h"
#include "compiler/ir/rewrite.h"
#include "compiler/passes/sync_compute_role.h"

namespace tkc::passes::computing {

void ComputeRoleSync::WaitGroups(size_t left, Span span, Region& out) {
  if (in_flight_.size() <= left) return;
  const std::optional<LeftBehind>& loop = in_flight_.front().loop;
  Op wait = MakeOp(OpCode::kMmaWait, "", "", static_cast<int64_t>(left), loop ? loop->product : span);
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
    ReleaseSlotsOf(in_flight_.front(), out);
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

void ComputeRoleSync::MakeRoomForLeft(Span span, Region& out) {
  bool has_one = false;
  for (size_t i = in_flight_.size(); i-- > 0;) {
    if (in_flight_[i].left == ir::kNone) continue;
    if (has_one) return WaitGroups(in_flight_.size() - 1 - i, span, out);
    has_one = true;
  }
}

void ComputeRoleSync::Product(Op op, Region& out) {
  Group group;
  group.acc = op.operands[0];
  const ValueId left = op.operands[1];
  if (kernel_.TypeOf(left).space == ir::Space::kRegister) group.left = left;
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
  Op fence = MakeOp(OpCode::kMmaFence, "", "", 0, span);
  // Registers that ordinary code has written are tied to the fence; those of a group in flight must not be touched.
  const auto is_flying = [&](const Group& g) { return g.acc == group.acc; };
  const bool keeps_value = !op.Is(ir::kSets) && std::none_of(in_flight_.begin(), in_flight_.end(), is_flying);
  if (keeps_value && !flies_around_) fence.operands.push_back(group.acc);
  if (group.left != ir::kNone) fence.operands.push_back(group.left);
  out.push_back(std::move(fence));
  out.push_back(std::move(op));
  out.push_back(MakeOp(OpCode::kMmaCommit, "", "", 0, span));
  in_flight_.push_back(std::move(group));
}

/// For each product: wait for its slots; product; wait for the product before it; release the slots which that was the last to
/// read; next slot. What the last product reads is released behind the first one of the next iteration.
void ComputeRoleSync::FlyAround(Op op, const ProductsInFlight& flight, Region& out) {
  const Region& source = op.regions[0];
  const std::vector<size_t>& products = flight.products;
  const auto is_fenced = [&](const std::string& pipe) {
    return std::ranges::any_of(
        source, [&](const Op& each) { return each.code == OpCode::kReceive && each.symbol == pipe && IsFenced(each); });
  };
  const auto read_last = [&](size_t product) {
    std::vector<Release> slots;
    const auto pipes = flight.read_last.find(product);
    if (pipes == flight.read_last.end()) return slots;
    for (const std::string& pipe : pipes->second)
      slots.push_back({pipe, source[flight.products.back()].span, is_fenced(pipe), /*is_previous=*/true});
    return slots;
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
        body.push_back(Explain(products.size() == 1
                                   ? "One product stays in flight; the one before it is complete, so its slot goes back."
                                   : "One product stays in flight; those before it are complete, so their slots go back.",
                               source[i].span));
        body.push_back(MakeOp(OpCode::kMmaWait, "", "", 1, source[i].span));
      }
      if (i == products.front() && !releases.empty())
        releases = {If(symbolic::Kind::kGt, symbolic::Name(op.symbol), lo, std::move(releases), source[i].span)};
      Append(body, std::move(releases));
      for (const Release& slot : read_last(i)) {
        held_pipes_.erase(slot.pipe);
        body.push_back(MakeOp(OpCode::kAdvance, slot.pipe, "", 0, source[i].span));
      }
      before = i;
    }
  }
  flies_around_ = false;
  held_ = std::move(outer);
  for (Group& group : in_flight_) group.loop = {lo, hi, span};
  for (Release& slot : read_last(products.back())) in_flight_.back().releases.push_back(std::move(slot));
  op.regions[0] = std::move(body);
  out.push_back(std::move(op));
}

void ComputeRoleSync::ReleaseSlotsOf(const Group& done, Region& out) {
  std::vector<Release> previous;
  for (const Release& release : done.releases) {
    if (release.is_previous && done.loop) previous.push_back(release);
  }
  if (!previous.empty())
    AppendIfAny(done.loop->lo, done.loop->hi, ReleasePrevious(previous, done.loop->product), done.loop->product, out);
  for (const Release& release : done.releases) {
    if (!release.is_previous || !done.loop) ReleaseSlot(release, out);
  }
}

Region ComputeRoleSync::ReleasePrevious(const std::vector<Release>& slots, Span span) const {
  Region releases;
  for (const Release& slot : slots) {
    if (slot.is_fenced) releases.push_back(MakeOp(OpCode::kFenceAsync, "", "", 0, span));
    releases.push_back(
        MakeOp(OpCode::kArrive, EmptyBarrier(slot.pipe), present_.at(slot.pipe) + ".previous", release_kind_.at(slot.pipe), span));
  }
  return releases;
}

}  // namespace tkc::passes::computing

// SPDX-License-Identifier: MIT
// Meetings of a worker whose two instances alternate: one loads while the other multiplies (alternate.h). Each iteration meets
// twice, and the second instance has met once more, alone, before the loop: its n-th meeting is the (n + 1)-th of the first one. A
// barrier that counts waves wherever they are lets them. So a meeting orders what one instance did before it with what the other
// does behind its next one, and what the walk has to settle needs one meeting more than where all meet at one place.
//
// The copies of the next slot are therefore waited for in front of the products, two meetings before that slot is read.
#include <algorithm>

#include "compiler/passes/sync_folded.h"

namespace tkc::passes::folded {
namespace {

/// The pipes that a run of operations receives from.
std::vector<std::string> Received(Region::const_iterator begin, Region::const_iterator end) {
  std::vector<std::string> pipes;
  for (auto op = begin; op != end; ++op) {
    if (op->code == OpCode::kReceive) pipes.push_back(op->symbol);
  }
  return pipes;
}

}  // namespace

void FoldedSync::Meet(State& state) {
  for (Unsettled* places : {&state.arrived, &state.written, &state.read}) {
    for (auto& [place, meetings] : *places) --meetings;
    std::erase_if(*places, [](const auto& entry) { return entry.second == 0; });
  }
  state.own_written.clear();
  state.own_read.clear();
}

void FoldedSync::Note(Unsettled& places, const Place& place) const { places[place] = 1 + apart_; }

void FoldedSync::Alternate(const Region& region, size_t index, State& state, Region& out) {
  const Op& op = region[index];
  switch (op.As<ir::Alternation>()) {
    case ir::kApart: return GoApart(region, index, state, out);
    case ir::kProducts: return BeginProducts(region, index, state, out);
    case ir::kLoads: out.push_back(MakeOp(OpCode::kPriority, "", "", 0, op.span)); return SyncAll(op.span, state, out);
    default:
      out.push_back(Explain("The second instance's last products.", op.span));
      out.push_back(MeetAlone(0, op.span));
      apart_ = 0;
      return Meet(state);
  }
}

/// The first slots are there for all before the second instance falls behind.
void FoldedSync::GoApart(const Region& region, size_t index, State& state, Region& out) {
  const Op& op = region[index];
  const auto loop = std::find_if(region.begin() + static_cast<ptrdiff_t>(index), region.end(),
                                 [](const Op& each) { return each.code == OpCode::kFor; });
  const std::vector<std::string> pipes = Received(loop->regions[0].begin(), loop->regions[0].end());
  AwaitSlots(pipes, 0, op.span, state, out);
  const auto unsettled = [&](const std::string& pipe) {
    return state.arrived.count({pipe, 0}) > 0 || state.written.count({pipe, 0}) > 0;
  };
  while (std::any_of(pipes.begin(), pipes.end(), unsettled)) SyncAll(op.span, state, out);
  out.push_back(Explain("One instance loads while the other multiplies: from here on the second is a meeting behind.", op.span));
  out.push_back(MeetAlone(1, op.span));
  apart_ = 1;
}

void FoldedSync::BeginProducts(const Region& region, size_t index, State& state, Region& out) {
  const Span span = region[index].span;
  AwaitSlots(Received(region.begin(), region.begin() + static_cast<ptrdiff_t>(index)), 1, span, state, out);
  SyncAll(span, state, out);
  out.push_back(Explain("The products, while the other instance loads.", span));
  out.push_back(MakeOp(OpCode::kPriority, "", "", 1, span));
}

Op FoldedSync::MeetAlone(int64_t instance, Span span) const {
  Op branch = MakeOp(OpCode::kIf, "", "", 0, span);
  branch.scalars = {
      symbolic::Make(symbolic::Kind::kEq, DType::kBool, {symbolic::Name(worker_.instance_name), symbolic::Int(instance)})};
  branch.regions = {{MakeOp(OpCode::kSyncBlock, "", "", 0, span)}, {}};
  return branch;
}

/// One wait for the copies into all those slots, so many ahead of the present ones.
void FoldedSync::AwaitSlots(const std::vector<std::string>& pipes, int64_t ahead, Span span, State& state, Region& out) {
  int64_t newest = -1;
  for (const std::string& pipe : pipes) {
    const auto copy = state.pending.find({pipe, ahead % slots_.at(pipe)});
    if (copy != state.pending.end()) newest = newest < 0 ? copy->second : std::min(newest, copy->second);
  }
  if (newest >= 0) WaitFor(newest, span, state, out);
}

}  // namespace tkc::passes::folded

// SPDX-License-Identifier: MIT
// Slots in a program that issues its own copies: which one an operation means, what fills it and when its ring goes on.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/passes/meetings.h"
#include "compiler/passes/sent_slots.h"
#include "compiler/passes/slot_views.h"
#include "compiler/passes/sync_folded.h"
#include "compiler/support/internal_error.h"

namespace tkc::passes::folded {

Place FoldedSync::SlotPlace(const std::string& slot, int64_t stage) const {
  const ir::SlotPlace place = ir::PlaceOfSlot(slot);
  const int64_t slots = slots_.at(place.ring);
  if (place.where == ir::SlotPlace::Where::kPrevious) return {place.ring, slots - 1};
  return {place.ring, (place.ahead_name.empty() ? place.ahead : stage) % slots};
}

Place FoldedSync::PlaceOf(const Op& view, int64_t stage) const {
  return view.Slot().empty() || pipe_of_buffer_.count(view.symbol) == 0 ? Place{view.symbol, 0} : SlotPlace(view.Slot(), stage);
}

Place FoldedSync::PlaceOf(ValueId view, const State& state) const {
  const auto place = state.views.find(view);
  Ensure(place != state.views.end(), "a view of nothing");
  return place->second;
}

/// The present slot is the one that was next.
void FoldedSync::Advance(const std::string& pipe, State& state) const {
  const int64_t slots = slots_.at(pipe);
  const auto moved = [&](Place place) {
    if (place.name == pipe) place.ahead = (place.ahead + slots - 1) % slots;
    return place;
  };
  std::map<Place, int64_t> pending;
  for (const auto& [place, since] : state.pending) pending[moved(place)] = since;
  state.pending = std::move(pending);
  for (Unsettled* places : {&state.arrived, &state.written, &state.read}) {
    Unsettled after;
    for (const auto& [place, meetings] : *places) after[moved(place)] = meetings;
    *places = std::move(after);
  }
  for (auto& [view, place] : state.views) place = moved(place);
}

/// Tiles that instances send each other are stored. All instances turn the ring together, when they are done with what they have
/// received: a slot that is sent lies so far ahead of the present one as slots were sent since, and none is ahead of a loop or
/// behind it. `ahead`: of each pipe.
Region FoldedSync::ExpandSends(const Region& region, std::map<std::string, int64_t>& ahead) {
  Region out;
  for (size_t i = 0; i < region.size(); ++i) {
    const Op& op = region[i];
    if (op.code == OpCode::kAdvance && ahead[op.symbol] > 0) --ahead[op.symbol];
    if (op.code == OpCode::kSend && op.regions.empty()) {
      int64_t& distance = ahead[op.symbol];
      if (distance >= slots_.at(op.symbol)) Refuse(op.span);
      const std::string slot = distance == 0 ? op.symbol : fmt::format("{}+{}", op.symbol, distance);
      for (Op& each : StoresOf(kernel_, op, slot)) out.push_back(std::move(each));
      distance += ClosesSlot(region, i) && slots_.at(op.symbol) > 1;
      continue;
    }
    out.push_back(op);
    if (op.code == OpCode::kSend) continue;
    const auto before = ahead;
    for (Region& inner : out.back().regions) {
      auto behind = before;
      inner = ExpandSends(inner, behind);
      for (const auto& [pipe, distance] : behind) ahead[pipe] = distance;
    }
  }
  return out;
}

/// The pipes of which operations send or receive a slot.
std::vector<std::set<std::string>> FoldedSync::PipesOf(const Region& region) {
  std::vector<std::set<std::string>> pipes(region.size());
  for (size_t i = 0; i < region.size(); ++i) {
    const auto note = [&](const Op& each) {
      const bool is_traffic = each.code == OpCode::kReceive || each.code == OpCode::kSend;
      if (is_traffic && ir::PlaceOfSlot(each.SlotIfAny()).where != ir::SlotPlace::Where::kPrevious) pipes[i].insert(each.symbol);
    };
    note(region[i]);
    for (const Region& inner : region[i].regions) ForEachOp(inner, note);
  }
  return pipes;
}

/// A ring goes on behind everything of its slot: before the next receive in the region, else at its end, if the region `repeats` or
/// the pipe is one of those that have slots `elsewhere`, too. After several slots of a branch it goes on as after one, and so it
/// does in the branches beside it.
void FoldedSync::PlaceAdvances(Region& region, bool repeats, const std::set<std::string>& elsewhere) const {
  const std::vector<std::set<std::string>> pipes = PipesOf(region);
  std::map<std::string, int> operations;  // that send or receive slots of each pipe
  for (const std::set<std::string>& of_one : pipes) {
    for (const std::string& pipe : of_one) ++operations[pipe];
  }
  // Receives that follow each other stay together: they share a wait and a barrier.
  const auto comes_to = [&](size_t index, const std::string& pipe) {
    bool found = pipes[index].contains(pipe);
    for (size_t i = index; i < region.size() && region[i].code == OpCode::kReceive; ++i) found |= pipes[i].contains(pipe);
    return found;
  };
  Region out;
  std::vector<std::pair<std::string, Span>> held;
  for (size_t i = 0; i < region.size(); ++i) {
    Op& op = region[i];
    for (auto slot = held.begin(); slot != held.end();) {
      if (!comes_to(i, slot->first)) {
        ++slot;
        continue;
      }
      // The line that explains the copies goes with them.
      const bool is_explained = op.code == OpCode::kSend && !out.empty() && out.back().code == OpCode::kComment;
      const Span span = out.size() > is_explained ? out[out.size() - 1 - is_explained].span : slot->second;
      out.insert(out.end() - is_explained, MakeOp(OpCode::kAdvance, slot->first, "", 0, span));
      slot = held.erase(slot);
    }
    const bool is_loop = ir::IsLoop(op.code);
    std::set<std::string> outside = elsewhere;
    for (const auto& [pipe, count] : operations) {
      if (count > (pipes[i].contains(pipe) ? 1 : 0)) outside.insert(pipe);
    }
    for (const Region& inner : op.regions) {
      std::set<std::string> once;
      ForEachOp(inner, [&](const Op& each) {
        const bool again = each.code == OpCode::kReceive && !once.insert(each.symbol).second;
        if (again && op.code == OpCode::kIf) outside.insert(each.symbol);
      });
    }
    for (Region& inner : op.regions) {
      if (op.code != OpCode::kSend) PlaceAdvances(inner, repeats || is_loop, outside);
    }
    const bool is_last = op.code == OpCode::kReceive && !op.Is(ir::kEarlyReceive);  // of this slot
    if (is_last && (slots_.at(op.symbol) > 1 || refilled_.contains(op.symbol))) held.emplace_back(op.symbol, op.span);
    out.push_back(std::move(op));
  }
  for (const auto& [pipe, span] : held) {
    if (repeats || elsewhere.contains(pipe))
      out.push_back(MakeOp(OpCode::kAdvance, pipe, "", 0, out.empty() ? span : out.back().span));
  }
  region = std::move(out);
}

/// Receives that follow each other share a wait and a barrier.
void FoldedSync::Receive(const Region& region, size_t index, State& state, Region& out) {
  const Op& op = region[index];
  int64_t newest = -1;  // of the copies that the wait is for
  for (size_t i = index; i < region.size() && region[i].code == OpCode::kReceive; ++i) {
    const auto copy = state.pending.find({region[i].symbol, 0});
    if (copy != state.pending.end()) newest = newest < 0 ? copy->second : std::min(newest, copy->second);
  }
  const Place place{op.symbol, 0};
  if (newest >= 0 && state.pending.count(place) > 0) WaitFor(newest, op.span, state, out);
  // What another instance stores, in a branch of its own, this walk does not see.
  const bool is_from_elsewhere = divergent_ > 0 && copied_.count(op.symbol) == 0;
  if (is_from_elsewhere) SyncAll(op.span, state, out);
  while (state.arrived.count(place) > 0 || state.written.count(place) > 0) SyncAll(op.span, state, out);
  for (const ValueId result : op.results) state.views[result] = place;
  ViewFields(kernel_, op, op.symbol, [&](ValueId result) { return used_.contains(result); }, out);
}

/// Fields that are received and not used. One whose slot is filled again at once is waited for with the others, as it would take a
/// wait and a barrier of its own there.
void FoldedSync::FindUnusedFields(const Region& body) {
  std::set<std::string> used, received, again;
  ForEachOp(body, [&](const Op& op) {
    if (op.code == OpCode::kReceive) {
      const ir::Pipe& pipe = FindPipe(kernel_, op.symbol);
      for (size_t i = 0; i < op.results.size(); ++i) {
        (used_.count(op.results[i]) > 0 ? used : received).insert(FieldBuffer(pipe, i));
      }
    }
    const bool is_loop = ir::IsLoop(op.code);
    for (size_t i = 0; is_loop && i < op.regions.size(); ++i) {
      ForEachOp(op.regions[i], [&](const Op& each) {
        if (each.code == OpCode::kSend && slots_.at(each.symbol) == 1) again.insert(each.symbol);
      });
    }
  });
  for (const std::string& buffer : received) {
    const std::string& pipe = pipe_of_buffer_.at(buffer);
    const bool is_again = again.count(pipe) > 0 || (slots_.at(pipe) == 1 && refilled_.count(pipe) > 0);
    if (used.count(buffer) == 0 && guarded_.count(pipe) == 0 && !is_again) unused_.insert(buffer);
  }
}

/// What a wait counts, where it counts the copy instructions of a thread.
int64_t FoldedSync::CostOf(const Op& copy, const std::map<ValueId, std::string>& buffers) const {
  // Of the tile as it is stored, whose last panel may be partly unused. What threads do not share evenly goes by ordinary stores.
  const int64_t round = ThreadsOf(worker_, target_) * target_.copy_bytes;
  const int64_t bytes = FindBuffer(kernel_, buffers.at(copy.operands[0])).TileBytes();
  return bytes % round == 0 ? bytes / round : 0;
}

/// The copies of a slot are under way, behind all that were before.
void FoldedSync::NoteCopies(const Op& send, State& state) const {
  const std::map<ValueId, std::string> buffers = BuffersOfViews(kernel_, send.regions[0]);
  const auto go_on = [&](int64_t cost) {
    for (auto& [place, since] : state.pending) since += cost;
  };
  if (!target_.counts_copy_instructions) go_on(1);
  for (const Op& op : send.regions[0]) {
    if (op.code != OpCode::kCopyAsync) continue;
    Place place = PlaceOf(op.operands[0], state);
    place.is_unused = unused_.count(buffers.at(op.operands[0])) > 0;
    const int64_t cost = target_.counts_copy_instructions ? CostOf(op, buffers) : 0;
    go_on(cost);
    if (cost > 0 || !target_.counts_copy_instructions)
      state.pending[place] = 0;
    else
      Note(state.arrived, place);
  }
}

void FoldedSync::Copies(const Op& send, State& state, Region& out, bool is_checked) {
  if (divergent_ + divergent_loops_ > 0) Refuse(send.span);
  Places filled, written;
  bool is_async = false;
  for (const Op& op : send.regions[0]) {
    if (op.code == OpCode::kView) {
      filled.insert(PlaceOf(op));
      state.views[op.results[0]] = PlaceOf(op);
    }
    if (op.code == OpCode::kPart) state.views[op.results[0]] = PlaceOf(op.operands[0], state);
    if (op.code == OpCode::kCopyAsync) is_async = true;
    if (op.code == OpCode::kCopyToShared) written.insert(PlaceOf(op.operands[0], state));
  }
  // Blocks that are fetched into registers are on their way before anybody waits.
  const Region& copies = send.regions[0];
  const auto first = std::find_if(copies.begin(), copies.end(), [](const Op& op) { return op.code != OpCode::kFetch; });
  out.insert(out.end(), copies.begin(), first);
  if (!is_checked) {
    for (const Place& place : filled) Write(place, send.span, state, out);
  }
  out.insert(out.end(), first, copies.end());
  for (const Place& place : written) {
    if (!IsGuarded(place)) Note(state.written, place);
  }
  if (is_async) {
    if (!target_.counts_copy_instructions) out.push_back(MakeOp(OpCode::kCommitCopies, "", "", 0, send.regions[0].back().span));
    NoteCopies(send, state);
  }
  for (const Op& op : send.regions[0]) {
    for (const ValueId result : op.results) state.views.erase(result);  // of this send alone
  }
}

/// The first blocks of a loop, a slot each: what must be settled is settled before the first of them.
void FoldedSync::Prologue(const Op& unroll, State& state, Region& out) {
  for (int64_t stage = 0; stage < unroll.Trips(); ++stage) {
    for (const Op& op : unroll.regions[0]) {
      if (op.code == OpCode::kSend) Write(SlotPlace(op.Slot(), stage), op.span, state, out);
    }
  }
  Op result = unroll;
  for (int64_t stage = 0; stage < unroll.Trips(); ++stage) {
    Region body;
    for (Op op : unroll.regions[0]) {
      if (op.code != OpCode::kSend) {
        body.push_back(std::move(op));
        continue;
      }
      const Op source = op;
      Op send = op;
      for (Op& copy : send.regions[0]) {
        if (copy.code == OpCode::kView) copy.SetSlot(fmt::format("{}+{}", ir::RingOf(copy.Slot()), stage));
      }
      Region unused;
      Copies(send, state, stage == 0 ? body : unused, true);
    }
    if (stage == 0) result.regions[0] = std::move(body);
  }
  // The text of the slots is the loop's, not the first stage's.
  ForEachOp(result.regions[0], [&](Op& op) {
    if (op.code == OpCode::kView) op.SetSlot(fmt::format("{}+{}", ir::RingOf(op.Slot()), unroll.symbol));
  });
  out.push_back(std::move(result));
}

}  // namespace tkc::passes::folded

// SPDX-License-Identifier: MIT
// Synchronisation of a program that issues its own copies. The walk keeps, for every place in shared memory (a slot by its distance
// from the ring's present one, or a staging buffer), what is not settled yet:
//   pending   copies under way, and how much has been committed since: that many groups may stay unfinished in a wait for them;
//   arrived   copies that each thread knows complete of its own, not of the others';
//   written, read   by ordinary accesses since all threads met.
// An access first settles what it must not overtake: a wait for its own copies, a barrier for everybody else's. Where paths meet,
// the smaller distance and the larger sets count, so that a wait holds on every path; loops are walked until nothing changes.
//
// A buffer of which each instance has its own concerns the four warps of the instance alone, which meet at a barrier of theirs.
#include "compiler/passes/sync_folded.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/passes/meetings.h"
#include "compiler/passes/slot_views.h"
#include "compiler/support/internal_error.h"

namespace tkc::passes {
namespace folded {
namespace {

constexpr const char* kFreeWhenRead = "This buffer is free once all have read what it held.";
constexpr const char* kFreeWhenVacated = "This buffer is free once all are done with what lay in the same place.";

/// Pipes of which the region fills slots that its next iterations receive: the slot before the present one, or the only one, once
/// the region has received it.
std::set<std::string> FilledAhead(const Region& region) {
  std::set<std::string> received, present, ahead;
  for (const Op& op : region) {
    if (op.code == OpCode::kReceive) {
      received.insert(op.symbol);
      present.erase(op.symbol);
    }
    if (op.code != OpCode::kSend || op.regions.empty()) continue;
    const bool is_previous = ir::PlaceOfSlot(op.Slot()).where == ir::SlotPlace::Where::kPrevious;
    if (is_previous) ahead.insert(op.symbol);
    if (!is_previous && received.contains(op.symbol)) present.insert(op.symbol);
  }
  ahead.merge(present);
  return ahead;
}

/// The synchronisation of slots between workers stands there already; the runtime orders the scratch of reductions.
bool IsOrdered(OpCode code) {
  return ir::ReducesOrScans(code) || code == OpCode::kWaitFull || code == OpCode::kWaitEmpty || code == OpCode::kArrive ||
         code == OpCode::kSyncRole;
}

}  // namespace

State Join(State a, const State& b) {
  for (const auto& [place, since] : b.pending) {
    const auto [found, is_new] = a.pending.try_emplace(place, since);
    if (!is_new) found->second = std::min(found->second, since);
  }
  const auto join = [](Unsettled& to, const Unsettled& from) {
    for (const auto& [place, meetings] : from) to[place] = std::max(to[place], meetings);
  };
  join(a.arrived, b.arrived);
  join(a.written, b.written);
  join(a.read, b.read);
  a.own_written.insert(b.own_written.begin(), b.own_written.end());
  a.own_read.insert(b.own_read.begin(), b.own_read.end());
  return a;
}

FoldedSync::FoldedSync(ir::Kernel& kernel, const ir::Worker& worker, const RingsOfSends& rings, const Target& target,
                       Diagnostics& diagnostics)
    : kernel_(kernel), worker_(worker), target_(target), diagnostics_(diagnostics), is_whole_block_(IsWholeBlock(kernel, worker)) {
  for (const ir::Barrier& barrier : kernel.barriers) {
    for (const ir::Pipe& pipe : kernel.pipes) {
      if (barrier.name == FullBarrier(pipe.name)) guarded_.insert(pipe.name);
    }
  }
  for (const ir::Pipe& pipe : kernel.pipes) slots_[pipe.name] = pipe.slots;
  for (const ir::Pipe& pipe : kernel.pipes) {
    for (size_t i = 0; i < pipe.fields.size(); ++i) pipe_of_buffer_[FieldBuffer(pipe, i)] = pipe.name;
  }
  ForEachOp(worker.body, [&](const Op& op) { used_.insert(op.operands.begin(), op.operands.end()); });
  for (const ir::Buffer& buffer : kernel.buffers) {
    // The block's barrier costs less than one in shared memory.
    const bool meets_alone = target.named_barriers > 0 || !is_whole_block_ || StagesApart(kernel, worker);
    // Where others lie over it, all of the block have a say.
    if (buffer.instances > 1 && meets_alone && !buffer.shares_room) own_.insert(buffer.name);
  }
  const auto name_of = [&](const ir::Buffer& buffer) {
    const auto pipe = pipe_of_buffer_.find(buffer.name);
    return pipe == pipe_of_buffer_.end() ? buffer.name : pipe->second;
  };
  for (const ir::Buffer& a : kernel.buffers) {
    for (const ir::Buffer& b : kernel.buffers) {
      if (ir::OverlapInRoom(a, b) && name_of(a) != name_of(b)) sharing_[name_of(a)].insert(name_of(b));
    }
  }
  // What is sent and received in different turns has two rings: the slots of either are the pipe's.
  for (const auto& [pipe, ring] : rings) {
    slots_[ring] = slots_.at(pipe);
    if (guarded_.contains(pipe)) guarded_.insert(ring);
    for (auto& [name, others] : sharing_) {
      if (others.contains(pipe)) others.insert(ring);
    }
    if (const auto own = sharing_.find(pipe); own != sharing_.end()) sharing_[ring] = std::set<std::string>(own->second);
  }
}

Region FoldedSync::Run(Region body) {
  std::set<std::string> received;
  ForEachOp(body, [&](const Op& op) {
    if (op.code == OpCode::kSend && !op.regions.empty()) copied_.insert(op.symbol);
    if (op.code == OpCode::kReceive && !op.Is(ir::kEarlyReceive) && !received.insert(op.symbol).second) refilled_.insert(op.symbol);
    if (op.code == OpCode::kFor) refilled_.merge(FilledAhead(op.regions[0]));
  });
  FindUnusedFields(body);
  PlaceAdvances(body, false, {});
  std::map<std::string, int64_t> ahead;
  body = ExpandSends(body, ahead);
  State state;
  Region out = Walk(body, state);
  if (!state.pending.empty()) out.push_back(MakeOp(OpCode::kWaitCopies, "", "", 0, worker_.span));
  return out;
}

// ---- waits and barriers ----------------------------------------------------------------------------------------------

/// What the number of a wait counts, and which slots are not waited for.
std::string FoldedSync::DescribeWait(int64_t newest, const State& state) const {
  std::map<std::string, int64_t> later;  // slots of each pipe
  std::set<std::pair<std::string, int64_t>> told;
  for (const auto& [place, since] : state.pending) {
    if (since < newest && told.emplace(place.name, place.ahead).second) ++later[place.name];
  }
  std::string slots;
  for (const auto& [pipe, count] : later) {
    slots += fmt::format("{}{} of {}", slots.empty() ? "" : " and ",
                         count == 1 ? "a later slot" : fmt::format("{} later slots", count), pipe);
  }
  return fmt::format("Wait for all {} but the newest{}, those for {}.",
                     target_.counts_copy_instructions ? "copies of this thread" : "groups of copies",
                     newest == 1 ? "" : fmt::format(" {}", newest), slots);
}

void FoldedSync::WaitFor(int64_t newest, Span span, State& state, Region& out) const {
  if (newest > 0) out.push_back(Explain(DescribeWait(newest, state), span));
  out.push_back(MakeOp(OpCode::kWaitCopies, "", "", newest, span));
  for (auto copy = state.pending.begin(); copy != state.pending.end();) {
    if (copy->second < newest) {
      ++copy;
      continue;
    }
    Note(state.arrived, copy->first);
    copy = state.pending.erase(copy);
  }
}

void FoldedSync::SyncAll(Span span, State& state, Region& out) {
  if (divergent_loops_ > 0) Refuse(span);
  if (is_whole_block_) {
    out.push_back(MakeOp(OpCode::kSyncBlock, "", "", 0, span));
  } else if (worker_.instances == 1) {
    out.push_back(MakeOp(OpCode::kSyncRole, "", "", ir::kOfWarpgroup, span));
  } else {
    out.push_back(MakeOp(OpCode::kNamedSync, "", "", ThreadsOf(worker_, target_), span));
    out.back().scalars = {symbolic::Int(WorkerBarrier(kernel_, worker_))};
  }
  Meet(state);
}

void FoldedSync::SyncOwn(Span span, State& state, Region& out) const {
  out.push_back(MakeOp(OpCode::kSyncRole, "", "", ir::kOfWarpgroup, span));
  state.own_written.clear();
  state.own_read.clear();
}

void FoldedSync::Vacate(const Place& place, Span span, State& state, Region& out) {
  const auto sharing = sharing_.find(place.name);
  if (sharing == sharing_.end()) return;
  const auto lies_here = [&](const auto& each) { return sharing->second.contains(each.first.name); };
  int64_t newest = -1;  // of the copies on their way there
  for (const auto& [other, since] : state.pending) {
    if (sharing->second.contains(other.name)) newest = newest < 0 ? since : std::min(newest, since);
  }
  if (newest >= 0) WaitFor(newest, span, state, out);
  const auto is_held = [&] {
    return std::any_of(state.arrived.begin(), state.arrived.end(), lies_here) ||
           std::any_of(state.written.begin(), state.written.end(), lies_here) ||
           std::any_of(state.read.begin(), state.read.end(), lies_here);
  };
  if (is_held()) out.push_back(Explain(kFreeWhenVacated, span));
  while (is_held()) SyncAll(span, state, out);
}

/// Ordinary stores, or copies, into a place: all others must be done with it.
void FoldedSync::Write(const Place& place, Span span, State& state, Region& out) {
  Vacate(place, span, state, out);
  const Place unused{place.name, place.ahead, true};
  if (const auto copy = state.pending.find(unused); copy != state.pending.end()) WaitFor(copy->second, span, state, out);
  while (state.arrived.count(unused) > 0) SyncAll(span, state, out);
  if (const auto copy = state.pending.find(place); copy != state.pending.end()) WaitFor(copy->second, span, state, out);
  if (IsGuarded(place)) {
    // Copies that nobody was told of: those beyond the end of a loop.
    while (state.arrived.count(place) > 0) SyncAll(span, state, out);
    return;
  }
  if (IsOwn(place)) {
    if (state.own_read.count(place) > 0 || state.own_written.count(place) > 0) {
      if (state.own_read.count(place) > 0) out.push_back(Explain(kFreeWhenRead, span));
      SyncOwn(span, state, out);
    }
    return;
  }
  // Fields and parts of a slot do not overlap, and the slot is read before it is filled again.
  const bool is_slot = slots_.count(place.name) > 0;
  if (!is_slot && state.read.count(place) > 0) out.push_back(Explain(kFreeWhenRead, span));
  while (state.read.count(place) > 0 || (state.written.count(place) > 0 && !is_slot) || state.arrived.count(place) > 0)
    SyncAll(span, state, out);
}

void FoldedSync::Read(const Place& place, Span span, State& state, Region& out) {
  if (IsGuarded(place)) return;
  if (const auto copy = state.pending.find(place); copy != state.pending.end()) WaitFor(copy->second, span, state, out);
  if (IsOwn(place)) {
    if (state.own_written.count(place) > 0) SyncOwn(span, state, out);
    state.own_read.insert(place);
    return;
  }
  while (state.written.count(place) > 0 || state.arrived.count(place) > 0) SyncAll(span, state, out);
  Note(state.read, place);
}

// ---- the walk --------------------------------------------------------------------------------------------------------

/// Blocks beyond the end of a loop that runs ahead are still on their way. Those that each thread stored itself nobody reads,
/// either: who fills the slot next has to know that all have done so.
void FoldedSync::Drain(const Op& loop, State& state, Region& out) const {
  const std::set<std::string> ahead = FilledAhead(loop.regions[0]);
  std::set<std::string> filled;
  Span span;
  for (const Op& op : loop.regions[0]) {
    if (op.code != OpCode::kSend) continue;
    filled.insert(op.symbol);
    if (ahead.contains(op.symbol)) span = op.span;
  }
  for (const auto& [place, meetings] : state.written) {
    if (filled.count(place.name) > 0 && !IsGuarded(place)) state.arrived[place] = std::max(state.arrived[place], meetings);
  }
  int64_t newest = -1;
  for (const auto& [place, since] : state.pending) {
    if (ahead.count(place.name) > 0) newest = newest < 0 ? since : std::min(newest, since);
  }
  if (newest < 0) return;
  out.push_back(Explain("Wait for the copies that ran ahead past the end: zeros, or blocks that nobody reads.", span));
  WaitFor(newest, span, state, out);
}

void FoldedSync::Loop(Op op, State& state, Region& out) {
  const bool is_stages = op.code == OpCode::kUnroll && std::any_of(op.regions[0].begin(), op.regions[0].end(),
                                                                   [](const Op& each) { return each.code == OpCode::kSend; });
  if (is_stages) return Prologue(op, state, out);
  const bool diverges = Diverges(op);
  divergent_loops_ += diverges;
  constexpr int kMostRounds = 64;
  State entry = state, end;
  Region body;
  for (int round = 0;; ++round) {
    Ensure(round < kMostRounds, "a loop whose copies never settle", op.span);
    end = entry;
    body = Walk(op.regions[0], end);
    end.views = entry.views;
    State joined = Join(entry, end);
    if (joined == entry) break;
    entry = std::move(joined);
  }
  divergent_loops_ -= diverges;
  const Op source = op;
  op.regions[0] = std::move(body);
  out.push_back(std::move(op));
  state = source.code == OpCode::kUnroll ? end : Join(entry, end);  // a loop may take no turn
  Drain(source, state, out);
}

/// What an operation reads and writes in shared memory, op.def says. Whatever else has to do with it must be ordered already.
void FoldedSync::Access(const Op& op, const Region& region, size_t index, State& state, Region& out) {
  if (ir::FillsShared(op.code)) {
    const Place place = PlaceOf(op.operands[0], state);
    if (!FillsBeside(kernel_, region, index)) Write(place, op.span, state, out);
    if (IsOwn(place))
      state.own_written.insert(place);
    else if (!IsGuarded(place))
      Note(state.written, place);
  } else if (ir::ReadsViews(op.code)) {
    for (const ValueId operand : op.operands) {
      if (kernel_.TypeOf(operand).space == ir::Space::kShared) Read(PlaceOf(operand, state), op.span, state, out);
    }
  } else {
    Ensure(!ir::IsReplayed(op.code) || IsOrdered(op.code),
           fmt::format("what `{}` does to shared memory is not known where copies are folded", ir::OpText(op.code)), op.span);
  }
}

void FoldedSync::WalkOp(const Op& op, const Region& region, size_t index, State& state, Region& out) {
  switch (op.code) {
    case OpCode::kReceive: return Receive(region, index, state, out);
    case OpCode::kSend: return Copies(op, state, out, false);
    case OpCode::kAdvance: Advance(op.symbol, state); break;
    case OpCode::kAlternate: return Alternate(region, index, state, out);
    case OpCode::kArrive: {
      // A slot that this worker copies into is full for each warp when its own copies are complete.
      const Place place{op.Slot(), 0};
      if (op.symbol != FullBarrier(op.Slot())) break;
      if (const auto copy = state.pending.find(place); copy != state.pending.end()) WaitFor(copy->second, op.span, state, out);
      state.arrived.erase(place);
      break;
    }
    case OpCode::kFor:
    case OpCode::kForTiles:
    case OpCode::kUnroll: return Loop(op, state, out);
    case OpCode::kIf: return Branch(op, state, out);
    case OpCode::kLet:
      if (Diverges(op)) differs_.insert(op.symbol);
      break;
    case OpCode::kTest:
      if (worker_.instances > 1 && !worker_.instance_name.empty()) differs_.insert(op.symbol);
      break;
    case OpCode::kView: state.views[op.results[0]] = PlaceOf(op); break;
    case OpCode::kPart:
    case OpCode::kTranspose: {
      const auto place = state.views.find(op.operands[0]);
      if (place != state.views.end()) state.views[op.results[0]] = place->second;
      break;
    }
    default: Access(op, region, index, state, out);
  }
  out.push_back(op);
}

Region FoldedSync::Walk(const Region& region, State& state) {
  if (differs_.empty() && worker_.instances > 1 && !worker_.instance_name.empty()) differs_.insert(worker_.instance_name);
  Region out;
  for (size_t i = 0; i < region.size(); ++i) WalkOp(region[i], region, i, state, out);
  return out;
}

}  // namespace folded

void SyncFoldedRoles(ir::Kernel& kernel, const std::vector<RingsOfSends>& rings, const PipeTraffic& traffic, const Target& target,
                     Diagnostics& diagnostics) {
  SyncChannels(kernel, rings, traffic, diagnostics);
  for (size_t i = 0; i < rings.size(); ++i) {
    ir::Worker& worker = kernel.workers[i];
    worker.body = folded::FoldedSync(kernel, worker, rings[i], target, diagnostics).Run(std::move(worker.body));
  }
  PlaceMeetings(kernel, target);
}

}  // namespace tkc::passes

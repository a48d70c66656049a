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
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "compiler/passes/sync_roles.h"
#include "compiler/passes/walk.h"
#include "compiler/support/internal_error.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

/// A slot of a pipe, so many ahead of the present one, or a buffer of its own.
struct Place {
  std::string name;
  int64_t ahead = 0;
  auto operator<=>(const Place&) const = default;
};
using Places = std::set<Place>;

struct State {
  std::map<Place, int64_t> pending;
  Places arrived, written, read;
  Places own_written, own_read;    // buffers of each instance, since its warps met
  std::map<ValueId, Place> views;  // what a view shows
  bool operator==(const State&) const = default;
};

State Join(State a, const State& b) {
  for (const auto& [place, since] : b.pending) {
    const auto [found, is_new] = a.pending.try_emplace(place, since);
    if (!is_new) found->second = std::min(found->second, since);
  }
  a.arrived.insert(b.arrived.begin(), b.arrived.end());
  a.written.insert(b.written.begin(), b.written.end());
  a.read.insert(b.read.begin(), b.read.end());
  a.own_written.insert(b.own_written.begin(), b.own_written.end());
  a.own_read.insert(b.own_read.begin(), b.own_read.end());
  return a;
}

class FoldedSync {
 public:
  FoldedSync(ir::Kernel& kernel, const ir::Worker& worker, const Target& target, Diagnostics& diagnostics)
      : kernel_(kernel), worker_(worker), target_(target), diagnostics_(diagnostics) {
    for (const ir::Pipe& pipe : kernel.pipes) slots_[pipe.name] = pipe.slots;
    for (const ir::Pipe& pipe : kernel.pipes) {
      for (size_t i = 0; i < pipe.fields.size(); ++i) pipe_of_buffer_[FieldBuffer(pipe, i)] = pipe.name;
    }
    ForEachOp(worker.body, [&](const Op& op) { used_.insert(op.operands.begin(), op.operands.end()); });
    for (const ir::Buffer& buffer : kernel.buffers) {
      if (buffer.instances > 1 && target.named_barriers > 0) own_.insert(buffer.name);
    }
  }

  Region Run(Region body) {
    ForEachOp(body, [&](const Op& op) {
      if (op.code == OpCode::kSend && !op.regions.empty()) copied_.insert(op.symbol);
    });
    body = ExpandSends(body);
    PlaceAdvances(body, false);
    State state;
    Region out = Walk(body, state);
    if (!state.pending.empty()) out.push_back(SyncOp(OpCode::kWaitCopies, "", "", 0, worker_.span));
    return out;
  }

 private:
  Region ExpandSends(const Region& region);
  void PlaceAdvances(Region& region, bool repeats) const;
  Region Walk(const Region& region, State& state);
  void WalkOp(const Op& op, const Region& region, size_t index, State& state, Region& out);
  void Receive(const Region& region, size_t index, State& state, Region& out);
  void Copies(const Op& send, State& state, Region& out, bool is_checked);
  void Prologue(const Op& unroll, State& state, Region& out);
  void Write(const Place& place, Span span, State& state, Region& out);
  void Read(const Place& place, Span span, State& state, Region& out);
  void Loop(Op op, State& state, Region& out);
  void Drain(const Op& loop, State& state, Region& out) const;
  void Advance(const std::string& pipe, State& state) const;

  /// Waits until at most `newest` groups, or instructions, are unfinished.
  void WaitFor(int64_t newest, Span span, State& state, Region& out) const;
  void SyncBlock(Span span, State& state, Region& out);
  void SyncOwn(Span span, State& state, Region& out) const;
  void Refuse(Span span);
  Region SplitAtBarriers(const Op& branch);
  void NoteUse(const Op& op, const std::set<ValueId>& gone);

  bool IsOwn(const Place& place) const { return own_.count(place.name) > 0; }
  Place SlotPlace(const std::string& slot, int64_t stage = 0) const;
  Place PlaceOf(const Op& view, int64_t stage = 0) const;
  Place PlaceOf(ValueId view, const State& state) const;
  int64_t CostOf(const Region& copies) const;
  bool Diverges(const Op& op) const;

  ir::Kernel& kernel_;
  const ir::Worker& worker_;
  const Target& target_;
  Diagnostics& diagnostics_;
  std::map<std::string, int64_t> slots_;
  std::map<std::string, std::string> pipe_of_buffer_;
  std::set<ValueId> used_;
  std::set<std::string> copied_;   // pipes that copies fill
  std::set<std::string> own_;      // buffers of each instance
  std::set<std::string> differs_;  // scalars that differ between instances
  int divergent_ = 0;              // conditions around that do
  int divergent_loops_ = 0;        // and loops
  bool has_failed_ = false;
};

// ---- places ----------------------------------------------------------------------------------------------------------

Place FoldedSync::SlotPlace(const std::string& slot, int64_t stage) const {
  const std::string pipe = ir::RingOf(slot), rest = slot.substr(pipe.size());
  const int64_t slots = slots_.at(pipe);
  if (rest.empty()) return {pipe, 0};
  if (rest == ".previous") return {pipe, slots - 1};
  const bool is_number = rest.find_first_not_of("0123456789", 1) == std::string::npos;
  return {pipe, (is_number ? std::stoll(rest.substr(1)) : stage) % slots};
}

Place FoldedSync::PlaceOf(const Op& view, int64_t stage) const {
  return view.slot.empty() || pipe_of_buffer_.count(view.symbol) == 0 ? Place{view.symbol, 0} : SlotPlace(view.slot, stage);
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
  for (Places* places : {&state.arrived, &state.written, &state.read}) {
    Places after;
    for (const Place& place : *places) after.insert(moved(place));
    *places = std::move(after);
  }
  for (auto& [view, place] : state.views) place = moved(place);
}

// ---- waits and barriers ----------------------------------------------------------------------------------------------

void FoldedSync::WaitFor(int64_t newest, Span span, State& state, Region& out) const {
  out.push_back(SyncOp(OpCode::kWaitCopies, "", "", newest, span));
  for (auto copy = state.pending.begin(); copy != state.pending.end();) {
    if (copy->second < newest) {
      ++copy;
      continue;
    }
    state.arrived.insert(copy->first);
    copy = state.pending.erase(copy);
  }
}

void FoldedSync::SyncBlock(Span span, State& state, Region& out) {
  if (divergent_loops_ > 0) Refuse(span);
  out.push_back(SyncOp(OpCode::kSyncBlock, "", "", 0, span));
  state.arrived.clear();
  state.written.clear();
  state.read.clear();
  state.own_written.clear();
  state.own_read.clear();
}

void FoldedSync::Refuse(Span span) {
  if (!has_failed_) {
    diagnostics_
        .Error(DiagnosticKind::kNotImplemented, span,
               fmt::format("for `{}`, a slot or buffer of the whole block used by some instances only is specified, not yet "
                           "implemented",
                           target_.name))
        .Help("let all instances take part, outside conditions on the instance");
  }
  has_failed_ = true;
}

void FoldedSync::SyncOwn(Span span, State& state, Region& out) const {
  out.push_back(SyncOp(OpCode::kSyncRole, "", "", 0, span));
  state.own_written.clear();
  state.own_read.clear();
}

/// Ordinary stores, or copies, into a place: all others must be done with it.
void FoldedSync::Write(const Place& place, Span span, State& state, Region& out) {
  if (const auto copy = state.pending.find(place); copy != state.pending.end()) WaitFor(copy->second, span, state, out);
  if (IsOwn(place)) {
    if (state.own_read.count(place) > 0 || state.own_written.count(place) > 0) SyncOwn(span, state, out);
    return;
  }
  // Fields and parts of a slot do not overlap, and the slot is read before it is filled again.
  const bool is_slot = slots_.count(place.name) > 0;
  if (state.read.count(place) > 0 || (state.written.count(place) > 0 && !is_slot) || state.arrived.count(place) > 0) {
    SyncBlock(span, state, out);
  }
}

void FoldedSync::Read(const Place& place, Span span, State& state, Region& out) {
  if (const auto copy = state.pending.find(place); copy != state.pending.end()) WaitFor(copy->second, span, state, out);
  if (IsOwn(place)) {
    if (state.own_written.count(place) > 0) SyncOwn(span, state, out);
    state.own_read.insert(place);
    return;
  }
  if (state.written.count(place) > 0 || state.arrived.count(place) > 0) SyncBlock(span, state, out);
  state.read.insert(place);
}

// ---- slots -----------------------------------------------------------------------------------------------------------

/// Tiles that instances send each other are stored; one slot has to do.
Region FoldedSync::ExpandSends(const Region& region) {
  Region out;
  for (const Op& op : region) {
    if (op.code == OpCode::kSend && op.regions.empty()) {
      if (slots_.at(op.symbol) > 1) Refuse(op.span);
      for (Op& each : StoresOf(kernel_, op)) out.push_back(std::move(each));
      continue;
    }
    out.push_back(op);
    if (op.code == OpCode::kSend) continue;
    for (Region& inner : out.back().regions) inner = ExpandSends(inner);
  }
  return out;
}

/// A ring goes on behind everything of its slot: before the next receive in the region, else at its end.
void FoldedSync::PlaceAdvances(Region& region, bool repeats) const {
  const auto touches = [](const Op& op, const std::string& pipe) {
    bool found = false;
    const Region alone{op};
    ForEachOp(alone, [&](const Op& each) {
      const bool is_traffic = each.code == OpCode::kReceive || each.code == OpCode::kSend;
      found |= is_traffic && each.symbol == pipe && !each.slot.ends_with(".previous");
    });
    return found;
  };
  Region out;
  std::vector<std::pair<std::string, Span>> held;
  for (Op& op : region) {
    for (auto slot = held.begin(); slot != held.end();) {
      if (!touches(op, slot->first)) {
        ++slot;
        continue;
      }
      out.push_back(SyncOp(OpCode::kAdvance, slot->first, "", 0, out.empty() ? slot->second : out.back().span));
      slot = held.erase(slot);
    }
    const bool is_loop = op.code == OpCode::kFor || op.code == OpCode::kForTiles || op.code == OpCode::kUnroll;
    for (Region& inner : op.regions) {
      if (op.code != OpCode::kSend) PlaceAdvances(inner, repeats || is_loop);
    }
    if (op.code == OpCode::kReceive && slots_.at(op.symbol) > 1) held.emplace_back(op.symbol, op.span);
    out.push_back(std::move(op));
  }
  for (const auto& [pipe, span] : held) {
    if (repeats) out.push_back(SyncOp(OpCode::kAdvance, pipe, "", 0, out.empty() ? span : out.back().span));
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
  if (state.arrived.count(place) > 0 || state.written.count(place) > 0 || is_from_elsewhere) SyncBlock(op.span, state, out);
  const ir::Pipe& pipe = FindPipe(kernel_, op.symbol);
  for (size_t i = 0; i < op.results.size(); ++i) {
    state.views[op.results[i]] = place;
    if (used_.count(op.results[i]) == 0) continue;  // received and not used
    Op view = SyncOp(OpCode::kView, FieldBuffer(pipe, i), pipe.name, 0, op.span);
    view.results = {op.results[i]};
    out.push_back(std::move(view));
  }
}

/// What a wait counts: groups, or the copy instructions of a thread.
int64_t FoldedSync::CostOf(const Region& copies) const {
  if (!target_.counts_copy_instructions) return 1;
  int64_t cost = 0;
  for (const Op& op : copies) {
    if (op.code != OpCode::kCopyAsync) continue;
    const ir::Type& type = kernel_.values[op.operands[0]].type;
    const int64_t pieces = type.rows * type.cols * Bytes(type.dtype) / target_.copy_bytes;
    // A number of pieces that threads do not share evenly goes by ordinary stores.
    if (pieces % kernel_.threads == 0) cost += pieces / kernel_.threads;
  }
  return cost;
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
  if (!is_checked) {
    for (const Place& place : filled) Write(place, send.span, state, out);
  }
  for (const Op& op : send.regions[0]) out.push_back(op);
  state.written.insert(written.begin(), written.end());
  if (!is_async) return;
  out.push_back(SyncOp(OpCode::kCommitCopies, "", "", 0, send.span));
  const int64_t cost = CostOf(send.regions[0]);
  for (auto& [place, since] : state.pending) since += cost;
  for (const Place& place : filled) state.pending[place] = 0;
}

/// The first blocks of a loop, a slot each: what must be settled is settled before the first of them.
void FoldedSync::Prologue(const Op& unroll, State& state, Region& out) {
  for (int64_t stage = 0; stage < unroll.number; ++stage) {
    for (const Op& op : unroll.regions[0]) {
      if (op.code == OpCode::kSend) Write(SlotPlace(op.slot, stage), op.span, state, out);
    }
  }
  Op result = unroll;
  for (int64_t stage = 0; stage < unroll.number; ++stage) {
    Region body;
    for (Op op : unroll.regions[0]) {
      if (op.code != OpCode::kSend) {
        body.push_back(std::move(op));
        continue;
      }
      const Op source = op;
      Op send = op;
      for (Op& copy : send.regions[0]) {
        if (copy.code == OpCode::kView) copy.slot = fmt::format("{}+{}", ir::RingOf(copy.slot), stage);
      }
      Region unused;
      Copies(send, state, stage == 0 ? body : unused, true);
    }
    if (stage == 0) result.regions[0] = std::move(body);
  }
  // The text of the slots is the loop's, not the first stage's.
  ForEachOp(result.regions[0], [&](Op& op) {
    if (op.code == OpCode::kView) op.slot = fmt::format("{}+{}", ir::RingOf(op.slot), unroll.symbol);
  });
  out.push_back(std::move(result));
}

// ---- the walk --------------------------------------------------------------------------------------------------------

bool FoldedSync::Diverges(const Op& op) const {
  return std::any_of(op.scalars.begin(), op.scalars.end(), [&](const ir::Scalar& scalar) {
    return std::any_of(differs_.begin(), differs_.end(), [&](const std::string& name) { return symbolic::Mentions(scalar, name); });
  });
}

/// All instances execute a barrier of the block, whichever side of a branch they take: it stands between two branches on the same
/// condition, one for what is before it and one for what is behind.
Region FoldedSync::SplitAtBarriers(const Op& branch) {
  Region out;
  std::vector<Region::const_iterator> next, end;
  for (const Region& side : branch.regions) {
    next.push_back(side.begin());
    end.push_back(side.end());
    ForEachOp(side, [&](const Op& op) {
      for (const Region& inner : op.regions) {
        if (Contains(inner, OpCode::kSyncBlock)) Refuse(op.span);
      }
    });
  }
  std::set<ValueId> gone;  // defined in a branch before
  while (true) {
    Op piece = branch;
    bool meets = false;
    Span span;
    for (size_t i = 0; i < 2; ++i) {
      const auto barrier = std::find_if(next[i], end[i], [](const Op& op) { return op.code == OpCode::kSyncBlock; });
      piece.regions[i].assign(next[i], barrier);
      meets |= barrier != end[i];
      if (barrier != end[i]) span = barrier->span;
      next[i] = barrier == end[i] ? barrier : barrier + 1;
    }
    ForEachOp(piece.regions[0], [&](const Op& op) { NoteUse(op, gone); });
    ForEachOp(piece.regions[1], [&](const Op& op) { NoteUse(op, gone); });
    for (const Region& side : piece.regions) {
      ForEachOp(side, [&](const Op& op) { gone.insert(op.results.begin(), op.results.end()); });
    }
    if (!piece.regions[0].empty() || !piece.regions[1].empty()) out.push_back(std::move(piece));
    if (!meets) return out;
    out.push_back(SyncOp(OpCode::kSyncBlock, "", "", 0, span));
  }
}

void FoldedSync::NoteUse(const Op& op, const std::set<ValueId>& gone) {
  for (const ValueId value : op.operands) {
    if (gone.count(value) > 0) Refuse(op.span);
  }
}

/// Blocks beyond the end of a loop that runs ahead are still on their way.
void FoldedSync::Drain(const Op& loop, State& state, Region& out) const {
  std::set<std::string> ahead;
  Span span;
  for (const Op& op : loop.regions[0]) {
    if (op.code != OpCode::kSend || !op.slot.ends_with(".previous")) continue;
    ahead.insert(op.symbol);
    span = op.span;
  }
  int64_t newest = -1;
  for (const auto& [place, since] : state.pending) {
    if (ahead.count(place.name) > 0) newest = newest < 0 ? since : std::min(newest, since);
  }
  if (newest < 0) return;
  out.push_back(SyncOp(OpCode::kComment, "The copies beyond the end: zeros, or blocks that nobody reads.", "", 0, span));
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

void FoldedSync::WalkOp(const Op& op, const Region& region, size_t index, State& state, Region& out) {
  switch (op.code) {
    case OpCode::kReceive: return Receive(region, index, state, out);
    case OpCode::kSend: return Copies(op, state, out, false);
    case OpCode::kAdvance: Advance(op.symbol, state); break;
    case OpCode::kFor:
    case OpCode::kForTiles:
    case OpCode::kUnroll: return Loop(op, state, out);
    case OpCode::kIf: {
      const bool diverges = Diverges(op);
      divergent_ += diverges;
      Op branch = op;
      State after[2] = {state, state};
      for (size_t i = 0; i < op.regions.size(); ++i) branch.regions[i] = Walk(op.regions[i], after[i]);
      divergent_ -= diverges;
      const auto views = state.views;
      state = Join(std::move(after[0]), after[1]);
      state.views = views;
      if (diverges) {
        for (Op& piece : SplitAtBarriers(branch)) out.push_back(std::move(piece));
      } else {
        out.push_back(std::move(branch));
      }
      return;
    }
    case OpCode::kLet:
      if (Diverges(op)) differs_.insert(op.symbol);
      break;
    case OpCode::kView: state.views[op.results[0]] = PlaceOf(op); break;
    case OpCode::kPart:
    case OpCode::kTranspose: {
      const auto place = state.views.find(op.operands[0]);
      if (place != state.views.end()) state.views[op.results[0]] = place->second;
      break;
    }
    case OpCode::kLoadShared:
    case OpCode::kLoadLeft:
    case OpCode::kLoadRight:
    case OpCode::kCopyToGlobal: Read(PlaceOf(op.operands[0], state), op.span, state, out); break;
    case OpCode::kStoreShared:
    case OpCode::kCopyToShared: {
      const Place place = PlaceOf(op.operands[0], state);
      Write(place, op.span, state, out);
      (IsOwn(place) ? state.own_written : state.written).insert(place);
      break;
    }
    default: break;
  }
  out.push_back(op);
}

Region FoldedSync::Walk(const Region& region, State& state) {
  if (differs_.empty() && worker_.instances > 1 && !worker_.instance_name.empty()) differs_.insert(worker_.instance_name);
  Region out;
  for (size_t i = 0; i < region.size(); ++i) WalkOp(region[i], region, i, state, out);
  return out;
}

}  // namespace

void SyncFoldedRole(ir::Kernel& kernel, ir::Worker& worker, const Target& target, Diagnostics& diagnostics) {
  FoldedSync sync(kernel, worker, target, diagnostics);
  worker.body = sync.Run(std::move(worker.body));
}

}  // namespace tkc::passes

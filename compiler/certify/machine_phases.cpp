// SPDX-License-Identifier: MIT
// Barriers in shared memory and their phases: who waits, who arrives, and what is known behind a phase that is over.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/certify/machine.h"
#include "compiler/certify/scene.h"
#include "compiler/support/floor_div.h"

namespace tkc::certify {

using ir::OpCode;

Outcome Machine::WaitForSlot(Context& c) {
  const int64_t slots = c.agent.rings[static_cast<size_t>(c.step.ring)].slots;
  // The slot before the present one is filled for the next lap.
  const int64_t lap = FloorDiv(Position(c) + (c.step.offset < 0 ? slots : 0), slots);
  return Wait(c, lap + (c.op.code == OpCode::kWaitFull), ElementOfStep(c, c.agent.block));
}

bool Machine::AnnounceBytes(Context& c) {
  const int element = ElementOfStep(c, c.agent.block);
  c.state.barriers[static_cast<size_t>(element)].expected += c.op.Bytes() * Shares(c)[0].threads;
  return Arrive(c, element, Shares(c)[0], Shares(c)[0].threads, "announces bytes");
}

/// In the agent's own block, in another, or in each.
bool Machine::ArriveAtAll(Context& c) {
  const bool by_warp = !c.op.Is(ir::kThisThread);
  if (by_warp && c.agent.IsOneThreadAt(c.step))
    return Fail(c, DiagnosticKind::kCertificateDeadlock,
                fmt::format("one thread of `{}` waits for its warp, which does not come", c.agent.name));
  if (!MayRelease(c)) return false;
  for (const Share& share : Shares(c)) {
    for (int block = 0; block < program_.blocks; ++block) {
      if (!c.op.Is(ir::kInAllBlocks) && block != (c.step.block < 0 ? c.agent.block : c.step.block)) continue;
      if (!Arrive(c, ElementOfStep(c, block), share, by_warp ? share.warps : share.threads, "arrives")) return false;
    }
  }
  return true;
}

/// Ordinary accesses of a warp before it come before what the asynchronous proxy does once it is told.
void Machine::Fence(Context& c) const {
  const ShareList shares = Shares(c);
  const auto is_own = [&](const Record& record) {
    return record.agent == c.number && std::ranges::any_of(shares, [&](const Share& share) { return share.warp == record.warp; });
  };
  for (const std::vector<Record>& there : c.state.records.OfPlaces()) {
    for (const Record& record : there) {
      if (record.by_engine || !is_own(record)) continue;
      if (!record.is_async || c.state.knowledge.Knows(record.warp, record.event))
        c.state.knowledge.LearnFenced(record.warp, record.event);
    }
  }
}

/// Waits until `need` phases are over. A barrier tells only odd from even: the waiter must know by other means that the phase
/// before is over, and nobody may complete the next one before it has passed.
Outcome Machine::Wait(Context& c, int64_t need, int element) {
  BarrierState& barrier = c.state.barriers[static_cast<size_t>(element)];
  const std::string& name = kernel_.barriers[static_cast<size_t>(Element(element).barrier)].name;
  const bool is_over = barrier.completed >= need;
  const int before = is_over ? barrier.previous : barrier.latest;
  if (barrier.completed < need - 1 || barrier.completed > need) {
    Fail(c, DiagnosticKind::kCertificatePhase,
         fmt::format("`{}` waits for phase {} of `{}` when {} are over; a barrier tells neighbouring phases apart, not more",
                     c.agent.name, need, name, barrier.completed));
    return Outcome::kFailed;
  }
  for (const Share& share : Shares(c)) {
    if (before < 0 || c.state.knowledge.Knows(share.warp, before)) continue;
    Fail(c, DiagnosticKind::kCertificatePhase,
         fmt::format(
             "`{}` may wait for a phase of `{}` while the one before is not over, and a barrier's parity does not tell them apart",
             c.agent.name, name));
    return Outcome::kFailed;
  }
  if (!is_over) return Outcome::kBlocked;
  for (const Share& share : Shares(c)) {
    // Of no phase yet nothing is known; but a state of the first lap may stand for those of later ones.
    c.state.knowledge.Join(share.warp, Completed(element));
    // Who knows of this wait knows of those before it. A block that copies ahead waits anew in each tile, and a tile that fills no
    // slot ends no phase.
    std::erase_if(c.state.notes, [&](const WaitNote& note) {
      if (note.barrier != element || note.warp != share.warp) return false;
      c.state.knowledge.Free(note.event);
      return true;
    });
    const int event = c.state.knowledge.NewEvent();
    c.state.knowledge.Learn(share.warp, event);
    c.state.notes.push_back({element, event, share.warp, c.number, &c.op});
  }
  return Outcome::kRan;
}

/// An arrival belongs to the phase that is under way: the one before must be over, in every interleaving.
bool Machine::MayArrive(Context& c, int element, int warp, const char* what) {
  const BarrierState& barrier = c.state.barriers[static_cast<size_t>(element)];
  if (barrier.latest < 0 || c.state.knowledge.Knows(warp, barrier.latest)) return true;
  const std::string& name = kernel_.barriers[static_cast<size_t>(Element(element).barrier)].name;
  return Fail(c, DiagnosticKind::kCertificateArrivals,
              fmt::format("`{}` {} at `{}` without having waited: it may still be in the phase before, which has all it expects",
                          c.agent.name, what, name));
}

/// Who gives a slot back has no read of it under way, even if nobody should fill it again.
bool Machine::MayRelease(Context& c) {
  if (c.step.ring < 0 || !is_empty_barrier_[static_cast<size_t>(c.step.barrier)]) return true;
  const int64_t element = Element(ElementOfStep(c, c.agent.block)).element;
  const std::string& ring = program_.ring_of_barrier[static_cast<size_t>(c.step.barrier)];
  const std::vector<int>& slots = buffers_of_barrier_[static_cast<size_t>(c.step.barrier)];
  for (size_t i = 0; i < places_.size(); ++i) {
    const Place& place = places_[i];
    if (place.block != c.agent.block) continue;  // what it sends to other blocks, those wait for
    if (place.index != element || std::find(slots.begin(), slots.end(), place.buffer) == slots.end()) continue;
    for (const Record& record : c.state.records.Of(static_cast<int>(i))) {
      if (record.agent != c.number || !record.is_async || c.state.knowledge.Knows(record.warp, record.event)) continue;
      return Fail(c, DiagnosticKind::kCertificateHazard,
                  fmt::format("`{}` gives back a slot of `{}` that it may still be reading", c.agent.name, ring),
                  {{record.op->span, fmt::format("`{}` {} here", c.agent.name, Doing(kernel_, *record.op))}});
    }
  }
  return true;
}

bool Machine::Arrive(Context& c, int element, const Share& share, int64_t count, const char* what) {
  if (!MayArrive(c, element, share.warp, what)) return false;
  BarrierState& barrier = c.state.barriers[static_cast<size_t>(element)];
  const ir::Barrier& declared = kernel_.barriers[static_cast<size_t>(Element(element).barrier)];
  barrier.pending += count;
  if (barrier.pending > declared.arrivals)
    return Fail(
        c, DiagnosticKind::kCertificateArrivals,
        fmt::format("{} arrivals in one phase of `{}`, which expects {}", barrier.pending, declared.name, declared.arrivals));
  c.state.knowledge.Join(Arriving(element), share.warp);
  CompleteIfDone(c, element);
  return !finding;
}

void Machine::CompleteIfDone(Context& c, int element) {
  BarrierState& barrier = c.state.barriers[static_cast<size_t>(element)];
  const ir::Barrier& declared = kernel_.barriers[static_cast<size_t>(Element(element).barrier)];
  if (barrier.pending != declared.arrivals) return;
  if (barrier.issued > barrier.expected) {
    Fail(c, DiagnosticKind::kCertificateBytes,
         fmt::format("copies bring {} bytes in a phase of `{}` that expects {}", barrier.issued, declared.name, barrier.expected));
    return;
  }
  if (barrier.issued != barrier.expected) return;
  Knowledge& knowledge = c.state.knowledge;
  for (const WaitNote& note : c.state.notes) {
    if (note.barrier != element) continue;
    if (!knowledge.Knows(Arriving(element), note.event)) {
      Fail(c, DiagnosticKind::kCertificatePhase,
           fmt::format("a phase of `{}` may be over before `{}` has seen the end of the one before", declared.name,
                       program_.agents[static_cast<size_t>(note.agent)].name),
           {{note.op->span, "which it waits for here"}});
      return;
    }
    knowledge.Free(note.event);
  }
  std::erase_if(c.state.notes, [&](const WaitNote& note) { return note.barrier == element; });
  if (barrier.previous >= 0) knowledge.Free(barrier.previous);
  barrier.previous = barrier.latest;
  barrier.latest = knowledge.NewEvent();
  ++barrier.completed;
  barrier.pending = barrier.expected = barrier.issued = 0;
  Empty(c.state, element);
  knowledge.Forget(Completed(element));
  knowledge.Join(Completed(element), Arriving(element));
  knowledge.Learn(Completed(element), barrier.latest);
  knowledge.Forget(Arriving(element));
}

/// A slot that has been given back holds nothing: it must be filled anew before it is read again. So does that of a block in which
/// nobody waits for it: whoever fills it waits here.
void Machine::Empty(State& state, int number) const {
  const ElementOf& e = Element(number);
  if (!is_empty_barrier_[static_cast<size_t>(e.barrier)]) return;
  const size_t buffers = kernel_.buffers.size(), barriers = kernel_.barriers.size();
  for (size_t block = 0; block < static_cast<size_t>(program_.blocks); ++block) {
    if (static_cast<int>(block) != e.block && is_waited_for_[block * barriers + static_cast<size_t>(e.barrier)]) continue;
    for (const int buffer : buffers_of_barrier_[static_cast<size_t>(e.barrier)]) {
      if (e.element >= kernel_.buffers[static_cast<size_t>(buffer)].count) continue;
      state.written[static_cast<size_t>(place_base_[block * buffers + static_cast<size_t>(buffer)] + e.element)].clear();
    }
  }
}

}  // namespace tkc::certify

// SPDX-License-Identifier: MIT
// Folded programs: all threads of a block issue the copies, wait for their own, meet, and compute.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/certify/machine.h"
#include "compiler/certify/scene.h"

namespace tkc::certify {

/// Copies and barriers of the block are executed by all agents of a worker, in one order: each brings its own pieces.
bool Machine::Together(Context& c, int place) {
  if (!c.agent.computes || c.step.is_elected)
    return Fail(c, DiagnosticKind::kCertificateBarrier,
                fmt::format("only some threads of the worker come to this: `{}` {}", c.agent.name, Doing(kernel_, c.op)));
  std::vector<Joint>& joint = c.state.joint[JointOf(c.agent)];
  if (c.self.together == joint.size()) {
    joint.push_back({&c.op, place});
  } else if (const Joint& other = joint[c.self.together]; !(other == Joint{&c.op, place})) {
    return Fail(
        c, DiagnosticKind::kCertificateBarrier,
        fmt::format("`{}` {} where other instances do not: all must execute it, in one order", c.agent.name, Doing(kernel_, c.op)),
        {{other.op->span, fmt::format("where another one {}", Doing(kernel_, *other.op))}});
  }
  ++c.self.together;
  // What all have behind them is over with.
  size_t least = joint.size();
  for (size_t i = 0; i < program_.agents.size(); ++i) {
    if (IsTogether(program_.agents[i], c.agent)) least = std::min(least, c.state.agents[i].together);
  }
  if (least == 0) return true;
  joint.erase(joint.begin(), joint.begin() + static_cast<std::ptrdiff_t>(least));
  for (size_t i = 0; i < program_.agents.size(); ++i) {
    if (IsTogether(program_.agents[i], c.agent)) c.state.agents[i].together -= least;
  }
  return true;
}

/// The tensor that all threads of the block copy from: its number among these, and one.
int Machine::Dealt(const ir::Op& copy) const {
  const auto tensor = std::find(copied_tensors_.begin(), copied_tensors_.end(), copy.symbol);
  return static_cast<int>(tensor - copied_tensors_.begin()) + 1;
}

/// Ordinary loads and stores by all threads of the block.
bool Machine::CopyTogether(Context& c) {
  const Access& access = c.step.accesses[0];
  return Together(c, c.self.roots[static_cast<size_t>(access.root)]) &&
         AccessView(c, {access, true, false, Shares(c), nullptr, Dealt(c.op)});
}

/// A slot is filled once in each turn: twice means that its ring did not go on.
bool Machine::FillsAnew(Context& c, const Access& access) {
  const int place = c.self.roots[static_cast<size_t>(access.root)];
  const bool is_first = c.self.together == c.state.joint[JointOf(c.agent)].size();
  if (!IsCounted(place) || !is_first || !HoldsTurn(c, access, true) || !IsWritten(c.state, place, access.rect)) return true;
  const std::string& buffer = BufferOf(place).name;
  return Fail(c, DiagnosticKind::kCertificateHazard,
              fmt::format("`{}` fills a slot of `{}` twice in one turn", c.agent.name, buffer));
}

bool Machine::CopyAsync(Context& c) {
  const Access& access = c.step.accesses[0];
  if (!FillsAnew(c, access)) return false;
  if (!Together(c, c.self.roots[static_cast<size_t>(access.root)])) return false;
  CopyGroup& group = c.self.open_copies;
  if (!AccessView(c, {access, true, true, Shares(c), &group.writes, Dealt(c.op)})) return false;
  if (!program_.counts_instructions) return true;
  // Each instruction of a wave copies a piece for each of its lanes. What is not made of whole ones goes by ordinary stores.
  // Where it goes by these although it is, as the tensor lies, all that was issued before is complete behind it: to count it is
  // safe.
  const Place& place = places_[static_cast<size_t>(c.self.roots[static_cast<size_t>(access.root)])];
  const int64_t bytes = kernel_.buffers[static_cast<size_t>(place.buffer)].TileBytes(),
                round = int64_t{program_.copy_bytes} * c.agent.worker->instances * ir::kWarpsOfInstance * program_.lanes;
  group.instructions = bytes % round == 0 ? bytes / round : 0;
  if (group.instructions > 0) {
    c.self.copies.push_back(std::move(group));
  } else {
    for (const auto& [warp, event] : group.writes) c.state.knowledge.Learn(warp, event);
  }
  group = {};
  return true;
}

void Machine::CommitCopies(Context& c) {
  if (program_.counts_instructions) return;  // no groups
  if (!c.self.open_copies.writes.empty()) filled.insert(&c.op);
  c.self.copies.push_back(std::move(c.self.open_copies));
  c.self.open_copies = {};
}

/// Copies of a thread are over in the order in which it issued them, for the thread itself.
void Machine::WaitCopies(Context& c) const {
  std::vector<CopyGroup>& copies = c.self.copies;
  const int64_t unfinished = c.op.Unfinished() + (loosened_ && &c.op == loosened_->wait);
  size_t kept = 0;
  for (int64_t newer = 0; kept < copies.size() && newer < unfinished; ++kept)
    newer += program_.counts_instructions ? copies[copies.size() - 1 - kept].instructions : 1;
  const auto end = copies.end() - static_cast<std::ptrdiff_t>(kept);
  for (auto group = copies.begin(); group != end; ++group) {
    for (const auto& [warp, event] : group->writes) c.state.knowledge.Learn(warp, event);
  }
  copies.erase(copies.begin(), end);
}

/// Who names the present slot of a ring receives it: no copy of his own into it is unfinished.
bool Machine::IsReceived(Context& c) {
  const bool is_receive = !c.op.Slot().empty() && ir::PlaceOfSlot(c.op.Slot()).where == ir::SlotPlace::Where::kPresent;
  const int place = c.self.roots[static_cast<size_t>(c.step.root)];
  if (!is_receive) return true;
  for (const Record& record : c.state.records.Of(place)) {
    const bool is_copy = record.agent == c.number && record.is_async && !record.by_engine;
    if (!is_copy || c.state.knowledge.Knows(record.warp, record.event)) continue;
    if (!loosened_)
      early.insert(&c.op);
    else if (loosened_->early->count(&c.op) == 0)
      return Fail(c, DiagnosticKind::kCertificateHazard, "received before it is complete");
  }
  return true;
}

bool Machine::EndCopies(Context& c) {
  if (c.self.copies.empty() && c.self.open_copies.writes.empty()) return true;
  return Fail(c, DiagnosticKind::kCertificateHazard,
              fmt::format("`{}` ends while copies that it has issued may still be under way", c.agent.name));
}

/// Views that a loop's body makes are gone with the iteration; what was copied ahead for more iterations is not what comes next.
void Machine::EndIteration(Context& c, const Loop& loop, bool is_last) {
  for (int root = loop.first_root; root < loop.end_root; ++root) {
    c.self.roots[static_cast<size_t>(root)] = -1;
    c.self.turns[static_cast<size_t>(root)] = {};
  }
  for (const int ring : loop.counters) c.self.rings[static_cast<size_t>(ring)] += !is_last;
  if (!is_last) return;
  for (const int ring : loop.rings) {
    const auto& barriers = program_.ring_of_barrier;
    const std::string& name = c.agent.rings[static_cast<size_t>(ring)].name;
    if (std::find(barriers.begin(), barriers.end(), name) == barriers.end()) ++c.self.loops[static_cast<size_t>(ring)];
  }
}

}  // namespace tkc::certify

// SPDX-License-Identifier: MIT
// Accesses to shared memory: each must be ordered behind all that it conflicts with, and ordinary stores that the copy engine or
// the matrix unit sees must lie behind a fence of who stored.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/certify/machine.h"
#include "compiler/certify/scene.h"
#include "compiler/ir/op_traits.h"

namespace tkc::certify {

int Machine::PlaceOf(const Context& c, int block, int buffer, int64_t index) const {
  const ir::Buffer& declared = kernel_.buffers[static_cast<size_t>(buffer)];
  const int64_t set = declared.instances > 1 ? c.agent.instance : 0;
  return place_base_[static_cast<size_t>(block) * kernel_.buffers.size() + static_cast<size_t>(buffer)] +
         static_cast<int>(set * declared.count + index);
}

bool Machine::SharesRoom(int place) const {
  return !sharing_buffers_[static_cast<size_t>(places_[static_cast<size_t>(place)].buffer)].empty();
}

int64_t Machine::OffsetOf(const Place& place) const {
  const ir::Buffer& buffer = kernel_.buffers[static_cast<size_t>(place.buffer)];
  return buffer.offset + (place.set * buffer.count + place.index) * buffer.PlacedTileBytes();
}

bool Machine::OverlapInRoom(int place, int other) const {
  const Place &a = places_[static_cast<size_t>(place)], &b = places_[static_cast<size_t>(other)];
  const std::vector<int>& sharing = sharing_buffers_[static_cast<size_t>(a.buffer)];
  if (a.block != b.block || std::find(sharing.begin(), sharing.end(), b.buffer) == sharing.end()) return false;
  return OffsetOf(a) < OffsetOf(b) + kernel_.buffers[static_cast<size_t>(b.buffer)].PlacedTileBytes() &&
         OffsetOf(b) < OffsetOf(a) + kernel_.buffers[static_cast<size_t>(a.buffer)].PlacedTileBytes();
}

void Machine::Overwrite(State& state, int place) const {
  if (!SharesRoom(place)) return;
  for (size_t other = 0; other < places_.size(); ++other) {
    if (OverlapInRoom(place, static_cast<int>(other))) state.written[other].clear();
  }
}

namespace {

/// Whether the rectangles cover `rect`: what one of them leaves is looked for in the others.
bool Cover(const std::vector<Rect>& rects, const Rect& rect, size_t from = 0) {
  if (rect.r0 >= rect.r1 || rect.c0 >= rect.c1) return true;
  while (from < rects.size() && !rects[from].Overlaps(rect)) ++from;
  if (from == rects.size()) return false;
  if (rects[from].Covers(rect)) return true;
  const Rect& by = rects[from];
  const int64_t r0 = std::max(rect.r0, by.r0), r1 = std::min(rect.r1, by.r1);
  return Cover(rects, {rect.r0, r0, rect.c0, rect.c1}, from + 1) && Cover(rects, {r1, rect.r1, rect.c0, rect.c1}, from + 1) &&
         Cover(rects, {r0, r1, rect.c0, std::max(rect.c0, by.c0)}, from + 1) &&
         Cover(rects, {r0, r1, std::min(rect.c1, by.c1), rect.c1}, from + 1);
}

}  // namespace

bool Machine::IsWritten(const State& state, int place, const Rect& rect) const {
  return Cover(state.written[static_cast<size_t>(place)], rect);
}

/// The turn that an access through a view wants, and whether the slot holds it.
bool Machine::HoldsTurn(const Context& c, const Access& access, bool writes, Turn* turn) const {
  Turn wanted = c.self.turns[static_cast<size_t>(access.root)];
  if (writes) wanted.position += c.agent.leads[static_cast<size_t>(access.root)];
  if (turn) *turn = wanted;
  return c.state.contents[static_cast<size_t>(c.self.roots[static_cast<size_t>(access.root)])] == wanted;
}

bool Machine::AccessView(Context& c, const Use& use) {
  const int place = c.self.roots[static_cast<size_t>(use.access.root)];
  if (!IsCounted(place)) return AccessShared(c, place, use);
  Turn wanted;
  const bool holds = HoldsTurn(c, use.access, use.writes, &wanted);
  Turn& held = c.state.contents[static_cast<size_t>(place)];
  if (use.writes && !holds) {
    c.state.written[static_cast<size_t>(place)].clear();
    held = wanted;
    for (Record& record : c.state.records.Of(place)) record.dealt = 0;
  }
  if (!AccessShared(c, place, use)) return false;
  if (held == wanted) return true;
  const std::string& buffer = BufferOf(place).name;
  const int64_t apart = std::abs(held.position - wanted.position);
  return Fail(c, DiagnosticKind::kCertificateHazard,
              held.loops != wanted.loops
                  ? fmt::format("`{}` reads a slot of `{}` that was last filled for a loop that has ended", c.agent.name, buffer)
                  : fmt::format("`{}` reads a slot of `{}` that holds what was meant for {} turn{} {}", c.agent.name, buffer, apart,
                                apart == 1 ? "" : "s", held.position < wanted.position ? "before" : "later"));
}

/// Threads that copy one tile together write pieces of their own; which, is another question for another copy.
bool Machine::IsApart(const Record& record, int place, const Use& use, int warp) {
  return use.dealt != 0 && record.dealt == use.dealt && record.place == place && record.is_async == use.is_async &&
         record.warp != warp && record.rect == use.access.rect;
}

Machine::Gap Machine::GapTo(const Context& c, int place, const Use& use, const Record& record) {
  const Knowledge& knowledge = c.state.knowledge;
  for (const Share& share : use.shares) {
    if (IsApart(record, place, use, share.warp)) continue;
    if (!knowledge.Knows(share.warp, record.event)) return Gap::kMayBeUnderWay;
    if (use.ByEngine() && !record.by_engine && !knowledge.KnowsFenced(share.warp, record.event)) return Gap::kNotFenced;
  }
  return Gap::kNone;
}

bool Machine::IsBehind(const Context& c, int place, const Use& use, const Record& record) {
  const Gap gap = GapTo(c, place, use, record);
  return gap == Gap::kNone || FailBy(gap, c, place, use, record);
}

bool Machine::FailBy(Gap gap, const Context& c, int place, const Use& use, const Record& record) {
  const std::string& buffer = BufferOf(place).name;
  const std::string& other = program_.agents[static_cast<size_t>(record.agent)].name;
  std::vector<std::pair<Span, std::string>> notes = {
      {record.op->span, fmt::format("`{}` {} here", other, Doing(kernel_, *record.op))}};
  if (gap == Gap::kNotFenced)
    return Fail(c, DiagnosticKind::kCertificateProxy,
                fmt::format("no fence lies between the {} of `{}` {} `{}` and what {} here", record.writes ? "stores" : "loads",
                            other, record.writes ? "to" : "from", buffer,
                            c.op.code == ir::OpCode::kMma ? "the matrix unit reads" : "the copy engine does"),
                std::move(notes));
  const std::string who = record.agent != c.number ? fmt::format("`{}`", other)
                          : record.is_async        ? fmt::format("an earlier operation of `{}`", other)
                                                   : fmt::format("another warp of `{}`", other);
  return Fail(c, DiagnosticKind::kCertificateHazard,
              fmt::format("`{}` {} a tile of `{}` that {} may still be {}", c.agent.name, use.writes ? "writes" : "reads", buffer,
                          who, record.writes ? "writing" : "reading"),
              std::move(notes));
}

/// What is read has been written; what is written holds something from here on, and tiles over which it lies nothing.
bool Machine::NoteWritten(Context& c, int place, const Use& use) {
  const Rect& rect = use.access.rect;
  std::vector<Rect>& written = c.state.written[static_cast<size_t>(place)];
  if (!use.writes) {
    return Cover(written, rect) ||
           Fail(c, DiagnosticKind::kCertificateHazard,
                fmt::format("`{}` reads a tile of `{}` that nobody has written", c.agent.name, BufferOf(place).name));
  }
  if (use.access.is_exact && !Cover(written, rect)) {
    std::erase_if(written, [&](const Rect& r) { return rect.Covers(r); });
    written.push_back(rect);
    const Rect whole{0, BufferOf(place).rows, 0, BufferOf(place).cols};
    if (Cover(written, whole)) written = {whole};
  }
  Overwrite(c.state, place);
  return true;
}

/// What comes behind this access comes behind those before it, too.
void Machine::DropSuperseded(State& state, int place, const Use& use) const {
  const auto is_superseded = [&](const Record& record) {
    if (!use.access.rect.Covers(record.rect)) return false;
    if (use.writes && use.dealt == 0) return true;
    const auto is_its_warp = [&](const Share& share) { return share.warp == record.warp; };
    const bool is_own = std::any_of(use.shares.begin(), use.shares.end(), is_its_warp);
    if (use.writes) return is_own || !IsApart(record, place, use, use.shares[0].warp);
    return is_own && !record.writes && record.is_async == use.is_async && state.knowledge.Knows(record.warp, record.event);
  };
  std::erase_if(state.records.Of(place), [&](const Record& record) {
    if (!is_superseded(record)) return false;
    state.knowledge.Free(record.event);
    return true;
  });
}

bool Machine::AccessShared(Context& c, int place, const Use& use) {
  const Rect& rect = use.access.rect;
  const auto is_ordered = [&](const Record& record) { return (!use.writes && !record.writes) || IsBehind(c, place, use, record); };
  const auto is_behind = [&](const Record& record) { return !record.rect.Overlaps(rect) || is_ordered(record); };
  const auto is_behind_other = [&](const Record& record) { return !OverlapInRoom(place, record.place) || is_ordered(record); };
  const auto are_behind_other = [&](const std::vector<Record>& there) { return std::ranges::all_of(there, is_behind_other); };
  if (!std::ranges::all_of(c.state.records.Of(place), is_behind)) return false;
  if (SharesRoom(place) && !std::ranges::all_of(c.state.records.OfPlaces(), are_behind_other)) return false;
  if (!NoteWritten(c, place, use)) return false;
  DropSuperseded(c.state, place, use);
  Knowledge& knowledge = c.state.knowledge;
  for (const Share& share : use.shares) {
    Record record{place,          share.warp, c.number, use.writes,           use.is_async,
                  use.ByEngine(), use.dealt,  rect,     knowledge.NewEvent(), &c.op};
    if (!use.is_async) knowledge.Learn(share.warp, record.event);
    if (use.events) use.events->emplace_back(share.warp, record.event);
    c.state.records.Add(record);
  }
  return true;
}

/// Reductions over several warps leave a partial result of each warp in the scratch: meet, write, meet, read.
bool Machine::Reduce(Context& c) {
  if (c.step.buffer < 0 || !ir::SpansWarps(c.op, c.agent.worker->layout)) return true;
  const ir::Buffer& buffer = kernel_.buffers[static_cast<size_t>(c.step.buffer)];
  const int place = PlaceOf(c, c.agent.block, c.step.buffer, 0);
  const Rect whole{0, buffer.rows, 0, buffer.cols};
  return SyncGroup(c) && AccessShared(c, place, {{-1, whole}, true, false, Shares(c)}) && SyncGroup(c) &&
         AccessShared(c, place, {{-1, whole}, false, false, Shares(c)});
}

/// Reads what the other blocks have sent.
bool Machine::Collect(Context& c) {
  const ir::Buffer& buffer = kernel_.buffers[static_cast<size_t>(c.step.buffer)];
  return AccessShared(c, PlaceOf(c, c.agent.block, c.step.buffer, 0),
                      {{-1, {0, buffer.rows, 0, buffer.cols}}, false, false, Shares(c)});
}

}  // namespace tkc::certify

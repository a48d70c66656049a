// SPDX-License-Identifier: MIT
// Pictures of the pipes. A pipe with barriers has an arrow for full slots and one for those that go back; of one whose slots
// threads fill and read by turns, meeting in between, the picture says by which function they are filled and how far that runs
// ahead.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "compiler/codegen/describe.h"
#include "compiler/ir/queries.h"

namespace tkc::codegen {
namespace {

using ir::OpCode;

/// What the roles do to a pipe with barriers, found in their operations.
struct Traffic {
  std::vector<const ir::Worker*> senders, receivers;
  std::string full, empty;      // barriers
  int64_t bytes = 0;            // announced for a slot; 0: written by threads
  bool is_exchanged = false;    // between the blocks of a cluster
  bool of_first_block = false;  // of the cluster, which fills the slots of all
};

void AddOnce(std::vector<const ir::Worker*>& list, const ir::Worker& role) {
  if (list.empty() || list.back() != &role) list.push_back(&role);
}

/// Pipes by the rings that name their slots: where a role fills and reads slots of one, it has a second ring.
using PipesOfRings = std::map<std::string, std::string>;

void CollectReceivers(const ir::Worker& role, PipesOfRings& rings, std::map<std::string, Traffic>& traffic) {
  ir::ForEachOp(role.body, [&](const ir::Op& op) {
    if (op.code == OpCode::kRing) rings[op.symbol] = op.PipeOfRing();
    if (op.code != OpCode::kWaitFull) return;
    Traffic& pipe = traffic[ir::RingOf(op.Slot())];
    AddOnce(pipe.receivers, role);
    pipe.full = op.symbol;
  });
}

/// Who waits for empty slots, or makes full ones: by copies that it announces, or by stores of its own.
void CollectSenders(const ir::Worker& role, const PipesOfRings& rings, std::map<std::string, Traffic>& traffic) {
  ir::ForEachOp(role.body, [&](const ir::Op& op) {
    const std::string name = ir::RingOf(op.SlotIfAny());
    const auto ring = rings.find(name);
    const auto found = traffic.find(ring == rings.end() ? name : ring->second);
    if (found == traffic.end()) return;
    Traffic& pipe = found->second;
    const bool computes = role.Computes();
    switch (op.code) {
      case OpCode::kWaitEmpty:
        AddOnce(pipe.senders, role);
        pipe.empty = op.symbol;
        break;
      case OpCode::kStoreCluster:
        AddOnce(pipe.senders, role);
        pipe.is_exchanged = true;
        break;
      case OpCode::kPutTileCluster: pipe.of_first_block = true; break;
      case OpCode::kArrive:
        if (op.symbol == pipe.full) AddOnce(pipe.senders, role);
        break;
      case OpCode::kExpect:
        // Where the instances that receive announce what comes, each announces its share; of a tile's number one announces all.
        if (!computes) AddOnce(pipe.senders, role);
        pipe.bytes = op.Bytes() * (computes && !pipe.of_first_block ? role.instances : 1);
        break;
      default: break;
    }
  });
}

std::map<std::string, Traffic> TrafficOf(const ir::Kernel& kernel) {
  std::map<std::string, Traffic> traffic;
  PipesOfRings rings;
  for (const ir::Worker& role : kernel.workers) CollectReceivers(role, rings, traffic);
  for (const ir::Worker& role : kernel.workers) CollectSenders(role, rings, traffic);
  return traffic;
}

int64_t Arrivals(const ir::Kernel& kernel, const std::string& name) {
  for (const ir::Barrier& barrier : kernel.barriers) {
    if (barrier.name == name) return barrier.arrivals;
  }
  return 0;
}

std::string SlotBoxes(int64_t slots) {
  std::string text = "[ 0";
  for (int64_t i = 1; i < slots; ++i) {
    if (slots > 8 && i == 3) {
      text += " | ...";
      i = slots - 1;
    }
    text += fmt::format(" | {}", i);
  }
  return text + " ]";
}

std::string TitleOf(const ir::Pipe& pipe) {
  if (pipe.rings > 1) return fmt::format("Pipe `{}`, one for each instance of `{}`", pipe.name, pipe.per_worker);
  if (!pipe.ring_of.empty() && pipe.part_of.empty())
    return fmt::format("Pipe `{}` (of `{}`, for one instance)", pipe.name, pipe.ring_of);
  if (!pipe.fields_of.empty())
    return fmt::format("Pipe `{}` (of `{}`, whose fields go back one by one)", pipe.name, pipe.fields_of);
  if (pipe.part_of.empty() || pipe.part_of == pipe.name) return fmt::format("Pipe `{}`", pipe.name);
  return fmt::format("Pipe `{}` (values of `{}` held beside others)", pipe.name, pipe.part_of);
}

/// Senders above the left end, receivers above the right end of two arrows: full slots go one way, empty ones, if any, the other.
void DrawPipe(const ir::Kernel& kernel, const ir::Pipe& pipe, const Traffic& traffic, std::vector<std::string>& lines) {
  const std::string whose = traffic.of_first_block ? " of the first block" : traffic.is_exchanged ? " of all blocks" : "";
  lines.push_back(fmt::format("{}, {}{}. A slot is written {} and read when it is full:", TitleOf(pipe), Plural(pipe.slots, "slot"),
                              whose.empty() ? "" : " in each block", traffic.empty.empty() ? "once" : "when it is empty"));
  const std::string from = RoleNames(traffic.senders) + whose, to = RoleNames(traffic.receivers), boxes = SlotBoxes(pipe.slots);
  std::string full = fmt::format("{}: {}", traffic.full, Plural(Arrivals(kernel, traffic.full), "arrival"));
  if (traffic.bytes > 0) full += fmt::format(" and {} bytes", traffic.bytes);
  const std::string empty =
      traffic.empty.empty() ? "" : fmt::format("{}: {}", traffic.empty, Plural(Arrivals(kernel, traffic.empty), "arrival"));
  const size_t label = std::max(full.size(), empty.size());
  // The receivers' name starts where the arrow that comes back starts.
  const size_t between = std::max({boxes.size() + 12, label + 6});
  const size_t dashes = between - boxes.size() - 4;
  lines.push_back(
      fmt::format("  {} {}> {} {}> {}", from, std::string(dashes / 2, '-'), boxes, std::string(dashes - dashes / 2 - 2, '-'), to));
  const std::string lead(from.size() / 2 + 2, ' ');
  const size_t inner = from.size() - from.size() / 2 + between - 1;
  if (traffic.empty.empty()) return lines.push_back(fmt::format("{}^  {}", lead, full));  // no slot goes back
  lines.push_back(fmt::format("{}^  {:<{}}|", lead, full, inner - 2));
  const std::string dash(inner > empty.size() + 4 ? inner - empty.size() - 4 : 1, '-');
  lines.push_back(fmt::format("{}+- {} {}-+", lead, empty, dash));
}

/// What threads do to a pipe without barriers: by which functions it is filled, and how many copies run ahead of the reads.
struct FoldedTraffic {
  std::string filled_by;
  std::vector<const ir::Worker*> senders, receivers;  // senders: who stores tiles of its own; else copies come from global memory
  int64_t ahead = 0;
};

/// The name of what fills a slot, its first operand; "" for other operations.
std::string FilledBy(const ir::Op& op) {
  switch (op.code) {
    case OpCode::kCopyAsync: return op.Is(ir::kInPieces) ? "copy_pieces" : "copy_async";
    case OpCode::kCopyToShared: return op.operands.size() == 2 ? "fetch, put" : "copy_global_to_shared";
    case OpCode::kStoreShared: return "store_shared";
    default: return "";
  }
}

class FoldedPipes {
 public:
  explicit FoldedPipes(const ir::Kernel& kernel) : kernel_(kernel) {
    for (const ir::Worker& role : kernel.workers) Collect(role, role.body);
  }
  const FoldedTraffic& Of(const ir::Pipe& pipe) { return traffic_[pipe.name]; }

 private:
  void Collect(const ir::Worker& role, const ir::Region& region) {
    std::map<std::string, int64_t> turns;  // of rings, still to come here
    for (const ir::Op& op : region) turns[op.symbol] += op.code == OpCode::kAdvance;
    std::set<std::string> turned;  // those that will not turn here again
    for (const ir::Op& op : region) {
      switch (op.code) {
        case OpCode::kAdvance:
          if (--turns[op.symbol] == 0) turned.insert(op.symbol);
          break;
        case OpCode::kView: View(op, turned); break;
        case OpCode::kPart:
        case OpCode::kTranspose:
          if (const auto ring = rings_.find(op.operands[0]); ring != rings_.end()) rings_.emplace(op.results[0], ring->second);
          break;
        default: Access(role, op);
      }
      for (const ir::Region& inner : op.regions) Collect(role, inner);
    }
  }

  void View(const ir::Op& op, const std::set<std::string>& turned) {
    if (op.Slot().empty()) return;
    const ir::SlotPlace place = ir::PlaceOfSlot(op.Slot());
    const std::string& ring = place.ring;
    rings_.emplace(op.results[0], ring);
    if (place.where != ir::SlotPlace::Where::kPrevious) return;
    for (const ir::Pipe& pipe : kernel_.pipes) {
      if (pipe.name == ring) traffic_[ring].ahead = pipe.slots - (turned.contains(ring) ? 0 : 1);
    }
  }

  void Access(const ir::Worker& role, const ir::Op& op) {
    const std::string filled_by = FilledBy(op);
    for (size_t i = 0; i < op.operands.size(); ++i) {
      const auto ring = rings_.find(op.operands[i]);
      if (ring == rings_.end()) continue;
      FoldedTraffic& traffic = traffic_[ring->second];
      if (filled_by.empty() || i > 0) {
        AddOnce(traffic.receivers, role);
        continue;
      }
      traffic.filled_by = filled_by;
      if (op.code == OpCode::kStoreShared) AddOnce(traffic.senders, role);
    }
  }

  const ir::Kernel& kernel_;
  std::map<ir::ValueId, std::string> rings_;  // of slots and parts of them
  std::map<std::string, FoldedTraffic> traffic_;
};

/// What fills slots on the left, who reads them on the right.
void DrawFoldedPipe(const ir::Pipe& pipe, const FoldedTraffic& traffic, std::vector<std::string>& lines) {
  const std::string ahead =
      traffic.ahead > 0 ? fmt::format("; copies run {} ahead of the loop that reads", Plural(traffic.ahead, "block")) : "";
  lines.push_back(fmt::format("{}, {}{}:", TitleOf(pipe), Plural(pipe.slots, "slot"), ahead));
  const std::string from = traffic.senders.empty() ? "global memory" : RoleNames(traffic.senders);
  const std::string arrow = fmt::format("  {} --- {} ---> ", from, traffic.filled_by);
  lines.push_back(fmt::format("{}{} ----> {}", arrow, SlotBoxes(pipe.slots), RoleNames(traffic.receivers)));
  // Where in the ring the two ends of one iteration are.
  const std::string_view turns = traffic.ahead > 0
                                     ? "wait for the slot, synchronise, read; the next copies go into the slot before it"
                                 : !traffic.senders.empty() ? "write, synchronise, read"
                                                            : "";
  if (!turns.empty()) lines.push_back(fmt::format("{}^ {}", std::string(arrow.size(), ' '), turns));
}

}  // namespace

std::string Plural(int64_t count, std::string_view what) { return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"); }

std::string RoleNames(const std::vector<const ir::Worker*>& roles) {
  std::string text;
  for (const ir::Worker* role : roles) {
    text += (text.empty() ? "" : ", ") + role->SourceName();
    if (role->instances > 1) text += fmt::format("[0..{}]", role->instances - 1);
  }
  return text.empty() ? "?" : text;
}

void DescribePipes(const ir::Kernel& kernel, std::vector<std::string>& lines) {
  const std::map<std::string, Traffic> barriers = TrafficOf(kernel);
  FoldedPipes folded(kernel);
  for (const ir::Pipe& pipe : kernel.pipes) {
    const auto found = barriers.find(pipe.name);
    if (found == barriers.end() && folded.Of(pipe).receivers.empty()) continue;
    lines.push_back("");
    if (found != barriers.end())
      DrawPipe(kernel, pipe, found->second, lines);
    else
      DrawFoldedPipe(pipe, folded.Of(pipe), lines);
  }
}

}  // namespace tkc::codegen

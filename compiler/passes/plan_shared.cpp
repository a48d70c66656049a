// SPDX-License-Identifier: MIT
#include "compiler/passes/plan_shared.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "compiler/ir/queries.h"
#include "compiler/passes/live_tiles.h"
#include "compiler/passes/meetings.h"
#include "compiler/passes/register_shares.h"
#include "compiler/passes/sent_slots.h"
#include "compiler/passes/share_room.h"
#include "compiler/passes/shared_room.h"
#include "compiler/support/internal_error.h"

namespace tkc::passes {
namespace {

/// How many slots of a pipe a worker fills, or a part of each: so many, and without end where a loop does.
struct Sends {
  int64_t outside_loops = 0;
  bool in_loop = false;
};

/// Of each pipe what the one of both that fills more does.
void Join(std::map<std::string, Sends>& all, const std::map<std::string, Sends>& other) {
  for (const auto& [pipe, own] : other) {
    Sends& sends = all[pipe];
    sends.outside_loops = std::max(sends.outside_loops, own.outside_loops);
    sends.in_loop |= own.in_loop;
  }
}

/// `only_each_time`: what a loop sends in a branch only, or for one instance, does not count as sent by a loop.
void CountSends(const ir::Region& region, bool in_loop, bool only_each_time, std::map<std::string, Sends>& sends) {
  for (size_t i = 0; i < region.size(); ++i) {
    const ir::Op& op = region[i];
    if (op.code == ir::OpCode::kSend && in_loop) sends[op.symbol].in_loop = true;
    if (op.code == ir::OpCode::kSend && !in_loop && ClosesSlot(region, i)) ++sends[op.symbol].outside_loops;
    if (op.regions.empty()) continue;
    // Of branches one is taken.
    const std::map<std::string, Sends> before = sends;
    for (const ir::Region& inner : op.regions) {
      std::map<std::string, Sends> with = before;
      const bool is_loop = op.code == ir::OpCode::kFor && !IsOverInstances(op);
      CountSends(inner, is_loop || (in_loop && !only_each_time), only_each_time, with);
      Join(sends, with);
    }
  }
}

/// A pipe needs no more slots than are filled before the first one is given back: ahead of who reads them. Loops fill as many as
/// there are; what is sent elsewhere is counted. Where copies are folded, only those in each iteration of a loop run ahead, and
/// workers that another one receives from; what is filled elsewhere has been read before it is filled again.
void FixSlotsOutsideLoops(ir::Kernel& kernel, const Target& target) {
  if (WalksOverTiles(kernel) && !target.folds_copies) return;
  const std::set<std::string> channels = target.folds_copies ? Channels(kernel) : std::set<std::string>{};
  std::map<std::string, Sends> ahead;
  for (const ir::Worker& worker : kernel.workers) {
    std::map<std::string, Sends> sends;
    CountSends(worker.body, false, target.folds_copies, sends);
    for (const auto& [pipe, own] : sends) {
      const bool runs_ahead = !target.folds_copies || !worker.Computes() || channels.contains(pipe);
      ahead[pipe].in_loop |= own.in_loop && runs_ahead;
      if (!target.folds_copies) ahead[pipe].outside_loops = std::max(ahead[pipe].outside_loops, own.outside_loops);
    }
  }
  for (ir::Pipe& pipe : kernel.pipes) {
    const auto sends = ahead.find(pipe.name);
    const bool is_open = pipe.slots == 0 && sends != ahead.end() && !sends->second.in_loop;
    if (is_open) pipe.slots = std::max(pipe.least_slots, sends->second.outside_loops);
  }
}

/// Of blocks that walk over tiles: what a pipe is filled with for a tile, and once more, so that the next tile's is on its way.
/// More would be taken from pipes that loops fill, or bring nothing sooner. None where there is no such pipe.
std::map<std::string, int64_t> SlotsByTile(const ir::Kernel& kernel, const Target& target) {
  if (!WalksOverTiles(kernel) || target.folds_copies) return {};
  std::map<std::string, Sends> all;
  int64_t at_once = 1;  // tiles that instances work on
  for (const ir::Worker& worker : kernel.workers) {
    std::map<std::string, Sends> sends;
    CountSends(worker.body, false, false, sends);
    Join(all, sends);
    if (worker.in_turn) at_once = std::max<int64_t>(at_once, worker.instances);
  }
  if (std::ranges::none_of(kernel.pipes, [&](const ir::Pipe& pipe) { return all[pipe.name].in_loop; })) return {};
  std::map<std::string, int64_t> slots;
  for (const ir::Pipe& pipe : kernel.pipes) {
    const Sends& sends = all[pipe.name];
    if (!sends.in_loop && sends.outside_loops > 0) slots[pipe.name] = sends.outside_loops * (at_once + 1);
  }
  return slots;
}

/// The shared memory that slots may fill: all of a block's, or where registers allow two blocks on a multiprocessor and half of its
/// memory still holds a pipeline, that half. Two blocks hide each other's waits at barriers.
int64_t BytesForSlots(const ir::Kernel& kernel, const Target& target, int64_t fixed, int64_t slot_bytes) {
  constexpr int64_t kWorthwhileSlots = 3;  // in flight, in use, and one more for the time that they do not take alike
  if (!target.folds_copies || kernel.resident > 0) return SharedLimit(kernel, target);
  for (const ir::Worker& worker : kernel.workers) {
    if (!worker.Computes()) continue;
    const int64_t registers = MostLiveRegisters(kernel, worker) + target.beside_tiles.for_addresses;
    if (registers * kernel.threads * 2 > target.registers.file) return target.shared_memory_per_block;
  }
  const int64_t half = target.SharedMemoryOfEach(2);
  return half - fixed >= kWorthwhileSlots * slot_bytes ? half : target.shared_memory_per_block;
}

/// As many blocks as the schedule asks for, if a multiprocessor has threads for them, and registers where loads under way take some
/// beside the tiles that they fill: blocks of which fewer are promised still share a multiprocessor if they turn out to be small.
int ResidentBlocks(const ir::Kernel& kernel, const Target& target) {
  int64_t blocks = target.threads_per_processor / kernel.threads;
  for (const ir::Worker& worker : kernel.workers) {
    if (!target.loads_tiles_whole || !worker.Computes()) continue;
    const int64_t needed = MostKeptTiles(kernel, worker).registers + MostLiveRegisters(kernel, worker) +
                           target.beside_tiles.for_addresses + target.beside_tiles.for_whole_loads;
    blocks = std::min(blocks, target.registers.file / (kernel.threads * needed));
  }
  return static_cast<int>(std::clamp<int64_t>(blocks, 1, kernel.resident));
}

/// Slots for the pipes that are open, in shares of equal counts, and the slots' places in the buffers of the fields. `fixed`: bytes
/// of all that is no slot.
void GiveSlots(ir::Kernel& kernel, const Target& target, int64_t fixed) {
  int64_t open_slot_bytes = 0;
  for (const ir::Pipe& pipe : kernel.pipes) {
    if (!target.folds_copies) fixed += kBarriersOfSlot * int64_t{target.most_slots} * pipe.rings * ir::kBarrierBytes;
    (pipe.slots == 0 ? open_slot_bytes : fixed) += PlacedSlotBytes(kernel, pipe) * std::max<int64_t>(pipe.slots, 1);
  }
  const auto share = [&](const ir::Pipe& pipe) {
    Ensure(open_slot_bytes > 0, "a pipe whose slots hold nothing", pipe.span);
    return std::clamp<int64_t>((BytesForSlots(kernel, target, fixed, open_slot_bytes) - fixed) / open_slot_bytes, pipe.least_slots,
                               std::max<int64_t>(pipe.least_slots, target.most_slots));
  };
  for (const auto& [name, slots] : SlotsByTile(kernel, target)) {
    ir::Pipe& pipe = FindPipe(kernel, name);
    if (pipe.slots != 0) continue;
    pipe.slots = std::max<int64_t>(pipe.least_slots, std::min(slots, share(pipe)));  // what others can't share out is left to loops
    open_slot_bytes -= PlacedSlotBytes(kernel, pipe);
    fixed += PlacedSlotBytes(kernel, pipe) * pipe.slots;
  }
  for (ir::Pipe& pipe : kernel.pipes) {
    if (pipe.slots == 0) pipe.slots = share(pipe);
    for (size_t i = 0; i < pipe.fields.size(); ++i) {
      for (ir::Buffer& buffer : kernel.buffers) {
        if (buffer.name == FieldBuffer(pipe, i)) buffer.count = pipe.slots;
      }
    }
  }
}

/// Each buffer behind the one before. Returns where the last one ends.
int64_t PlaceInOrder(std::vector<ir::Buffer>& buffers) {
  int64_t end = 0;
  for (ir::Buffer& buffer : buffers) {
    buffer.offset = RoundUp(end, buffer.Alignment());
    end = buffer.offset + buffer.PlacedBytes();
  }
  return end;
}

/// Those without a pattern last: they want the least alignment. Tiles with one stay in the order in which they were made, so that a
/// reader meets the fields of a pipe as the pipe names them, or where that leaves gaps those that want the most alignment come
/// first.
int64_t PlaceBuffers(ir::Kernel& kernel) {
  const auto is_plain = [](const ir::Buffer& buffer) { return buffer.swizzle == ir::Swizzle::kNone; };
  std::stable_sort(kernel.buffers.begin(), kernel.buffers.end(),
                   [&](const ir::Buffer& a, const ir::Buffer& b) { return is_plain(a) < is_plain(b); });
  std::vector<ir::Buffer> aligned = kernel.buffers;
  std::stable_sort(aligned.begin(), aligned.end(),
                   [](const ir::Buffer& a, const ir::Buffer& b) { return a.Alignment() > b.Alignment(); });
  const int64_t end = PlaceInOrder(kernel.buffers), end_aligned = PlaceInOrder(aligned);
  if (end <= end_aligned) return end;
  kernel.buffers = std::move(aligned);
  return end_aligned;
}

}  // namespace

Result<void> PlanShared(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics) {
  if (kernel.resident > 0) kernel.resident = ResidentBlocks(kernel, target);
  int64_t staging = 0, gaps = 0;
  for (const ir::Buffer& buffer : kernel.buffers) {
    if (IsField(kernel, buffer)) continue;
    staging += buffer.PlacedBytes();
    gaps += buffer.Alignment();  // at most
  }
  FixSlotsOutsideLoops(kernel, target);
  GiveSlots(kernel, target, staging - BytesSaved(kernel, target) + gaps + (target.folds_copies ? BarrierBytes(kernel, target) : 0));
  const int64_t end = PlaceBuffers(kernel), barriers = BytesOfBarriers(kernel, target);
  kernel.shared_bytes = RoundUp(end + barriers, MostAlignment(kernel));
  // Where that is too much, share_room looks for what is not needed at once. On programs with their copies folded, but else
  // what is too much now is too much then.
  if (target.folds_copies || !LacksRoom(kernel, target)) return {};
  const int64_t at_once = BytesAtOnce(kernel, target);
  if (at_once <= SharedLimit(kernel, target)) return {};
  return ReportOverflow(kernel, target, FixedBytes(kernel, target), at_once, diagnostics);
}

}  // namespace tkc::passes

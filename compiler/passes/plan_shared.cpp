// SPDX-License-Identifier: MIT
#include "compiler/passes/plan_shared.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>

#include "compiler/passes/live_tiles.h"
#include "compiler/passes/meetings.h"
#include "compiler/passes/register_shares.h"
#include "compiler/passes/walk.h"
#include "compiler/support/internal_error.h"

namespace tkc::passes {
namespace {

constexpr int64_t kBarrierBytes = 8;

int64_t RoundUp(int64_t bytes, int64_t unit) { return (bytes + unit - 1) / unit * unit; }

/// One tile of the buffer as it lies in an array.
int64_t TileBytes(const ir::Buffer& buffer) { return RoundUp(buffer.TileBytes(), buffer.Alignment()); }

int64_t SlotBytes(const ir::Kernel& kernel, const ir::Pipe& pipe) {
  int64_t bytes = 0;
  for (size_t i = 0; i < pipe.fields.size(); ++i) bytes += TileBytes(FindBuffer(kernel, FieldBuffer(pipe, i)));
  return bytes * pipe.rings;
}

bool IsField(const ir::Kernel& kernel, const ir::Buffer& buffer) {
  for (const ir::Pipe& pipe : kernel.pipes) {
    for (size_t i = 0; i < pipe.fields.size(); ++i) {
      if (FieldBuffer(pipe, i) == buffer.name) return true;
    }
  }
  return false;
}

void ReportOverflow(const ir::Kernel& kernel, const Target& target, int64_t total, int64_t fixed, Diagnostics& diagnostics) {
  const ir::Pipe* largest = nullptr;
  for (const ir::Pipe& pipe : kernel.pipes) {
    if (!largest || SlotBytes(kernel, pipe) * pipe.slots > SlotBytes(kernel, *largest) * largest->slots) largest = &pipe;
  }
  const Span span = largest ? largest->span : kernel.span;
  const std::string set = kernel.schedule.empty() ? "" : fmt::format(" under schedule `{}`", kernel.schedule);
  const int64_t limit = target.SharedMemoryOfEach(std::max(1, kernel.resident));
  const std::string each = kernel.resident > 1 ? fmt::format(" for each of {} resident blocks", kernel.resident) : "";
  auto report = diagnostics.Error(
      DiagnosticKind::kSharedMemoryOverflow, span,
      fmt::format("the block needs {} bytes of shared memory{}; `{}` has {}{}", total, set, target.name, limit, each));
  if (!largest) return;
  const int64_t slot = SlotBytes(kernel, *largest);
  const auto slots = [](int64_t count, int64_t bytes) {
    return fmt::format("{} slot{} of {} bytes", count, count == 1 ? "" : "s", bytes);
  };
  report.Label(span, slots(largest->slots, slot));
  for (const ir::Pipe& pipe : kernel.pipes) {
    if (&pipe != largest)
      report.Note(pipe.span, fmt::format("pipe `{}` has {}", pipe.name, slots(pipe.slots, SlotBytes(kernel, pipe))));
  }
  if (fixed > 0) report.Note(fmt::format("staging buffers and barriers take {} bytes", fixed));
  const int64_t others = total - slot * largest->slots;
  const int64_t fit = (limit - others) / slot;
  if (fit >= 1)
    report.Help(fmt::format("{} ({} bytes): write `{}[{}]`", fit == 1 ? "1 slot fits" : fmt::format("{} slots fit", fit),
                            others + fit * slot, largest->name, fit));
  else
    report.Help("make the tiles smaller");
}

/// Folded copies run ahead of a loop that sends in each iteration, and so may a worker that another one receives from; a slot that
/// is filled elsewhere gains nothing from a second one.
void FixSlotsReadOnce(ir::Kernel& kernel) {
  std::set<std::string> streamed;
  const std::set<std::string> channels = Channels(kernel);
  for (const ir::Worker& worker : kernel.workers) {
    ForEachOp(worker.body, [&](const ir::Op& op) {
      if (op.code != ir::OpCode::kFor) return;
      for (const ir::Op& inner : op.regions[0]) {
        // From one instance of a worker to another: stored, met, read.
        const bool is_apart = worker.kind != ir::RoleKind::kCompute || channels.count(inner.symbol) > 0;
        if (inner.code == ir::OpCode::kSend && is_apart) streamed.insert(inner.symbol);
      }
    });
  }
  for (ir::Pipe& pipe : kernel.pipes) {
    if (pipe.slots == 0 && streamed.count(pipe.name) == 0) pipe.slots = pipe.least_slots;
  }
}

/// How many slots of each pipe the program fills, and which pipes it fills in loops.
void CountSends(const ir::Region& region, bool in_loop, std::map<std::string, int64_t>& all, std::set<std::string>& streamed) {
  for (const ir::Op& op : region) {
    if (op.code == ir::OpCode::kSend) {
      if (in_loop) streamed.insert(op.symbol);
      ++all[op.symbol];
    }
    for (const ir::Region& inner : op.regions) CountSends(inner, in_loop || op.code == ir::OpCode::kFor, all, streamed);
  }
}

/// A block that takes one tile needs no more slots of a pipe than it fills.
void FixSlotsOfOneTile(ir::Kernel& kernel) {
  const auto in_turn = [](const ir::Worker& worker) { return worker.in_turn; };
  if (kernel.persistent || std::any_of(kernel.workers.begin(), kernel.workers.end(), in_turn)) return;
  std::map<std::string, int64_t> most;
  std::set<std::string> streamed;
  for (const ir::Worker& worker : kernel.workers) {
    std::map<std::string, int64_t> sends;
    CountSends(worker.body, false, sends, streamed);
    for (const auto& [pipe, count] : sends) most[pipe] = std::max(most[pipe], count);
  }
  for (ir::Pipe& pipe : kernel.pipes) {
    const auto sends = most.find(pipe.name);
    const bool is_open = pipe.slots == 0 && sends != most.end() && !streamed.contains(pipe.name);
    if (is_open) pipe.slots = std::max(pipe.least_slots, sends->second);
  }
}

/// The shared memory that slots may fill: all of a block's, or where registers allow two blocks on a multiprocessor and half of its
/// memory still holds a pipeline, that half. Two blocks hide each other's waits at barriers.
int64_t BytesForSlots(const ir::Kernel& kernel, const Target& target, int64_t fixed, int64_t slot_bytes) {
  constexpr int64_t kWorthwhileSlots = 3;  // in flight, in use, and one more for the time that they do not take alike
  if (!target.folds_copies || kernel.resident > 0) return target.SharedMemoryOfEach(std::max(1, kernel.resident));
  for (const ir::Worker& worker : kernel.workers) {
    if (worker.kind != ir::RoleKind::kCompute) continue;
    const int64_t registers = MostLiveTiles(kernel, worker).registers + kForAddresses;
    if (registers * kernel.threads * 2 > target.registers.file) return target.shared_memory_per_block;
  }
  const int64_t half = target.SharedMemoryOfEach(2);
  return half - fixed >= kWorthwhileSlots * slot_bytes ? half : target.shared_memory_per_block;
}

/// As many blocks as the schedule asks for, if a multiprocessor has threads for them, and registers where loads under way take some
/// beside the tiles that they fill: blocks of which fewer are promised still share a multiprocessor if they turn out to be small.
int ResidentBlocks(const ir::Kernel& kernel, const Target& target) {
  constexpr int64_t kForLoads = 16;  // more addresses: of what is under way
  int64_t blocks = target.threads_per_processor / kernel.threads;
  for (const ir::Worker& worker : kernel.workers) {
    if (!target.loads_tiles_whole || worker.kind != ir::RoleKind::kCompute) continue;
    const int64_t needed =
        MostKeptTiles(kernel, worker).registers + MostLiveTiles(kernel, worker).registers + kForAddresses + kForLoads;
    blocks = std::min(blocks, target.registers.file / (kernel.threads * needed));
  }
  return static_cast<int>(std::clamp<int64_t>(blocks, 1, kernel.resident));
}

}  // namespace

Result<void> PlanShared(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics) {
  if (kernel.resident > 0) kernel.resident = ResidentBlocks(kernel, target);
  int64_t fixed = 0;
  for (const ir::Buffer& buffer : kernel.buffers) {
    if (!IsField(kernel, buffer)) fixed += TileBytes(buffer) * buffer.count * buffer.instances + buffer.Alignment();
  }
  int64_t open_slot_bytes = 0;
  if (target.folds_copies) {
    FixSlotsReadOnce(kernel);
    fixed += BarrierBytes(kernel, target);
  } else {
    FixSlotsOfOneTile(kernel);
  }
  for (const ir::Pipe& pipe : kernel.pipes) {
    if (!target.folds_copies) fixed += 2 * int64_t{target.most_slots} * pipe.rings * kBarrierBytes;
    (pipe.slots == 0 ? open_slot_bytes : fixed) += SlotBytes(kernel, pipe) * std::max<int64_t>(pipe.slots, 1);
  }
  for (ir::Pipe& pipe : kernel.pipes) {
    if (pipe.slots == 0) {
      Ensure(open_slot_bytes > 0, "a pipe whose slots hold nothing", pipe.span);
      pipe.slots = std::clamp<int64_t>((BytesForSlots(kernel, target, fixed, open_slot_bytes) - fixed) / open_slot_bytes,
                                       pipe.least_slots, std::max<int64_t>(pipe.least_slots, target.most_slots));
    }
    for (size_t i = 0; i < pipe.fields.size(); ++i) {
      for (ir::Buffer& buffer : kernel.buffers) {
        if (buffer.name == FieldBuffer(pipe, i)) buffer.count = pipe.slots * pipe.rings;
      }
    }
  }
  // Swizzled tiles first, so that their alignment costs nothing.
  std::stable_sort(kernel.buffers.begin(), kernel.buffers.end(),
                   [](const ir::Buffer& a, const ir::Buffer& b) { return a.Alignment() > b.Alignment(); });
  int64_t offset = 0, staging = 0;
  for (ir::Buffer& buffer : kernel.buffers) {
    offset = RoundUp(offset, buffer.Alignment());
    buffer.offset = offset;
    const int64_t bytes = TileBytes(buffer) * buffer.count * buffer.instances;
    offset += bytes;
    if (!IsField(kernel, buffer)) staging += bytes;
  }
  int64_t barriers = 0;
  for (const ir::Buffer& buffer : kernel.buffers) barriers += buffer.is_fragments ? buffer.instances * kBarrierBytes : 0;
  if (!target.folds_copies) {
    for (const ir::Pipe& pipe : kernel.pipes) barriers += 2 * pipe.slots * pipe.rings * kBarrierBytes;
  } else {
    barriers += BarrierBytes(kernel, target);
  }
  kernel.shared_bytes = RoundUp(offset + barriers, kernel.buffers.empty() ? 1 : kernel.buffers.front().Alignment());
  if (kernel.shared_bytes > target.SharedMemoryOfEach(std::max(1, kernel.resident))) {
    ReportOverflow(kernel, target, kernel.shared_bytes, staging + barriers, diagnostics);
    return Failure{};
  }
  return {};
}

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
#include "compiler/passes/plan_shared.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/passes/walk.h"
#include "compiler/support/internal_error.h"

namespace tkc::passes {
namespace {

constexpr int64_t kMostSlots = 6;         // more hides no latency that fewer do not
constexpr int64_t kTileAlignment = 1024;  // the 128-byte swizzle repeats every 1024 bytes
constexpr int64_t kBarrierBytes = 8;

int64_t RoundUp(int64_t bytes, int64_t unit) { return (bytes + unit - 1) / unit * unit; }

int64_t Alignment(const ir::Buffer& buffer) {
  if (buffer.swizzle == ir::Swizzle::kNone) return 128;
  return buffer.swizzle == ir::Swizzle::kT128 ? 2 * kTileAlignment : kTileAlignment;
}

/// One tile of the buffer as it lies in an array.
int64_t TileBytes(const ir::Buffer& buffer) { return RoundUp(buffer.TileBytes(), Alignment(buffer)); }

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
  auto report = diagnostics.Error(DiagnosticKind::kSharedMemoryOverflow, span,
                                  fmt::format("the block needs {} bytes of shared memory{}; `{}` has {}", total, set, target.name,
                                              target.shared_memory_per_block));
  if (!largest) return;
  const int64_t slot = SlotBytes(kernel, *largest);
  report.Label(span, fmt::format("{} slots of {} bytes", largest->slots, slot));
  if (fixed > 0) report.Note(fmt::format("staging buffers and barriers take {} bytes", fixed));
  const int64_t others = total - slot * largest->slots;
  const int64_t fit = (target.shared_memory_per_block - others) / slot;
  if (fit >= 1)
    report.Help(fmt::format("{} slots fit ({} bytes): write `{}[{}]`", fit, others + fit * slot, largest->name, fit));
  else
    report.Help("make the tiles smaller");
}

}  // namespace

Result<void> PlanShared(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics) {
  int64_t fixed = 0;
  for (const ir::Buffer& buffer : kernel.buffers) {
    if (!IsField(kernel, buffer)) fixed += TileBytes(buffer) * buffer.count * buffer.instances + Alignment(buffer);
  }
  int64_t open_slot_bytes = 0;
  for (const ir::Pipe& pipe : kernel.pipes) {
    fixed += 2 * kMostSlots * pipe.rings * kBarrierBytes;
    (pipe.slots == 0 ? open_slot_bytes : fixed) += SlotBytes(kernel, pipe) * std::max<int64_t>(pipe.slots, 1);
  }
  for (ir::Pipe& pipe : kernel.pipes) {
    if (pipe.slots == 0) {
      Ensure(open_slot_bytes > 0, "a pipe whose slots hold nothing", pipe.span);
      pipe.slots = std::clamp<int64_t>((target.shared_memory_per_block - fixed) / open_slot_bytes, pipe.least_slots,
                                       std::max(pipe.least_slots, kMostSlots));
    }
    for (size_t i = 0; i < pipe.fields.size(); ++i) {
      for (ir::Buffer& buffer : kernel.buffers) {
        if (buffer.name == FieldBuffer(pipe, i)) buffer.count = pipe.slots * pipe.rings;
      }
    }
  }
  // Swizzled tiles first, so that their alignment costs nothing.
  std::stable_sort(kernel.buffers.begin(), kernel.buffers.end(),
                   [](const ir::Buffer& a, const ir::Buffer& b) { return Alignment(a) > Alignment(b); });
  int64_t offset = 0, staging = 0;
  for (ir::Buffer& buffer : kernel.buffers) {
    offset = RoundUp(offset, Alignment(buffer));
    buffer.offset = offset;
    const int64_t bytes = TileBytes(buffer) * buffer.count * buffer.instances;
    offset += bytes;
    if (!IsField(kernel, buffer)) staging += bytes;
  }
  int64_t barriers = 0;
  for (const ir::Buffer& buffer : kernel.buffers) barriers += buffer.is_fragments ? buffer.instances * kBarrierBytes : 0;
  for (const ir::Pipe& pipe : kernel.pipes) barriers += 2 * pipe.slots * pipe.rings * kBarrierBytes;
  kernel.shared_bytes = RoundUp(offset + barriers, kernel.buffers.empty() ? 1 : Alignment(kernel.buffers.front()));
  if (kernel.shared_bytes > target.shared_memory_per_block) {
    ReportOverflow(kernel, target, kernel.shared_bytes, staging + barriers, diagnostics);
    return Failure{};
  }
  return {};
}

}  // namespace tkc::passes

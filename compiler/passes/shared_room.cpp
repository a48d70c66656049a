// SPDX-License-Identifier: MIT
#include "compiler/passes/shared_room.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "compiler/passes/walk.h"

namespace tkc::passes {
namespace {

/// Of those that one instance has for itself.
bool IsFirstOfRing(const ir::Pipe& pipe) { return !pipe.ring_of.empty() && (pipe.part_of.empty() || pipe.part_of == pipe.name); }

/// A pipe as the source has it: with the slots of all that separate_pipes made of one, the fields that separate_fields did, and the
/// rings of all instances that separate_rings did.
struct PipeOfSource {
  const ir::Pipe* pipe;
  int64_t slots, least_slots, slot_bytes;
};

std::vector<PipeOfSource> PipesOfSource(const ir::Kernel& kernel) {
  std::vector<PipeOfSource> pipes;
  for (const ir::Pipe& pipe : kernel.pipes) {
    const auto is_other = [&](const PipeOfSource& known) { return known.pipe->SourceName() == pipe.SourceName(); };
    const auto known = std::find_if(pipes.begin(), pipes.end(), is_other);
    if (known == pipes.end()) {
      pipes.push_back({&pipe, pipe.slots, pipe.least_slots, PlacedSlotBytes(kernel, pipe)});
    } else if (!pipe.fields_of.empty() || IsFirstOfRing(pipe)) {
      known->slot_bytes += PlacedSlotBytes(kernel, pipe);
    } else if (!pipe.ring_of.empty() && pipe.part_of != known->pipe->part_of) {
      continue;  // counted with those of the first instance
    } else {
      known->slots += pipe.slots;
      known->least_slots += pipe.least_slots;
    }
  }
  return pipes;
}

}  // namespace

int64_t RoundUp(int64_t bytes, int64_t unit) { return (bytes + unit - 1) / unit * unit; }

int64_t PlacedSlotBytes(const ir::Kernel& kernel, const ir::Pipe& pipe) {
  int64_t bytes = 0;
  for (size_t i = 0; i < pipe.fields.size(); ++i) bytes += FindBuffer(kernel, FieldBuffer(pipe, i)).PlacedTileBytes();
  return bytes * pipe.rings;
}

int64_t MostAlignment(const ir::Kernel& kernel) {
  int64_t most = 1;
  for (const ir::Buffer& buffer : kernel.buffers) most = std::max(most, buffer.Alignment());
  return most;
}

int64_t SharedLimit(const ir::Kernel& kernel, const Target& target) {
  return target.SharedMemoryOfEach(std::max(1, kernel.resident));
}

bool LacksRoom(const ir::Kernel& kernel, const Target& target) { return kernel.shared_bytes > SharedLimit(kernel, target); }

DiagnosticBuilder ReportOverflow(const ir::Kernel& kernel, const Target& target, int64_t fixed, Diagnostics& diagnostics) {
  const int64_t total = kernel.shared_bytes, limit = SharedLimit(kernel, target);
  const std::vector<PipeOfSource> pipes = PipesOfSource(kernel);
  const auto is_smaller = [](const PipeOfSource& a, const PipeOfSource& b) {
    return a.slot_bytes * a.slots < b.slot_bytes * b.slots;
  };
  const auto largest = std::max_element(pipes.begin(), pipes.end(), is_smaller);
  const Span span = pipes.empty() ? kernel.span : largest->pipe->span;
  const std::string each = kernel.resident > 1 ? fmt::format(" for each of {} resident blocks", kernel.resident) : "";
  auto report =
      diagnostics.Error(DiagnosticKind::kSharedMemoryOverflow, span,
                        fmt::format("the block needs {} bytes of shared memory; `{}` has {}{}", total, target.name, limit, each));
  if (pipes.empty()) return report;
  const int64_t slot = largest->slot_bytes;
  const auto slots = [](int64_t count, int64_t bytes) {
    return fmt::format("{} slot{} of {} bytes", count, count == 1 ? "" : "s", bytes);
  };
  report.Label(span, slots(largest->slots, slot));
  for (const PipeOfSource& other : pipes) {
    if (&other != &*largest)
      report.Note(other.pipe->span,
                  fmt::format("pipe `{}` has {}", other.pipe->SourceName(), slots(other.slots, other.slot_bytes)));
  }
  if (fixed > 0) report.Note(fmt::format("staging buffers and barriers take {} bytes", fixed));
  const int64_t others = total - slot * largest->slots;
  const int64_t fit = (limit - others) / slot;
  const std::string& name = largest->pipe->SourceName();
  if (fit >= largest->least_slots)
    report.Help(fmt::format("{} ({} bytes): write {}", fit == 1 ? "1 slot fits" : fmt::format("{} slots fit", fit),
                            others + fit * slot,
                            kernel.schedule.empty() ? fmt::format("`{}[{}]`", name, fit)
                                                    : fmt::format("`slots {} = {}` in `{}`", name, fit, kernel.schedule)));
  else
    report.Help(std::string(kSmallerTiles));
  return report;
}

Result<void> RequireRoomForASlot(const ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics) {
  constexpr int64_t kFarBeyond = 4;
  const int64_t limit = kFarBeyond * SharedLimit(kernel, target);
  if (std::ranges::all_of(kernel.pipes, [&](const ir::Pipe& pipe) { return SlotBytes(pipe) * pipe.rings <= limit; })) return {};
  ir::Kernel planned = kernel;
  planned.buffers.clear();
  for (ir::Pipe& pipe : planned.pipes) {
    pipe.slots = std::max(pipe.slots, pipe.least_slots);
    for (size_t i = 0; i < pipe.fields.size(); ++i) {
      const ir::PipeField& field = pipe.fields[i];
      ir::Buffer& buffer = planned.buffers.emplace_back();
      buffer.name = FieldBuffer(pipe, i);
      buffer.dtype = field.dtype;
      buffer.rows = field.rows;
      buffer.cols = field.cols;
    }
    planned.shared_bytes += PlacedSlotBytes(planned, pipe) * pipe.slots;
  }
  ReportOverflow(planned, target, 0, diagnostics);
  return Failure{};
}

}  // namespace tkc::passes

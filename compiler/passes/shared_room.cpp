// SPDX-License-Identifier: MIT
#include "compiler/passes/shared_room.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/passes/meetings.h"
#include "compiler/passes/sent_slots.h"

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

int64_t Bytes(const PipeOfSource& pipe) { return pipe.slot_bytes * pipe.slots; }

std::string SlotsText(const PipeOfSource& pipe) {
  return fmt::format("{} slot{} of {} bytes", pipe.slots, pipe.slots == 1 ? "" : "s", pipe.slot_bytes);
}

constexpr int64_t kLargePart = 8;  // of all bytes: what a statement stages is named from this part on

/// Buffers beside the slots that one statement fills, of all copies that unrolling made of it.
struct StagingOfStatement {
  Span span;
  std::vector<std::pair<std::string, std::vector<const ir::Buffer*>>> purposes{};
  int64_t bytes = 0;
};

/// The largest first, then in the order in which they stand.
std::vector<StagingOfStatement> StagingOfStatements(const ir::Kernel& kernel) {
  std::map<std::string, Span> filled_at;
  for (const ir::Worker& worker : kernel.workers) {
    const std::map<ir::ValueId, std::string> views = BuffersOfViews(kernel, worker.body);
    ForEachOp(worker.body, [&](const ir::Op& op) {
      if (!FillsShared(op.code)) return;
      if (const auto buffer = views.find(op.operands[0]); buffer != views.end()) filled_at.emplace(buffer->second, op.span);
    });
  }
  std::vector<StagingOfStatement> statements;
  for (const ir::Buffer& buffer : kernel.buffers) {
    const auto span = filled_at.find(buffer.name);
    if (span == filled_at.end() || IsField(kernel, buffer)) continue;
    const auto is_here = [&](const StagingOfStatement& known) { return known.span == span->second; };
    auto statement = std::find_if(statements.begin(), statements.end(), is_here);
    if (statement == statements.end()) statement = statements.insert(statements.end(), {span->second});
    auto& purposes = statement->purposes;
    const auto is_same = [&](const auto& known) { return known.first == buffer.purpose; };
    auto purpose = std::find_if(purposes.begin(), purposes.end(), is_same);
    if (purpose == purposes.end()) purpose = purposes.insert(purposes.end(), {buffer.purpose, {}});
    purpose->second.push_back(&buffer);
    statement->bytes += buffer.PlacedBytes();
  }
  std::stable_sort(statements.begin(), statements.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return statements;
}

/// `staging of X: 31 tiles of 8192 bytes, staging of F: ..`
std::string StagingText(const StagingOfStatement& statement) {
  std::string text;
  for (const auto& [purpose, buffers] : statement.purposes) {
    const int64_t tile = buffers[0]->PlacedTileBytes();
    int64_t bytes = 0;
    for (const ir::Buffer* buffer : buffers) bytes += buffer->PlacedBytes();
    const std::string tiles = bytes == tile       ? fmt::format("{} bytes", tile)
                              : bytes % tile == 0 ? fmt::format("{} tiles of {} bytes", bytes / tile, tile)
                                                  : fmt::format("{} bytes", bytes);
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", purpose, tiles);
  }
  return text;
}

/// The number of slots of a pipe that fits beside all else; empty: none does.
std::string FewerSlots(const ir::Kernel& kernel, const PipeOfSource* largest, int64_t needed, int64_t limit) {
  if (!largest) return "";
  const int64_t others = needed - Bytes(*largest), fit = (limit - others) / largest->slot_bytes;
  if (fit < largest->least_slots) return "";
  const std::string& name = largest->pipe->SourceName();
  return fmt::format("{} ({} bytes): write {}", fit == 1 ? "1 slot fits" : fmt::format("{} slots fit", fit),
                     others + fit * largest->slot_bytes,
                     kernel.schedule.empty() ? fmt::format("`{}[{}]`", name, fit)
                                             : fmt::format("`slots {} = {}` in `{}`", name, fit, kernel.schedule));
}

}  // namespace

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

int64_t FixedBytes(const ir::Kernel& kernel, const Target& target) {
  int64_t bytes = BytesOfBarriers(kernel, target);
  for (const ir::Buffer& buffer : kernel.buffers) bytes += IsField(kernel, buffer) ? 0 : buffer.PlacedBytes();
  return bytes;
}

int64_t SharedLimit(const ir::Kernel& kernel, const Target& target) {
  return target.SharedMemoryOfEach(std::max(1, kernel.resident));
}

bool WalksOverTiles(const ir::Kernel& kernel) {
  return kernel.persistent ||
         std::any_of(kernel.workers.begin(), kernel.workers.end(), [](const ir::Worker& w) { return w.in_turn; });
}

int64_t BytesOfBarriers(const ir::Kernel& kernel, const Target& target) {
  int64_t bytes = target.folds_copies ? BarrierBytes(kernel, target) : 0;
  for (const ir::Buffer& buffer : kernel.buffers) bytes += buffer.is_fragments ? buffer.instances * ir::kBarrierBytes : 0;
  for (const ir::Pipe& pipe : kernel.pipes) {
    const int64_t of_slot = !WalksOverTiles(kernel) && IsFilledOnce(kernel, pipe) ? 1 : kBarriersOfSlot;
    bytes += target.folds_copies ? 0 : of_slot * pipe.slots * pipe.rings * ir::kBarrierBytes;
  }
  return bytes;
}

bool LacksRoom(const ir::Kernel& kernel, const Target& target) { return kernel.shared_bytes > SharedLimit(kernel, target); }

DiagnosticBuilder ReportOverflow(const ir::Kernel& kernel, const Target& target, int64_t fixed, int64_t at_once,
                                 Diagnostics& diagnostics) {
  const int64_t total = kernel.shared_bytes, limit = SharedLimit(kernel, target);
  const std::vector<PipeOfSource> pipes = PipesOfSource(kernel);
  const std::vector<StagingOfStatement> statements = StagingOfStatements(kernel);
  const auto is_smaller = [](const PipeOfSource& a, const PipeOfSource& b) { return Bytes(a) < Bytes(b); };
  const auto max = std::max_element(pipes.begin(), pipes.end(), is_smaller);
  const PipeOfSource* const largest = pipes.empty() ? nullptr : &*max;
  const bool stages_most = !statements.empty() && (!largest || statements[0].bytes > Bytes(*largest));
  const Span span = stages_most ? statements[0].span : largest ? largest->pipe->span : kernel.span;
  const std::string each = kernel.resident > 1 ? fmt::format(" for each of {} resident blocks", kernel.resident) : "";
  auto report =
      diagnostics.Error(DiagnosticKind::kSharedMemoryOverflow, span,
                        fmt::format("the block needs {} bytes of shared memory; `{}` has {}{}", total, target.name, limit, each));
  if (stages_most)
    report.Label(span, StagingText(statements[0]));
  else if (largest)
    report.Label(span, SlotsText(*largest));
  for (const PipeOfSource& pipe : pipes) {
    if (&pipe != largest || stages_most)
      report.Note(pipe.pipe->span, fmt::format("pipe `{}` has {}", pipe.pipe->SourceName(), SlotsText(pipe)));
  }
  int64_t rest = fixed;
  for (const StagingOfStatement& statement : statements) {
    const bool is_marked = stages_most && &statement == &statements[0];
    if (!is_marked && statement.bytes < total / kLargePart) break;
    if (!is_marked) report.Note(statement.span, StagingText(statement));
    rest -= statement.bytes;
  }
  if (rest > 0) report.Note(fmt::format("{}staging buffers and barriers take {} bytes", rest < fixed ? "other " : "", rest));
  if (at_once < total) report.Note(fmt::format("of these, {} bytes are needed at once", at_once));
  // Where copies are folded, slots may be what lies over others.
  const std::string slots = FewerSlots(kernel, largest, target.folds_copies ? total : at_once, limit);
  return slots.empty() ? report.Help("make the tiles smaller").DependsOnSizes() : report.Help(slots);
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
  ReportOverflow(planned, target, 0, planned.shared_bytes, diagnostics);
  return Failure{};
}

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
// What a reader should know before the code: who does what, how data moves between them, what lies where.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "compiler/codegen/emit_kernel.h"

namespace tkc::codegen {
namespace {

using ir::OpCode;

/// What the roles do to a pipe, found in their operations.
struct Traffic {
  std::vector<const ir::Worker*> senders, receivers;
  std::string full, empty;  // barriers
  int64_t bytes = 0;        // announced for a slot; 0: written by threads
};

void AddOnce(std::vector<const ir::Worker*>& list, const ir::Worker& role) {
  if (list.empty() || list.back() != &role) list.push_back(&role);
}

void Collect(const ir::Worker& role, const ir::Region& region, std::map<std::string, Traffic>& traffic) {
  for (const ir::Op& op : region) {
    switch (op.code) {
      case OpCode::kWaitEmpty:
        AddOnce(traffic[op.slot].senders, role);
        traffic[op.slot].empty = op.symbol;
        break;
      case OpCode::kStoreCluster: AddOnce(traffic[op.slot].senders, role); break;
      case OpCode::kWaitFull:
        AddOnce(traffic[op.slot].receivers, role);
        traffic[op.slot].full = op.symbol;
        break;
      // Where the instances that receive announce what comes, each announces its share.
      case OpCode::kExpect: traffic[op.slot].bytes = op.number * (role.kind == ir::RoleKind::kCompute ? role.instances : 1); break;
      default: break;
    }
    for (const ir::Region& inner : op.regions) Collect(role, inner, traffic);
  }
}

std::string Plural(int64_t count, std::string_view what) { return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"); }

std::string RoleNames(const std::vector<const ir::Worker*>& roles) {
  std::string text;
  for (const ir::Worker* role : roles) {
    text += (text.empty() ? "" : ", ") + role->name;
    if (role->instances > 1) text += fmt::format("[0..{}]", role->instances - 1);
  }
  return text.empty() ? "?" : text;
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

/// Senders above the left end, receivers above the right end of two arrows: full slots go one way, empty ones the other.
void DrawPipe(const ir::Kernel& kernel, const ir::Pipe& pipe, const Traffic& traffic, std::vector<std::string>& lines) {
  const std::string from = RoleNames(traffic.senders) + (kernel.Spread() > 1 ? " of all blocks" : ""),
                    to = RoleNames(traffic.receivers), boxes = SlotBoxes(pipe.slots);
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
  lines.push_back(fmt::format("{}^  {:<{}}|", lead, full, inner - 2));
  if (traffic.empty.empty()) return;  // no slot goes back
  const std::string dash(inner > empty.size() + 4 ? inner - empty.size() - 4 : 1, '-');
  lines.push_back(fmt::format("{}+- {} {}-+", lead, empty, dash));
}

/// What a folded program does to a pipe: by which functions it is filled, and how many copies run ahead of the reads.
struct FoldedTraffic {
  std::string filled_by;
  int64_t ahead = 0;
  bool is_read = false;
};

/// The name of what copies into a slot; "" for other operations.
std::string FilledBy(const ir::Op& op) {
  switch (op.code) {
    case OpCode::kCopyAsync: return op.number == 1 ? "copy_pieces" : "copy_async";
    case OpCode::kCopyToShared: return op.operands.size() == 2 ? "fetch, put" : "copy_global_to_shared";
    default: return "";
  }
}

void CollectFolded(const ir::Kernel& kernel, const ir::Region& region, std::map<std::string, FoldedTraffic>& traffic) {
  std::map<ir::ValueId, std::string> rings;  // of the slots that are in sight here
  std::set<std::string> turned;              // rings that have advanced here
  for (const ir::Op& op : region) {
    if (const std::string name = FilledBy(op); !name.empty() && rings.count(op.operands[0]) > 0)
      traffic[rings[op.operands[0]]].filled_by = name;
    if (op.code == OpCode::kAdvance) turned.insert(op.symbol);
    if (op.code == OpCode::kView && !op.slot.empty()) {
      rings[op.results[0]] = ir::RingOf(op.slot);
      FoldedTraffic& pipe = traffic[ir::RingOf(op.slot)];
      pipe.is_read = true;
      if (op.slot.ends_with(".previous")) {
        for (const ir::Pipe& each : kernel.pipes) {
          if (each.name == ir::RingOf(op.slot)) pipe.ahead = each.slots - (turned.contains(each.name) ? 0 : 1);
        }
      }
    }
    for (const ir::Region& inner : op.regions) CollectFolded(kernel, inner, traffic);
  }
}

/// Copies from the left, products or loads on the right.
void DrawFoldedPipe(const ir::Pipe& pipe, const FoldedTraffic& traffic, const ir::Worker& role, std::vector<std::string>& lines) {
  const std::string ahead =
      traffic.ahead > 0 ? fmt::format("; copies run {} ahead of the loop that reads", Plural(traffic.ahead, "block")) : "";
  lines.push_back("");
  lines.push_back(fmt::format("Pipe `{}`, {}{}:", pipe.name, Plural(pipe.slots, "slot"), ahead));
  const std::string boxes = SlotBoxes(pipe.slots), who = RoleNames({&role});
  const std::string arrow = fmt::format("  global memory --- {} ---> ", traffic.filled_by);
  lines.push_back(fmt::format("{}{} ----> {}", arrow, boxes, who));
  if (traffic.ahead == 0) return;
  // Where in the ring the two ends of one iteration are.
  const std::string lead(arrow.size() - 2, ' ');
  lines.push_back(fmt::format("{}  ^ wait for it, meet, read; the slot before it takes the next copies", lead));
}

std::string WarpRange(int first, int count) {
  return count == 1 ? fmt::format("warp {}", first) : fmt::format("warps {}..{}", first, first + count - 1);
}

void DescribeRoles(const ir::Kernel& kernel, std::vector<std::string>& lines) {
  for (const ir::Worker& role : kernel.workers) {
    const std::string registers = role.registers ? fmt::format(", {} registers a thread", role.registers) : "";
    if (role.kind == ir::RoleKind::kCompute) {
      std::string folded;
      for (const std::string& name : role.folded) folded += (folded.empty() ? "; all threads issue the copies of " : ", ") + name;
      lines.push_back(fmt::format("  {:<14}{}{}{}", WarpRange(role.first_warp, static_cast<int>(4 * role.instances)),
                                  RoleNames({&role}), registers, folded));
    } else {
      lines.push_back(fmt::format("  {:<14}{}: {}{}", WarpRange(role.first_warp, 1), role.name,
                                  role.kind == ir::RoleKind::kCopyThread ? "one thread issues copies" : "32 threads copy",
                                  registers));
    }
  }
}

void DescribeMemory(const ir::Kernel& kernel, std::vector<std::string>& lines) {
  struct Row {
    std::string name, what, purpose;
    int64_t offset, bytes;
  };
  std::vector<Row> rows;
  int64_t end = 0;
  for (const ir::Buffer& buffer : kernel.buffers) {
    const std::string swizzle = buffer.swizzle == ir::Swizzle::kNone ? ""
                                : buffer.swizzle == ir::Swizzle::kT128
                                    ? ", swizzle t128"
                                    : fmt::format(", swizzle {}", static_cast<int>(buffer.swizzle));
    std::string name = buffer.name;
    if (buffer.instances > 1) name += fmt::format("[{}]", buffer.instances);
    if (buffer.count > 1) name += fmt::format("[{}]", buffer.count);
    rows.push_back({name, fmt::format("{}[{}, {}]{}", Name(buffer.dtype), buffer.rows, buffer.cols, swizzle), buffer.purpose,
                    buffer.offset, buffer.Bytes()});
    end = std::max(end, buffer.offset + buffer.Bytes());
  }
  int64_t barriers = 0;
  for (const ir::Barrier& barrier : kernel.barriers) barriers += 8 * barrier.count;
  if (barriers > 0) rows.push_back({"barriers", "", "", (end + 7) / 8 * 8, barriers});
  if (rows.empty()) return;
  size_t name_width = 0, what_width = 0;
  for (const Row& row : rows) {
    name_width = std::max(name_width, row.name.size());
    what_width = std::max(what_width, row.what.size());
  }
  lines.push_back("");
  lines.push_back(fmt::format("Shared memory, {} bytes:", std::max(kernel.shared_bytes, end + barriers)));
  lines.push_back(fmt::format("  {:>7} {:>7}", "offset", "bytes"));
  for (const Row& row : rows) {
    std::string line = fmt::format("  {:>7} {:>7}  {:<{}}  {:<{}}  {}", row.offset, row.bytes, row.name, name_width, row.what,
                                   what_width, row.purpose);
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(line);
  }
}

/// Who takes the tiles.
std::string Walks(const ir::Kernel& kernel) {
  const int64_t blocks = kernel.Spread();
  if (blocks == 1) {
    const std::string resident = kernel.resident > 1 ? fmt::format("{} blocks", kernel.resident) : "";
    if (!kernel.persistent)
      return fmt::format("One block for each tile{}:", resident.empty() ? "" : ", " + resident + " on a multiprocessor");
    return (resident.empty() ? "One block on each multiprocessor walks" : resident + " on each multiprocessor walk") +
           " over the tiles:";
  }
  const int64_t here = kernel.workers.front().instances;
  return fmt::format("{} of {} blocks{}; block r has {}:", kernel.persistent ? "Clusters" : "One cluster", blocks,
                     kernel.persistent ? " walk over the tiles" : " for each tile",
                     here == 1 ? "instance r" : fmt::format("instances r * {} to r * {} + {}", here, here, here - 1));
}

}  // namespace

std::vector<std::string> Documentation(Span declaration, const SourceManager& sources) {
  if (!PointsSomewhere(sources, declaration)) return {};
  const uint32_t line = sources.Line(declaration);
  const auto text = [&](uint32_t n) { return sources.LineText(declaration.file, n); };
  uint32_t first = line;
  while (first > 1 && text(first - 1).starts_with("///")) --first;
  std::vector<std::string> lines;
  for (uint32_t n = first; n < line; ++n) {
    const std::string_view doc = text(n).substr(3);
    const size_t indent = std::min(doc.find_first_not_of(' '), doc.size());
    lines.push_back(std::string(indent > 1 ? indent - 1 : 0, ' ') + EscapeComment(doc));
  }
  return lines;
}

std::vector<std::string> DescribeKernel(const ir::Kernel& kernel, const SourceManager& sources) {
  std::vector<std::string> lines;
  const auto quote = [&](Span span) {
    if (!PointsSomewhere(sources, span)) return;
    for (std::string& line : SourceStatements(sources).Lines(span)) lines.push_back(std::move(line));
  };
  quote(kernel.declaration);
  if (kernel.span != kernel.declaration) quote(kernel.span);
  std::string bindings;
  for (const auto& [name, value] : kernel.bindings) bindings += fmt::format("{}{} = {}", bindings.empty() ? "" : ", ", name, value);
  std::string head = kernel.schedule.empty() ? "As the kernel says" : fmt::format("Schedule `{}`", kernel.schedule);
  head += fmt::format(", for {}{}{}.", kernel.target, bindings.empty() ? "" : ": ", bindings);
  lines.push_back(head);
  lines.push_back("");
  lines.push_back(Walks(kernel));
  DescribeRoles(kernel, lines);
  std::map<std::string, Traffic> traffic;
  for (const ir::Worker& role : kernel.workers) Collect(role, role.body, traffic);
  for (const ir::Pipe& pipe : kernel.pipes) {
    const auto found = traffic.find(pipe.name);
    if (found == traffic.end()) continue;
    lines.push_back("");
    lines.push_back(fmt::format("Pipe `{}`, {}{}. A slot is written {} and read when it is full:", pipe.name,
                                Plural(pipe.slots, "slot"), kernel.Spread() > 1 ? " in each block" : "",
                                found->second.empty.empty() ? "once" : "when it is empty"));
    DrawPipe(kernel, pipe, found->second, lines);
  }
  if (traffic.empty() && !kernel.workers.empty()) {
    std::map<std::string, FoldedTraffic> folded;
    for (const ir::Worker& role : kernel.workers) CollectFolded(kernel, role.body, folded);
    for (const ir::Pipe& pipe : kernel.pipes) {
      if (folded[pipe.name].is_read) DrawFoldedPipe(pipe, folded[pipe.name], kernel.workers.front(), lines);
    }
  }
  DescribeMemory(kernel, lines);
  return lines;
}

}  // namespace tkc::codegen

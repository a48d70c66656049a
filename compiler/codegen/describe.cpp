// SPDX-License-Identifier: MIT
// What a reader should know before the code: who does what, how data moves between them, what lies where.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/codegen/describe.h"
#include "compiler/codegen/emit_kernel.h"
#include "compiler/ir/derived_names.h"

namespace tkc::codegen {
namespace {

std::string WarpRange(int first, int count) {
  return count == 1 ? fmt::format("warp {}", first) : fmt::format("warps {}..{}", first, first + count - 1);
}

/// Roles that copy have a warp each, of a warpgroup that is whole.
int WarpsThatCopy(const ir::Kernel& kernel) {
  return static_cast<int>(
      std::count_if(kernel.workers.begin(), kernel.workers.end(), [](const ir::Worker& role) { return !role.Computes(); }));
}

void DescribeRoles(const ir::Kernel& kernel, std::vector<std::string>& lines) {
  const int copying = WarpsThatCopy(kernel), idle = (ir::kWarpsOfInstance - copying % ir::kWarpsOfInstance) % ir::kWarpsOfInstance;
  for (const ir::Worker& role : kernel.workers) {
    const int each = kernel.RegistersOf(role);
    const std::string registers = each != 0 ? fmt::format(", {} registers a thread", each) : "";
    if (role.Computes()) {
      std::string folded;
      for (const std::string& name : role.folded) folded += (folded.empty() ? "; all threads issue the copies of " : ", ") + name;
      lines.push_back(fmt::format("  {:<14}{}{}{}{}",
                                  WarpRange(role.first_warp, static_cast<int>(ir::kWarpsOfInstance * role.instances)),
                                  RoleNames({&role}), role.in_turn ? " in turn" : "", registers, folded));
    } else {
      lines.push_back(fmt::format("  {:<14}{}: {}{}", WarpRange(role.first_warp, 1), role.SourceName(),
                                  role.IsOneThread() ? "one thread issues copies" : "32 threads copy", registers));
      if (idle > 0 && role.first_warp + 1 == copying) {
        lines.push_back(fmt::format("  {:<14}idle: they make the warpgroup whole", WarpRange(copying, idle)));
      }
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
    const std::string swizzle =
        buffer.swizzle == ir::Swizzle::kNone ? "" : fmt::format(", swizzle {}", layout::Name(buffer.swizzle));
    std::string name = buffer.name;
    if (buffer.instances > 1) name += fmt::format("[{}]", buffer.instances);
    if (buffer.count > 1) name += fmt::format("[{}]", buffer.count);
    rows.push_back({name, fmt::format("{}[{}, {}]{}", Name(buffer.dtype), buffer.rows, buffer.cols, swizzle), buffer.purpose,
                    buffer.offset, buffer.Bytes()});
    end = std::max(end, buffer.offset + buffer.Bytes());
  }
  int64_t barriers = 0;
  for (const ir::Barrier& barrier : kernel.barriers) barriers += 8 * barrier.count * barrier.instances;
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

/// What the launcher tells the kernel of tensors besides where they are.
void DescribeMaps(const ir::Kernel& kernel, std::vector<std::string>& lines) {
  const KernelUses uses(kernel);
  bool is_first = true;
  for (const ir::TensorMap& map : kernel.maps) {
    const auto is_rows = [&](const ir::TensorMap& other) { return other.name == ir::RowsMap(map.name); };
    const auto rows = std::find_if(kernel.maps.begin(), kernel.maps.end(), is_rows);
    const std::string usable = ir::UsableFlag(map.name);
    std::string line;
    if (rows != kernel.maps.end())
      line = fmt::format("`{}`: {} in boxes of {} rows, for blocks that reach beyond its end.", rows->name, map.tensor,
                         rows->box[rows->box.size() - 2]);
    if (uses.names.contains(usable))
      line =
          fmt::format("`{}`: the address and strides of {} let the copy engine store to it; else threads do.", usable, map.tensor);
    if (line.empty()) continue;
    if (std::exchange(is_first, false)) lines.push_back("");
    lines.push_back(line);
  }
}

/// Who takes the tiles, and what the blocks of a cluster do together.
std::string Walks(const ir::Kernel& kernel) {
  const int64_t blocks = kernel.cluster;
  const bool shares_loads = blocks > 1 && !kernel.SharesTile();
  const bool is_row_by_row = kernel.axes.size() < 2 || kernel.order == typed::GridOrder::kRows;
  std::string who;
  if (kernel.persistent) {
    who = blocks > 1            ? fmt::format("Clusters of {} blocks{} walk", blocks, shares_loads ? ", which share loads," : "")
          : kernel.resident > 1 ? fmt::format("{} blocks on each multiprocessor walk", kernel.resident)
                                : "One block on each multiprocessor walks";
    who += " over the tiles";
    if (!is_row_by_row) who += " " + OrderText(kernel);
    if (kernel.dynamic) who += ", all but the first of each drawn from a counter";
    if (kernel.is_uneven) who += kernel.dynamic ? ", the longest tiles first" : ", back and forth, the longest tiles first";
  } else {
    who = kernel.SharesTile() ? fmt::format("One cluster of {} blocks for each tile", blocks) : "One block for each tile";
    if (!is_row_by_row) who += ", " + OrderText(kernel);
    if (kernel.is_uneven) who += ", the longest tiles first";
    if (shares_loads) who += fmt::format(", {} in a cluster, which share loads", blocks);
  }
  if (kernel.resident > 1 && (blocks > 1 || !kernel.persistent)) {
    who += fmt::format(", {} blocks on a multiprocessor", kernel.resident);
  }
  if (kernel.split > 1) who += "; each block adds up its share of the loop";
  if (kernel.Spread() > 1) {
    const auto is_spread = [](const ir::Worker& worker) { return worker.spread > 1; };
    const int64_t here = std::find_if(kernel.workers.begin(), kernel.workers.end(), is_spread)->instances;
    who += "; block r has " + (here == 1 ? "instance r" : fmt::format("instances r * {} to r * {} + {}", here, here, here - 1));
  }
  return who + ":";
}

}  // namespace

std::string OrderText(const ir::Kernel& kernel) {
  switch (kernel.order) {
    case typed::GridOrder::kRows: return "row by row";
    case typed::GridOrder::kColumns: return "column by column";
    case typed::GridOrder::kGrouped: return fmt::format("in bands of {} rows", kernel.group);
  }
  return "";
}

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

std::vector<std::string> DescribeKernel(const ir::Kernel& kernel, const SourceStatements& statements) {
  const SourceManager& sources = statements.Sources();
  std::vector<std::string> lines;
  const auto quote = [&](Span span) {
    if (!PointsSomewhere(sources, span)) return;
    for (std::string& line : statements.Lines(span)) lines.push_back(std::move(line));
  };
  quote(kernel.declaration);
  if (kernel.span != kernel.declaration) quote(kernel.span);
  for (const std::string& line : Documentation(kernel.schedule_span, sources)) lines.push_back(line);
  quote(kernel.schedule_span);
  std::string bindings;
  for (const typed::StaticValue& each : kernel.bindings)
    bindings += fmt::format("{}{} = {}", bindings.empty() ? "" : ", ", each.name, each.Text());
  lines.push_back(fmt::format("Compiled for {}{}{}.", kernel.target, bindings.empty() ? "" : " with ", bindings));
  lines.push_back("");
  lines.push_back(Walks(kernel));
  DescribeRoles(kernel, lines);
  DescribePipes(kernel, lines);
  DescribeMemory(kernel, lines);
  DescribeMaps(kernel, lines);
  return lines;
}

}  // namespace tkc::codegen

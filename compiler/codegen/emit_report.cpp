// SPDX-License-Identifier: MIT
// --emit=report: what was decided, in words. The description of each kernel, then its figures.
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "compiler/codegen/describe.h"
#include "compiler/codegen/emit.h"
#include "compiler/codegen/emit_kernel.h"
#include "compiler/codegen/emit_launcher.h"
#include "compiler/ir/queries.h"
#include "compiler/passes/conflicts.h"

namespace tkc::codegen {
namespace {

int64_t CountOps(const ir::Region& region) {
  int64_t count = 0;
  for (const ir::Op& op : region) {
    ++count;
    for (const ir::Region& inner : op.regions) count += CountOps(inner);
  }
  return count;
}

std::string Order(const ir::Kernel& kernel) {
  const int chiplets = TargetOf(kernel).chiplets;
  if (chiplets == 1 || kernel.axes.size() < 2) return OrderText(kernel);
  return fmt::format("{}; each of {} chiplets takes tiles in a row", OrderText(kernel), chiplets);
}

void Figures(const ir::Kernel& kernel, std::string& out) {
  const Target& target = TargetOf(kernel);
  const int threads_of_group = ir::kWarpsOfInstance * target.lanes;
  const int groups = kernel.threads / threads_of_group;
  out += fmt::format("\n  threads       {} ({} warpgroup{})\n", kernel.threads, groups, groups == 1 ? "" : "s");
  int64_t registers = 0;
  for (const ir::Worker& role : kernel.workers)
    registers += int64_t{kernel.RegistersOf(role)} * threads_of_group * role.Warpgroups();
  if (registers > 0)
    out += fmt::format("  registers     {} of a multiprocessor's {} for each block\n", registers, target.registers.file);
  std::string begin = "  launch        ";
  for (const auto& [name, value] : kernel.launch_lets)
    out += std::exchange(begin, std::string(16, ' ')) + fmt::format("{} = {}\n", name, symbolic::ToString(value));
  out += fmt::format("  order         {}\n", Order(kernel));
  if (kernel.cluster > 1) out += fmt::format("  cluster       {} blocks\n", kernel.cluster);
  if (kernel.split > 1) out += fmt::format("  split         sums in {} parts, one a block of the cluster\n", kernel.split);
  if (const int64_t blocks = kernel.Spread(); blocks > 1)
    out += fmt::format("  spread        one tile's instances over the {} blocks of the cluster\n", blocks);
  for (const ir::Pipe& pipe : kernel.pipes) {
    const int64_t bytes = SlotBytes(pipe);
    out += fmt::format("  pipe {:<8} {} slot{} of {} bytes, {} in all\n", pipe.name, pipe.slots, pipe.slots == 1 ? "" : "s", bytes,
                       pipe.slots * pipe.rings * bytes);
  }
  for (const ir::TensorMap& map : kernel.maps) {
    std::string box;
    for (int64_t extent : map.box) box += fmt::format("{}{}", box.empty() ? "" : " x ", extent);
    out += fmt::format("  copy engine   {} {} in boxes of {}, swizzle {}; {}\n", map.is_store ? "writes" : "reads", map.tensor, box,
                       layout::Name(map.swizzle),
                       map.is_store ? "where alignment or strides rule it out, threads store"
                                    : "where alignment or strides rule it out, from a packed copy in the workspace");
  }
  for (const ir::Worker& role : kernel.workers)
    out += fmt::format("  {:<13} {} operations\n", role.SourceName(), CountOps(role.body));
}

/// A line for each access to shared memory, made to be read by scripts, too: test/sim/conflicts.py and test/gpu/conflicts do.
void SharedTraffic(const ir::Kernel& kernel, const SourceManager& sources, std::string& out) {
  const std::vector<passes::SharedAccess> accesses = passes::SharedAccesses(kernel);
  if (accesses.empty()) return;
  out +=
      "\n  accesses to shared memory: instructions of a warp, wavefronts (passes over the banks), wavefronts without conflicts\n";
  for (const passes::SharedAccess& access : accesses) {
    const std::string place = access.span == kNoSpan ? "-" : std::to_string(sources.Line(access.span));
    out += fmt::format(
        "    line {:<4} {:<14} {:<16} {:<16} width {:<3} instructions {:<4} wavefronts {:<4} ideal {:<4} degree {:.3g}{}\n", place,
        passes::Name(access.kind), access.buffer, fmt::format("{}[{},{}]", Name(access.dtype), access.rows, access.cols),
        access.width, access.instructions, access.wavefronts, access.ideal, access.Degree(),
        access.row_alignment == 0 ? "" : fmt::format(" if rows are aligned to {}", access.row_alignment));
  }
}

/// When a schedule is taken.
std::string Chosen(const ir::Kernel& kernel) {
  std::string text = kernel.when ? " when " + symbolic::ToString(kernel.when) : kernel.cost ? "" : ", always";
  if (!kernel.cost) return text;
  if (!kernel.cost->IsOfFunction()) return text + ", at a cost of " + symbolic::ToString(kernel.cost->value);
  std::vector<std::string> args;
  for (const auto& [name, value] : kernel.cost->args) args.push_back(symbolic::ToString(value));
  return text + fmt::format(", at a cost of {}({})", kernel.cost->function, Join(args));
}

}  // namespace

std::string EmitReport(const ir::Module& module, const SourceManager& sources) {
  std::string out;
  for (const ir::Entry& entry : module.entries) {
    out +=
        fmt::format("entry {}: {} schedule{}\n", entry.name, entry.alternatives.size(), entry.alternatives.size() == 1 ? "" : "s");
    for (size_t i = 0; i < entry.alternatives.size(); ++i) {
      const ir::Kernel& kernel = module.kernels[static_cast<size_t>(entry.alternatives[i].front())];
      out += fmt::format("  {}. {}{}\n", i + 1, kernel.schedule.empty() ? "the kernel's own" : kernel.schedule, Chosen(kernel));
    }
  }
  const SourceStatements statements(sources);
  for (const ir::Kernel& kernel : module.kernels) {
    out += fmt::format("\nkernel {}\n", KernelFunction(kernel));
    for (const std::string& line : DescribeKernel(kernel, statements)) out += line.empty() ? "\n" : "  " + line + "\n";
    Figures(kernel, out);
    SharedTraffic(kernel, sources, out);
  }
  return out;
}

}  // namespace tkc::codegen

// SPDX-License-Identifier: MIT
#include "compiler/passes/plan_registers.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/passes/live_tiles.h"
#include "compiler/passes/register_shares.h"
#include "compiler/passes/walk.h"

namespace tkc::passes {
namespace {

constexpr int64_t kWarps = 4;  // of an instance

/// The mutable tiles that are in use at once, as sums are through the loops that add to them.
int64_t KeptRegisters(const ir::Kernel& kernel, const ir::Worker& worker) {
  int64_t most = 0;
  for (const LiveTiles& tiles : KeptTiles(kernel, worker)) {
    int64_t registers = 0;
    for (const ir::ValueId value : tiles.in_use) {
      if (kernel.values[value].is_mutable) registers += RegistersOf(kernel.values[value].type, worker.layout);
    }
    most = std::max(most, registers);
  }
  return most;
}

/// "`x` 64, `y` 64, .."
std::string InUse(const ir::Kernel& kernel, const ir::RegisterLayout& layout, const LiveTiles& live) {
  constexpr size_t kShown = 4;
  std::string text;
  for (size_t i = 0; i < std::min(kShown, live.in_use.size()); ++i) {
    const ir::Value& value = kernel.values[live.in_use[i]];
    text += fmt::format("{}`{}` {}", i == 0 ? "" : ", ", value.name, RegistersOf(value.type, layout));
  }
  return live.in_use.size() > kShown ? text + ", .." : text;
}

/// What the widest matrix instruction holds at once. ptxas allocates it within the registers of the launch, whatever is shared out
/// later.
int64_t InstructionRegisters(const ir::Kernel& kernel, const ir::Worker& worker) {
  constexpr int64_t kWidest = 256;      // columns
  constexpr int64_t kForOperands = 26;  // as ptxas reports (C7602)
  int64_t cols = 0;
  ForEachOp(worker.body, [&](const ir::Op& op) {
    if (op.code == ir::OpCode::kMma) cols = std::max(cols, std::min(kWidest, kernel.values[op.operands[0]].type.cols));
  });
  return cols == 0 ? 0 : cols / 2 + kForOperands;
}

/// Kernels without products stream: blocks of them share a multiprocessor, and the more there are, the more loads are in flight.
/// Each may take what its tiles need and some for the addresses of its loads, which all are issued before the first is used. What
/// is added here was chosen by `tools/bench --rowwise` on an H200: so much that none of examples/rowwise spills, and no more.
void ShareMultiprocessor(ir::Kernel& kernel, const Target& target) {
  const RegisterRule& rule = target.registers;
  constexpr int64_t kForLoads = 30, kForPositions = 16;
  int64_t most = 0;
  for (const ir::Worker& worker : kernel.workers) {
    bool multiplies = false;
    ForEachOp(worker.body, [&](const ir::Op& op) { multiplies |= IsProduct(op.code); });
    if (multiplies) return;
    most = std::max(
        {most, MostKeptTiles(kernel, worker).registers + kForLoads, MostLiveTiles(kernel, worker).registers + kForPositions});
  }
  if (most == 0) return;  // no worker
  const int64_t needed = (most + kRegisterUnit - 1) / kRegisterUnit * kRegisterUnit;
  const int64_t by_memory = target.BlocksByMemory(kernel.shared_bytes);
  const int64_t blocks =
      std::min({int64_t{rule.file} / (kernel.threads * needed), int64_t{target.threads_per_processor} / kernel.threads, by_memory});
  if (blocks < 2) return;
  kernel.resident = static_cast<int>(blocks);
  for (ir::Worker& worker : kernel.workers) worker.registers = static_cast<int>(RegistersOfResident(kernel, target));
}

/// The schedule says how many blocks share a multiprocessor. What is kept must fit; the rest is the compiler's of the output, which
/// computes element by element.
Result<void> DealToResident(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics) {
  const int64_t each = RegistersOfResident(kernel, target);
  for (ir::Worker& worker : kernel.workers) {
    worker.registers = static_cast<int>(each);
    const int64_t kept = MostKeptTiles(kernel, worker).registers;
    if (kept <= each) continue;
    diagnostics
        .Error(DiagnosticKind::kRegisterOverflow, worker.span,
               fmt::format("worker `{}` keeps tiles of {} registers a thread; {} are left to it", worker.name, kept, each))
        .Note(worker.span, fmt::format("{} resident blocks of {} threads share {} registers", kernel.resident, kernel.threads,
                                       target.registers.file))
        .Help("take fewer resident blocks, or smaller tiles");
    return Failure{};
  }
  return {};
}

}  // namespace

Result<void> PlanRegisters(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics) {
  if (kernel.resident > 1) return DealToResident(kernel, target, diagnostics);
  const RegisterShares shares = ShareRegisters(kernel, target);
  const int64_t entry = shares.at_entry, budget = shares.computing;
  int64_t computing = 0;
  bool copies = false;
  for (ir::Worker& worker : kernel.workers) {
    const bool computes = worker.kind == ir::RoleKind::kCompute;
    computing += computes ? worker.instances : 0;
    copies |= !computes;
    if (shares.copying != 0) worker.registers = static_cast<int>(computes ? budget : shares.copying);
  }
  for (const ir::Worker& worker : kernel.workers) {
    if (worker.kind != ir::RoleKind::kCompute) continue;
    const int64_t kept = KeptRegisters(kernel, worker);
    if (const int64_t needed = InstructionRegisters(kernel, worker); needed > entry) {
      diagnostics
          .Error(
              DiagnosticKind::kRegisterOverflow, worker.span,
              fmt::format("a matrix instruction of worker `{}` takes {} registers a thread; a launch of {} threads starts with {}",
                          worker.name, needed, kernel.threads, entry))
          .Help("use fewer worker instances, or tiles of fewer columns");
      return Failure{};
    }
    const std::string share =
        fmt::format("{} threads share {} registers: {} each for this worker, {} of them for addresses and counters", kernel.threads,
                    target.registers.file, budget, kForAddresses);
    if (const LiveTiles live = MostKeptTiles(kernel, worker);
        kept + kForAddresses <= budget && live.registers + kForAddresses > budget) {
      const int64_t widest = RegistersOf(kernel.values[live.in_use[0]].type, worker.layout);
      const bool is_one = widest + kForAddresses > budget;
      DiagnosticBuilder report =
          diagnostics.Error(DiagnosticKind::kRegisterOverflow, live.where->span,
                            fmt::format("{} {} registers a thread; {} are left to worker `{}` beside its addresses",
                                        is_one ? "a tile of" : "tiles in use at once take", is_one ? widest : live.registers,
                                        budget - kForAddresses, worker.name));
      report.Note(worker.span, share);
      if (!is_one) report.Note(fmt::format("in use here: {}", InUse(kernel, worker.layout, live)));
      const ir::Type& type = kernel.values[live.in_use[0]].type;
      const ir::RegisterLayout& l = worker.layout;
      const int64_t threads = int64_t{l.lanes} * l.lane_rows * l.warp_rows * l.warp_cols, all = int64_t{target.lanes} * kWarps;
      const bool would_fit = type.rows * type.cols * Bytes(type.dtype) / 4 / all + kForAddresses <= budget;
      if (threads < all && would_fit) {
        report.Note(fmt::format("{} of {} threads have a part of their own: {} x {} is dealt out by powers of two", threads, all,
                                type.rows, type.cols));
        report.Help("take blocks of powers of two, as 32 by 64: elements beyond an edge do not exist, so that any extent will do");
      } else {
        report.Help("walk over the tile in smaller blocks, or use more worker instances");
      }
      return Failure{};
    }
    if (kept + kForAddresses <= budget) continue;
    diagnostics
        .Error(DiagnosticKind::kRegisterOverflow, worker.span,
               fmt::format("worker `{}` keeps tiles of {} registers a thread; {} are left beside its addresses", worker.name, kept,
                           budget - kForAddresses))
        .Note(worker.span, share)
        .Help("use more worker instances, or smaller tiles");
    return Failure{};
  }
  // Elsewhere a multiprocessor takes as many blocks as the registers leave room for that the kernel turns out to have.
  const bool may_share = !copies || (computing == 1 && !kernel.persistent);
  if (kernel.resident == 0 && may_share && !target.folds_copies) ShareMultiprocessor(kernel, target);
  return {};
}

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
#include "compiler/passes/plan_registers.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/passes/walk.h"

namespace tkc::passes {
namespace {

constexpr int64_t kFile = 65536;         // 32-bit registers of a multiprocessor
constexpr int64_t kUnit = 8;             // setmaxnreg and the launch count in eights
constexpr int64_t kMostPerThread = 240;  // what setmaxnreg is asked for at most
constexpr int64_t kWithoutReshare = 255;
constexpr int64_t kForAddresses = 24;  // loop counters, addresses, descriptors beside the tiles

int64_t RegistersOf(const ir::Type& type) {
  const int64_t elements = type.rows * type.cols;
  return std::max<int64_t>(1, elements * std::max(Bytes(type.dtype), 1) / 4 / 128);
}

/// The tiles that live through the worker's loops: its mutable ones.
int64_t KeptRegisters(const ir::Kernel& kernel, const ir::Worker& worker) {
  int64_t registers = 0;
  ForEachOp(worker.body, [&](const ir::Op& op) {
    for (ir::ValueId value : op.results) {
      if (kernel.values[value].is_mutable) registers += RegistersOf(kernel.values[value].type);
    }
  });
  return registers;
}

/// The widest tile that any operation makes, and where.
std::pair<int64_t, Span> WidestTile(const ir::Kernel& kernel, const ir::Worker& worker) {
  std::pair<int64_t, Span> widest{0, worker.span};
  ForEachOp(worker.body, [&](const ir::Op& op) {
    for (ir::ValueId value : op.results) {
      const ir::Type& type = kernel.values[value].type;
      if (type.space == ir::Space::kRegister && RegistersOf(type) > widest.first) widest = {RegistersOf(type), op.span};
    }
  });
  return widest;
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

}  // namespace

Result<void> PlanRegisters(ir::Kernel& kernel, const Target&, Diagnostics& diagnostics) {
  const int64_t warpgroups = kernel.threads / 128;
  int64_t computing = 0;
  bool copies = false;
  for (const ir::Worker& worker : kernel.workers) {
    if (worker.kind == ir::RoleKind::kCompute)
      computing += worker.instances;
    else
      copies = true;
  }
  const int64_t entry = std::min(kWithoutReshare + 1, kFile / kernel.threads) / kUnit * kUnit;
  int64_t budget = std::min(entry, kWithoutReshare);
  if (copies && computing >= 2 && warpgroups > computing) {
    const int64_t for_copies = computing <= 2 ? 40 : 32;
    budget = std::min(kMostPerThread, (entry * warpgroups - for_copies * (warpgroups - computing)) / computing / kUnit * kUnit);
    for (ir::Worker& worker : kernel.workers)
      worker.registers = static_cast<int>(worker.kind == ir::RoleKind::kCompute ? budget : for_copies);
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
                    kFile, budget, kForAddresses);
    if (const auto [tile, span] = WidestTile(kernel, worker); kept + kForAddresses <= budget && tile + kForAddresses > budget) {
      diagnostics
          .Error(DiagnosticKind::kRegisterOverflow, span,
                 fmt::format("a tile of {} registers a thread; {} are left to worker `{}` beside its addresses", tile,
                             budget - kForAddresses, worker.name))
          .Note(worker.span, share)
          .Help("walk over the tile in smaller blocks, or use more worker instances");
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
  return {};
}

}  // namespace tkc::passes

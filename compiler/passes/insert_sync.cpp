// SPDX-License-Identifier: MIT
#include "compiler/passes/insert_sync.h"

#include <algorithm>
#include <set>

#include "compiler/ir/derived_names.h"
#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/passes/sent_slots.h"
#include "compiler/passes/sync_roles.h"

namespace tkc::passes {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

namespace {

/// The rings of this role, in the order in which it comes to them: those that it turns, and those that are never turned and name a
/// slot or a phase all the same.
std::vector<std::string> Rings(const ir::Kernel& kernel, const ir::Worker& worker, const RingsOfSends& of_sends) {
  std::vector<std::string> rings;
  const auto add = [&](const std::string& ring) {
    if (std::find(rings.begin(), rings.end(), ring) == rings.end()) rings.push_back(ring);
  };
  const auto is_ring = [&](const std::string& name) {
    return std::any_of(kernel.pipes.begin(), kernel.pipes.end(),
                       [&](const ir::Pipe& pipe) { return pipe.name == name || RingOfSends(of_sends, pipe.name) == name; });
  };
  ForEachOp(worker.body, [&](const Op& op) {
    if (op.code == OpCode::kAdvance) add(op.symbol);
    // A view of the only slot needs no ring.
    if (op.code == OpCode::kView && FindBuffer(kernel, op.symbol).count == 1) return;
    if (const std::string ring = ir::RingOf(op.SlotIfAny()); is_ring(ring)) add(ring);
  });
  return rings;
}

/// Every load names the barrier that it completes on.
void LinkBarriers(const ir::Kernel& kernel, Region& region) {
  ForEachOp(region, [&](Op& op) {
    if (!ir::IsEngineLoad(op.code)) return;
    for (size_t i = 0; i < kernel.barriers.size(); ++i) {
      if (kernel.barriers[i].name == FullBarrier(ir::RingOf(op.Slot()))) op.SetBarrier(static_cast<int64_t>(i));
    }
  });
}

/// Whether the copy engine brings what the copying role sends here, or a part of it.
bool IsLoadedByEngine(const Op& send) {
  return !send.regions.empty() &&
         std::any_of(send.regions[0].begin(), send.regions[0].end(), [](const Op& op) { return ir::IsEngineLoad(op.code); });
}

std::set<std::string> EnginePipes(const ir::Kernel& kernel) {
  std::set<std::string> pipes;
  for (const ir::Worker& worker : kernel.workers) {
    std::map<ValueId, std::string> pipe_of;  // received value, or a view of it
    ForEachOp(worker.body, [&](const Op& op) {
      const bool is_view = ir::IsPartOrTranspose(op.code);
      const bool is_engine = op.code == OpCode::kMma || op.code == OpCode::kStoreAsync;
      if (op.code == OpCode::kReceive) {
        for (const ValueId value : op.results) pipe_of[value] = op.symbol;
      }
      if (op.code == OpCode::kSend && IsLoadedByEngine(op)) pipes.insert(op.symbol);
      if (!is_view && !is_engine) return;
      for (const ValueId operand : op.operands) {
        const auto pipe = pipe_of.find(operand);
        if (pipe == pipe_of.end()) continue;
        if (is_engine) pipes.insert(pipe->second);
        if (is_view) pipe_of[op.results[0]] = pipe->second;
      }
    });
  }
  return pipes;
}

PipeTraffic TrafficOf(const ir::Kernel& kernel, const Target& target) {
  PipeTraffic traffic{target.folds_copies ? std::set<std::string>() : EnginePipes(kernel), {}, {}, {}};
  for (const ir::Worker& worker : kernel.workers) {
    ForEachOp(worker.body, [&](const Op& op) {
      if (op.code == OpCode::kSend && IsLoadedByEngine(op)) traffic.refilled.insert(op.symbol);
      if (op.code == OpCode::kSend && worker.spread > 1) traffic.exchanged.insert(op.symbol);
    });
  }
  for (const ir::Pipe& pipe : kernel.pipes) {
    if (IsFilledOnce(kernel, pipe)) {
      traffic.filled_once.insert(pipe.name);
      traffic.refilled.erase(pipe.name);
    } else if (traffic.exchanged.contains(pipe.name)) {
      traffic.refilled.insert(pipe.name);
    }
  }
  return traffic;
}

void DeclareRings(const ir::Kernel& kernel, ir::Worker& worker, const RingsOfSends& of_sends) {
  std::map<std::string, std::string> pipe_of;
  for (const auto& [pipe, ring] : of_sends) pipe_of[ring] = pipe;
  Region rings;
  for (const std::string& ring : Rings(kernel, worker, of_sends)) {
    const auto pipe = pipe_of.find(ring);
    const bool is_own = pipe == pipe_of.end();
    const int64_t slots = FindPipe(kernel, is_own ? ring : pipe->second).slots;
    rings.push_back(MakeOp(OpCode::kRing, ring, is_own ? "" : pipe->second, slots, worker.span));
  }
  worker.body.insert(worker.body.begin(), std::make_move_iterator(rings.begin()), std::make_move_iterator(rings.end()));
}

}  // namespace

Result<void> InsertSync(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics) {
  const size_t errors = diagnostics.ErrorCount();
  ir::TakenNames used = kernel.UsedNames();
  std::vector<RingsOfSends> rings;  // of each worker
  for (const ir::Worker& worker : kernel.workers) rings.push_back(SendRings(kernel, worker, used));
  const PipeTraffic traffic = TrafficOf(kernel, target);
  if (target.folds_copies)
    SyncFoldedRoles(kernel, rings, traffic, target, diagnostics);
  else
    SyncSeparateRoles(kernel, rings, traffic, diagnostics);
  HandOnTiles(kernel);
  for (const ir::Buffer& buffer : kernel.buffers) {
    if (buffer.is_fragments) AddSharesBarrier(kernel, buffer);
  }
  for (ir::Worker& worker : kernel.workers) {
    LinkBarriers(kernel, worker.body);
    if (target.has_grid_dependency) WaitForLaunchesBefore(worker);
  }
  AddFrame(kernel, traffic);
  for (size_t i = 0; i < rings.size(); ++i) DeclareRings(kernel, kernel.workers[i], rings[i]);
  return diagnostics.ErrorCount() == errors ? Result<void>() : Failure{};
}

}  // namespace tkc::passes

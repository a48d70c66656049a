// SPDX-License-Identifier: MIT
#include "compiler/passes/insert_sync.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/ir/derived_names.h"
#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/passes/meetings.h"
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

}  // namespace

std::string FullBarrier(const std::string& pipe) { return pipe + "_full"; }
std::string EmptyBarrier(const std::string& pipe) { return pipe + "_empty"; }

std::string PresentSlot(const Op& traffic) {
  const size_t ring = traffic.code == OpCode::kReceive ? 0 : kRingOfSend;
  if (traffic.scalars.size() <= ring) return traffic.symbol;
  return fmt::format("{}[{}]", traffic.symbol, symbolic::ToString(traffic.scalars[ring]));
}

bool IsShared(const ir::Kernel& kernel, const std::string& pipe) {
  bool shared = false;
  for (const ir::Worker& worker : kernel.workers) {
    ForEachOp(worker.body, [&](const Op& op) {
      // Before this pass the copy stands inside the send, afterwards it names the pipe's ring.
      const auto is_multicast = [](const Op& copy) { return ir::IsMulticast(copy.code); };
      if (op.code == OpCode::kSend && op.symbol == pipe && !op.regions.empty())
        shared |= std::any_of(op.regions[0].begin(), op.regions[0].end(), is_multicast);
      if (is_multicast(op)) shared |= ir::RingOf(op.Slot()) == pipe;
    });
  }
  return shared;
}

void SlotArrivals::Add(const std::string& pipe, int64_t arrivals, bool closes) {
  pending_[pipe] += arrivals;
  if (!closes) return;
  all_[pipe] = std::max(all_[pipe], of_others_[pipe] + pending_[pipe]);
  pending_[pipe] = 0;
}

void SendTiles(ir::Kernel& kernel, const Region& region, size_t index, const PipeTraffic& traffic, const RingsOfSends& rings,
               Region& out) {
  const Op& op = region[index];
  const ir::Pipe& pipe = FindPipe(kernel, op.symbol);
  const std::string& ring = RingOfSends(rings, pipe.name);
  if (OpensSlot(region, index) && !traffic.filled_once.contains(pipe.name))
    out.push_back(MakeOp(OpCode::kWaitEmpty, EmptyBarrier(pipe.name), ring, 0, op.span));
  for (Op& each : StoresOf(kernel, op, ring)) out.push_back(std::move(each));
  if (traffic.engine.contains(pipe.name)) out.push_back(MakeOp(OpCode::kFenceAsync, "", "", 0, op.span));
  out.push_back(MakeOp(OpCode::kArrive, FullBarrier(pipe.name), ring, ir::kPerWarp, op.span));
  const bool turns = ring != pipe.name || !IsReceivedNext(region, index);
  if (ClosesSlot(region, index) && turns && traffic.GoesOn(pipe)) out.push_back(MakeOp(OpCode::kAdvance, ring, "", 0, op.span));
}

void ReportTwoHeld(const Op& receive, Diagnostics& diagnostics) {
  diagnostics
      .Error(DiagnosticKind::kNotImplemented, receive.span,
             fmt::format("holding two values of pipe `{}` at once is specified, not yet implemented", receive.symbol))
      .Help("use the first value for the last time before the second receive, or send both in one slot");
}

Region StoresOf(ir::Kernel& kernel, const Op& op, const std::string& slot) {
  Region out;
  const ir::Pipe& pipe = FindPipe(kernel, op.symbol);
  for (size_t i = 0; i < op.operands.size(); ++i) {
    const size_t field = FieldOf(op, i);
    const ir::PipeField& shape = pipe.fields[field];
    const ir::Type type = kernel.TypeOf(op.operands[i]);
    const ValueId value = ConvertTo(kernel, op.operands[i], shape.dtype, pipe.name + "_values", op.span, out);
    Op view = MakeOp(OpCode::kView, FieldBuffer(pipe, field), slot, 0, op.span);
    view.results = {kernel.AddValue(view.symbol, ir::Type{shape.dtype, shape.rows, shape.cols, ir::Space::kShared, false})};
    out.push_back(view);
    ValueId target = view.results[0];
    if (type.rows != shape.rows || type.cols != shape.cols) {
      target = kernel.AddValue(view.symbol + "_part", ir::Type{shape.dtype, type.rows, type.cols, ir::Space::kShared, false});
      Op part{OpCode::kPart, {target}, view.results, {op.scalars[0], op.scalars[1]}};
      part.span = op.span;
      out.push_back(part);
    }
    Op store{OpCode::kStoreShared, {}, {target, value}};
    store.span = op.span;
    out.push_back(store);
  }
  return out;
}

void AddSlotBarriers(ir::Kernel& kernel, const ir::Pipe& pipe, int64_t full, int64_t empty) {
  kernel.barriers.push_back(
      {FullBarrier(pipe.name), pipe.slots, full, fmt::format("a slot of {} has been filled", pipe.name), pipe.rings});
  if (empty == 0) return;
  kernel.barriers.push_back(
      {EmptyBarrier(pipe.name), pipe.slots, empty, fmt::format("every reader is done with a slot of {}", pipe.name), pipe.rings});
}

namespace {

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
  if (target.folds_copies) {
    SyncChannels(kernel, rings, traffic, diagnostics);
    for (size_t i = 0; i < rings.size(); ++i) SyncFoldedRole(kernel, kernel.workers[i], rings[i], target, diagnostics);
    PlaceMeetings(kernel, target);
    HandOnTiles(kernel);
    for (size_t i = 0; i < rings.size(); ++i) {
      if (target.has_grid_dependency) WaitForLaunchesBefore(kernel.workers[i]);
      DeclareRings(kernel, kernel.workers[i], rings[i]);
    }
    return diagnostics.ErrorCount() == errors ? Result<void>() : Failure{};
  }
  const bool fills_once =
      std::includes(traffic.filled_once.begin(), traffic.filled_once.end(), traffic.exchanged.begin(), traffic.exchanged.end());
  kernel.leaves_alone = kernel.split > 1 || (kernel.Spread() > 1 && !kernel.dynamic && fills_once);
  FullArrivals arrivals;
  for (size_t i = 0; i < rings.size(); ++i) {
    ir::Worker& worker = kernel.workers[i];
    if (worker.Computes())
      SyncComputeRole(kernel, worker, traffic, rings[i], arrivals, diagnostics);
    else
      SyncCopyRole(kernel, worker, traffic, arrivals);
  }
  for (const ir::Pipe& pipe : kernel.pipes) {
    if (pipe.name == kernel.next_tile) continue;  // HandOnTiles
    if (traffic.exchanged.contains(pipe.name)) {
      AddClusterBarriers(kernel, pipe, traffic.filled_once.count(pipe.name) > 0);
      continue;
    }
    const int64_t blocks = IsShared(kernel, pipe.name) ? kernel.cluster : 1;
    const bool goes_back = !traffic.filled_once.contains(pipe.name);
    AddSlotBarriers(kernel, pipe, arrivals[pipe.name], goes_back ? pipe.receivers * ir::kWarpsOfInstance * blocks : 0);
  }
  HandOnTiles(kernel);
  for (const ir::Buffer& buffer : kernel.buffers) {
    if (buffer.is_fragments) AddSharesBarrier(kernel, buffer);
  }
  // Who reaches into other blocks waits for these when it comes to that. A single thread, which copies, can't: where all threads
  // meet the cluster once more at the end, they do so in front of everything, too.
  const auto computes = [](const ir::Worker& worker) { return worker.Computes(); };
  const bool all_compute = std::all_of(kernel.workers.begin(), kernel.workers.end(), computes);
  const bool waits_late = kernel.leaves_alone || (kernel.Spread() > 1 && all_compute);
  for (size_t i = 0; i < rings.size(); ++i) {
    ir::Worker& worker = kernel.workers[i];
    LinkBarriers(kernel, worker.body);
    if (target.has_grid_dependency) WaitForLaunchesBefore(worker);
    if (waits_late && computes(worker)) WaitForCluster(worker, /*has_met_block=*/!all_compute);
    DeclareRings(kernel, worker, rings[i]);
  }
  return diagnostics.ErrorCount() == errors ? Result<void>() : Failure{};
}

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
#include "compiler/passes/sync_roles.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/passes/sent_slots.h"

namespace tkc::passes {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

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
  kernel.barriers.push_back({EmptyBarrier(pipe.name), pipe.slots, empty,
                             fmt::format("every warp that reads is done with a slot of {}", pipe.name), pipe.rings});
}

}  // namespace tkc::passes

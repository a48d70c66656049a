// SPDX-License-Identifier: MIT
#include "compiler/passes/spread_instances.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/ir/queries.h"
#include "compiler/ir/rewrite.h"
#include "compiler/passes/assign_roles.h"
#include "compiler/passes/sent_slots.h"
#include "compiler/passes/separate_rings.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;

constexpr int kWord = 4;  // bytes: what blocks store into each other's shared memory in one piece

/// Why the worker's instances can't be spread: what stands between `spread` and "is specified".
std::string Hindrance(const ir::Kernel& kernel, const ir::Worker& worker) {
  if (kernel.cluster > 1 || kernel.split > 1) return "together with `cluster` or `split`";
  const auto is_own = [&](const std::string& pipe) { return FindPipe(kernel, pipe).per_worker == worker.name; };
  for (const ir::Worker& other : kernel.workers) {
    if (&other == &worker) continue;
    bool feeds = OnlyCopies(other);
    ForEachOp(other.body, [&](const Op& op) { feeds &= op.code != OpCode::kSend || is_own(op.symbol); });
    if (!feeds) return fmt::format("beside `{}`, which does more than load what one instance each receives,", other.name);
  }
  if (Multiplies(worker.body)) return "of a worker that multiplies";
  for (const ir::Pipe& pipe : kernel.pipes) {
    if (is_own(pipe.name)) {
      if (ServesAll(kernel, pipe)) continue;
      return fmt::format("with pipe `{}`, which is not filled in a loop over the instances that each receive one value at a time,",
                         pipe.name);
    }
    if (pipe.senders != worker.instances || pipe.receivers != worker.instances)
      return fmt::format("with pipe `{}`, which not every instance both sends to and receives from,", pipe.name);
    for (const ir::PipeField& field : pipe.fields) {
      if (Bytes(field.dtype) != kWord) return fmt::format("with pipe `{}`, whose elements have not {} bytes,", pipe.name, kWord);
    }
    if (SlotBytes(pipe) % (worker.instances / worker.spread) != 0)
      return fmt::format("with pipe `{}`, whose slots of {} bytes the {} instances of a block can't share out,", pipe.name,
                         SlotBytes(pipe), worker.instances / worker.spread);
  }
  return "";
}

/// `let w = rank * instances + w_here`: which of all instances one of this block is.
Op NumberOf(const std::string& name, const std::string& here, const ir::Worker& worker, Span span) {
  Op number{OpCode::kLet};
  number.symbol = name;
  number.span = span;
  const symbolic::Scalar rank = symbolic::Convert(symbolic::Call("cluster::rank", DType::kI32, {}), DType::kI64);
  const symbolic::Scalar first = symbolic::Mul(rank, symbolic::Int(worker.instances));
  number.scalars = {worker.instances == 1 ? rank : symbolic::Add(first, symbolic::Name(here))};
  return number;
}

/// Who loads fills the pipes of the instances of its block.
Region FedHere(Region region, const ir::Worker& worker, ir::TakenNames& used) {
  Region out;
  for (Op& op : region) {
    if (!IsOverInstances(op)) {
      for (Region& inner : op.regions) inner = FedHere(std::move(inner), worker, used);
      out.push_back(std::move(op));
      continue;
    }
    const std::string name = op.symbol, here = used.TakeFree(name + "_here");
    Region& body = op.regions[0];
    ForEachOp(body, [&](Op& each) {
      if (each.code == OpCode::kSend) each.scalars[kRingOfSend] = symbolic::Name(here);
    });
    body.insert(body.begin(), NumberOf(name, here, worker, op.span));
    op.symbol = here;
    op.scalars[1] = symbolic::Int(worker.instances);
    if (worker.instances > 1)
      out.push_back(std::move(op));
    else
      Append(out, std::move(body));
  }
  return out;
}

/// Each block's instances count from 0, and so do the pipes that they have for themselves.
void Deal(ir::Kernel& kernel, ir::Worker& worker) {
  worker.instances /= worker.spread;
  kernel.cluster = worker.spread;
  if (worker.instance_name.empty()) return;
  ir::TakenNames used = kernel.UsedNames();
  const std::string name = worker.instance_name;
  worker.instance_name = used.TakeFree(name + "_here");
  ForEachOp(worker.body, [&](Op& op) {
    if (op.code == OpCode::kReceive && !op.scalars.empty()) op.scalars[0] = symbolic::Name(worker.instance_name);
  });
  worker.body.insert(worker.body.begin(), NumberOf(name, worker.instance_name, worker, worker.span));
  for (ir::Worker& other : kernel.workers) {
    if (&other != &worker) other.body = FedHere(std::move(other.body), worker, used);
  }
  for (ir::Pipe& pipe : kernel.pipes) {
    if (pipe.per_worker != worker.name) continue;
    pipe.rings = worker.instances;
    if (pipe.rings == 1) JoinOnlyRing(kernel, pipe);
  }
}

}  // namespace

Result<void> SpreadInstances(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics) {
  const auto worker = std::find_if(kernel.workers.begin(), kernel.workers.end(), [](const ir::Worker& w) { return w.spread > 1; });
  if (worker == kernel.workers.end()) return {};
  if (!target.UsesClusters()) {
    for (ir::Worker& each : kernel.workers) each.spread = 1;  // one block has all instances, as without the item
    return {};
  }
  if (const std::string hindrance = Hindrance(kernel, *worker); !hindrance.empty()) {
    const std::string set = kernel.schedule.empty() ? "" : fmt::format(" (schedule `{}`)", kernel.schedule);
    return diagnostics
        .Error(DiagnosticKind::kNotImplemented, worker->span,
               fmt::format("`spread {}` {}{} is specified, not yet implemented", worker->name, hindrance, set))
        .Help("leave `spread` out of this schedule");
  }
  Deal(kernel, *worker);
  return {};
}

}  // namespace tkc::passes

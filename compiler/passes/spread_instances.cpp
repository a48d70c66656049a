// SPDX-License-Identifier: MIT
#include "compiler/passes/spread_instances.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/passes/walk.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;

constexpr int kWord = 4;  // bytes: what blocks store into each other's shared memory in one piece

/// Why the worker's instances can't be spread: what stands between `spread` and "is specified".
std::string Hindrance(const ir::Kernel& kernel, const ir::Worker& worker) {
  if (kernel.cluster > 1 || kernel.split > 1) return "together with `cluster` or `split`";
  if (kernel.workers.size() > 1) return "of a worker beside others";
  bool multiplies = false;
  ForEachOp(worker.body, [&](const Op& op) { multiplies |= IsProduct(op.code); });
  if (multiplies) return "of a worker that multiplies";
  for (const ir::Pipe& pipe : kernel.pipes) {
    if (pipe.senders != worker.instances || pipe.receivers != worker.instances || !pipe.per_worker.empty())
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

/// Each block's instances count from 0; `let w = rank * instances + w_here` says which of all they are.
void Deal(ir::Kernel& kernel, ir::Worker& worker) {
  worker.instances /= worker.spread;
  kernel.cluster = worker.spread;
  if (worker.instance_name.empty()) return;
  Op number{OpCode::kLet};
  number.symbol = worker.instance_name;
  number.span = worker.span;
  worker.instance_name = ir::FreeName(kernel.UsedNames(), worker.instance_name + "_here");
  const symbolic::Scalar rank = symbolic::Convert(symbolic::Call("cluster::rank", DType::kI32, {}), DType::kI64);
  number.scalars = {worker.instances == 1 ? rank
                                          : symbolic::Add(symbolic::Mul(rank, symbolic::Int(worker.instances)),
                                                          symbolic::Name(worker.instance_name))};
  worker.body.insert(worker.body.begin(), std::move(number));
}

}  // namespace

Result<void> SpreadInstances(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics) {
  const auto worker = std::find_if(kernel.workers.begin(), kernel.workers.end(), [](const ir::Worker& w) { return w.spread > 1; });
  if (worker == kernel.workers.end()) return {};
  if (!target.has_clusters || target.folds_copies) {
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

// SPDX-License-Identifier: MIT
#include "compiler/passes/expand_workers.h"

#include "compiler/ir/queries.h"

namespace tkc::passes {
namespace {

void Collect(const ir::Region& region, const ir::Worker& worker, int64_t instance, Endpoints& endpoints) {
  for (const ir::Op& op : region) {
    if (op.code == ir::OpCode::kSend) endpoints.sent.insert(op.symbol);
    if (op.code == ir::OpCode::kReceive) endpoints.received.insert(op.symbol);
    for (size_t i = 0; i < op.regions.size(); ++i) {
      if (Takes(op, i, worker, instance)) Collect(op.regions[i], worker, instance, endpoints);
    }
  }
}

}  // namespace

bool Takes(const ir::Op& op, size_t region, const ir::Worker& worker, int64_t instance) {
  if (op.code != ir::OpCode::kIf) return true;
  symbolic::Scalar condition = op.scalars[0];
  if (!worker.instance_name.empty()) condition = symbolic::Substitute(condition, worker.instance_name, symbolic::Int(instance));
  return condition->kind != symbolic::Kind::kBool || (condition->int_value != 0) == (region == 0);
}

Endpoints EndpointsOf(const ir::Worker& worker, int64_t instance) {
  Endpoints endpoints;
  Collect(worker.body, worker, instance, endpoints);
  return endpoints;
}

Result<void> ExpandWorkers(ir::Kernel& kernel, Diagnostics&) {
  for (ir::Pipe& pipe : kernel.pipes) pipe.senders = pipe.receivers = 0;
  for (const ir::Worker& worker : kernel.workers) {
    // Instances in turn share one ring: each slot is filled and read by one of them.
    const int64_t instances = worker.InstancesOfTile();
    for (int64_t number = 0; number < instances; ++number) {
      const Endpoints endpoints = EndpointsOf(worker, number);
      for (const std::string& pipe : endpoints.sent) ++FindPipe(kernel, pipe).senders;
      for (const std::string& pipe : endpoints.received) ++FindPipe(kernel, pipe).receivers;
    }
  }
  for (ir::Pipe& pipe : kernel.pipes) pipe.receivers /= pipe.rings;  // each of which is received by one
  // Of a worker whose statements are all under conditions that do not hold in this set, nothing is left: it takes no threads.
  std::erase_if(kernel.workers, [](const ir::Worker& worker) { return worker.body.empty(); });
  // A pipe that nobody uses takes no shared memory (the checker has warned of it).
  std::erase_if(kernel.pipes, [](const ir::Pipe& pipe) { return pipe.senders == 0 && pipe.receivers == 0; });
  return {};
}

}  // namespace tkc::passes

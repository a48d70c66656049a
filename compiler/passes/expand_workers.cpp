// SPDX-License-Identifier: MIT
#include "compiler/passes/expand_workers.h"

#include <set>

#include "compiler/passes/walk.h"

namespace tkc::passes {
namespace {

struct Endpoints {
  std::set<std::string> sent, received;
};

/// The pipes that instance `number` of the worker sends to and receives from.
void Collect(const ir::Region& region, const std::string& instance_name, int64_t number, Endpoints& endpoints) {
  for (const ir::Op& op : region) {
    if (op.code == ir::OpCode::kSend) endpoints.sent.insert(op.symbol);
    if (op.code == ir::OpCode::kReceive) endpoints.received.insert(op.symbol);
    if (op.code == ir::OpCode::kIf) {
      symbolic::Scalar condition = op.scalars[0];
      if (!instance_name.empty()) condition = symbolic::Substitute(condition, instance_name, symbolic::Int(number));
      const bool is_known = condition->kind == symbolic::Kind::kBool;
      if (!is_known || condition->int_value != 0) Collect(op.regions[0], instance_name, number, endpoints);
      if (!is_known || condition->int_value == 0) Collect(op.regions[1], instance_name, number, endpoints);
      continue;
    }
    for (const ir::Region& inner : op.regions) Collect(inner, instance_name, number, endpoints);
  }
}

}  // namespace

Result<void> ExpandWorkers(ir::Kernel& kernel, Diagnostics&) {
  for (ir::Pipe& pipe : kernel.pipes) pipe.senders = pipe.receivers = 0;
  for (const ir::Worker& worker : kernel.workers) {
    // Instances in turn share one ring: each slot is filled and read by one of them.
    const int64_t instances = worker.in_turn ? 1 : worker.instances;
    for (int64_t number = 0; number < instances; ++number) {
      Endpoints endpoints;
      Collect(worker.body, worker.instance_name, number, endpoints);
      for (const std::string& pipe : endpoints.sent) ++FindPipe(kernel, pipe).senders;
      for (const std::string& pipe : endpoints.received) ++FindPipe(kernel, pipe).receivers;
    }
  }
  // A pipe that nobody uses takes no shared memory (the checker has warned of it).
  std::erase_if(kernel.pipes, [](const ir::Pipe& pipe) { return pipe.senders == 0 && pipe.receivers == 0; });
  return {};
}

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
#include "compiler/certify/structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/certify/scene.h"
#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"

namespace tkc::certify {

using ir::OpCode;

std::optional<Finding> CheckRings(Program& program) {
  const ir::Kernel& kernel = *program.kernel;
  program.ring_of_buffer.assign(kernel.buffers.size(), "");
  program.ring_of_barrier.assign(kernel.barriers.size(), "");
  std::map<std::string, int64_t> slots;
  for (const Agent& agent : program.agents) {
    const auto finding = [&](Span span, std::string headline) {
      return Finding{DiagnosticKind::kCertificatePhase, span, std::move(headline)};
    };
    for (const AgentRing& ring : agent.rings) {
      const auto [place, is_new] = slots.try_emplace(ring.name, ring.slots);
      if (!is_new && place->second != ring.slots)
        return finding(agent.worker->span,
                       fmt::format("`{}` has {} slots in `{}` and {} elsewhere", ring.name, ring.slots, agent.name, place->second));
    }
    for (const Step& step : agent.steps) {
      if (step.kind != StepKind::kOp) continue;
      const Span span = step.op->span;
      const bool is_split = step.op->code == OpCode::kSplitSend;
      program.shares_slots |= ReachesOut(*step.op) && !is_split;
      const bool waits = step.op->code == OpCode::kWaitFull || step.op->code == OpCode::kWaitEmpty;
      const bool advances = step.op->code == OpCode::kAdvance;
      if (step.ring < 0) {
        if (waits || advances)
          return finding(span, fmt::format("`{}` has no ring `{}`", agent.name, waits ? step.op->Slot() : step.op->symbol));
        if (step.barrier >= 0 && step.element >= kernel.barriers[static_cast<size_t>(step.barrier)].count)
          return finding(
              span, fmt::format("`{}` has no element {}", kernel.barriers[static_cast<size_t>(step.barrier)].name, step.element));
        continue;
      }
      const AgentRing& ring = agent.rings[static_cast<size_t>(step.ring)];
      const auto check = [&](std::string& of, const std::string& array, int64_t count) -> std::optional<Finding> {
        if (of.empty()) of = ring.name;
        if (of != ring.name)
          return finding(span, fmt::format("`{}` is used with ring `{}` here and with `{}` elsewhere", array, ring.name, of));
        if (count < ring.slots)
          return finding(span,
                         fmt::format("ring `{}` of {} slots indexes `{}`, which has {}", ring.name, ring.slots, array, count));
        return std::nullopt;
      };
      if (step.barrier >= 0) {
        const ir::Barrier& barrier = kernel.barriers[static_cast<size_t>(step.barrier)];
        if (auto found = check(program.ring_of_barrier[static_cast<size_t>(step.barrier)], barrier.name, barrier.count))
          return found;
      }
      if (step.buffer >= 0) {
        const ir::Buffer& buffer = kernel.buffers[static_cast<size_t>(step.buffer)];
        if (auto found = check(program.ring_of_buffer[static_cast<size_t>(step.buffer)], buffer.name, buffer.count)) return found;
      }
    }
  }
  return std::nullopt;
}

namespace {

/// Where the set-up only arrives at the cluster's barrier, each thread waits there once before it comes there again, and if it
/// never does, may do without.
std::optional<Finding> CheckWaitForCluster(const ir::Kernel& kernel, const ir::Worker& worker, const Setup& setup) {
  const auto finding = [&](std::string headline) {
    return Finding{DiagnosticKind::kCertificateHazard, worker.span, std::move(headline)};
  };
  int count = 0, inside = 0;
  for (const ir::Op& op : worker.body) count += op.code == OpCode::kClusterWait;
  ir::ForEachOp(worker.body, [&](const ir::Op& op) { inside += op.code == OpCode::kClusterWait; });
  if (!setup.has_arrived) {
    if (inside == 0) return std::nullopt;
    return finding(fmt::format("`{}` waits for the other blocks, whom the set-up tells nothing", worker.SourceName()));
  }
  if (inside == 0 && !kernel.EndsTogether()) return std::nullopt;
  if (count != 1 || inside != 1)
    return finding(
        fmt::format("`{}` does not wait for the other blocks once, outside of loops and conditions", worker.SourceName()));
  if (worker.Computes() || !kernel.EndsTogether()) return std::nullopt;
  return finding(fmt::format("not all threads of the warpgroup of `{}` wait for the other blocks", worker.SourceName()));
}

}  // namespace

std::optional<Finding> CheckCluster(const Program& program, const Setup& setup) {
  const ir::Kernel& kernel = *program.kernel;
  for (const ir::Worker& worker : kernel.workers) {
    if (auto found = CheckWaitForCluster(kernel, worker, setup)) return found;
  }
  for (const Agent& agent : program.agents) {
    bool has_waited = setup.cluster_stands;
    for (const Step& step : agent.steps) {
      if (step.kind != StepKind::kOp) continue;
      has_waited |= step.op->code == OpCode::kClusterWait;
      const bool reaches = program.blocks > 1 && ReachesOut(*step.op);
      if (!has_waited && (reaches || (step.barrier >= 0 && !setup.barriers_stand)))
        return Finding{DiagnosticKind::kCertificateHazard, step.op->span,
                       fmt::format("`{}` {} before it knows that barriers stand and the other blocks have begun", agent.name,
                                   Doing(kernel, *step.op))};
      // Stores are waited for where they arrive, which the replay proves; nobody knows of the end of the others.
      if (reaches && !kernel.EndsTogether() && !ir::StoresToBlocks(step.op->code))
        return Finding{DiagnosticKind::kCertificateHazard, step.op->span,
                       fmt::format("`{}` {} in a block that may have ended", agent.name, Doing(kernel, *step.op))};
    }
  }
  return std::nullopt;
}

namespace {

/// The first operation that touches a tensor before the role has waited; `waits`: whether it has, when it comes to the region and
/// then behind it. A loop may have no iteration, and of a branch only one side is taken. `tiles`: the loop over tiles whose body
/// the region is, where the first iteration waits for all.
const ir::Op* TouchesTooEarly(const ir::Region& region, const ir::Op* tiles, bool& waits) {
  for (const ir::Op& op : region) {
    if (op.code == OpCode::kWaitPrevious)
      waits |= op.scalars.empty() || (tiles && symbolic::Equal(op.scalars[0], ir::IsFirstTile(*tiles)));
    if (!waits && ir::TouchesTensor(op)) return &op;
    bool all_sides = !ir::IsLoop(op.code) && op.regions.size() > 1;
    for (const ir::Region& inner : op.regions) {
      bool waits_inside = waits;
      if (const ir::Op* found = TouchesTooEarly(inner, op.code == OpCode::kForTiles ? &op : nullptr, waits_inside)) return found;
      all_sides &= waits_inside;
    }
    waits |= all_sides;
  }
  return nullptr;
}

}  // namespace

std::optional<Finding> CheckLaunch(const ir::Kernel& kernel, const Target& target) {
  if (!target.has_grid_dependency) return std::nullopt;
  for (const ir::Worker& worker : kernel.workers) {
    bool waits = false;
    const ir::Op* early = TouchesTooEarly(worker.body, nullptr, waits);
    if (early)
      return Finding{
          DiagnosticKind::kCertificateHazard, early->span,
          fmt::format("`{}` {} before it knows that the launches before have ended", worker.SourceName(), Doing(kernel, *early))};
  }
  return std::nullopt;
}

}  // namespace tkc::certify

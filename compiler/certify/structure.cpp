// SPDX-License-Identifier: MIT
#include "compiler/certify/structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/certify/scene.h"
#include "compiler/ir/op_traits.h"
#include "compiler/passes/walk.h"
#include "compiler/target/cluster.h"

namespace tkc::certify {
namespace {

using ir::OpCode;

std::optional<Finding> CheckRegisters(const ir::Kernel& kernel, const Target& target) {
  const int groups = kernel.threads / 128;
  std::map<int, std::pair<int, const ir::Worker*>> asked;  // by warpgroup
  for (const ir::Worker& worker : kernel.workers) {
    // Where no registers move, they are a limit of the launch.
    const bool is_limit = !target.registers.Moves() && worker.kind == ir::RoleKind::kCompute;
    if (is_limit && worker.registers <= target.registers.most_per_thread) continue;
    const int64_t taken = worker.kind == ir::RoleKind::kCompute ? worker.instances : 1;
    for (int64_t i = 0; i < taken; ++i) {
      const int group = worker.first_warp / ir::kWarpsOfInstance + static_cast<int>(i);
      const auto [place, is_new] = asked.try_emplace(group, worker.registers, &worker);
      if (!is_new && place->second.first != worker.registers)
        return Finding{DiagnosticKind::kCertificateBudget, worker.span,
                       fmt::format("warps of one warpgroup ask for {} and {} registers", place->second.first, worker.registers)};
    }
    if (worker.registers == 0) continue;
    const RegisterRule& rule = target.registers;
    if (worker.registers % rule.unit != 0 || worker.registers < rule.least || worker.registers > rule.most)
      return Finding{DiagnosticKind::kCertificateBudget, worker.span,
                     fmt::format("`{}` asks for {} registers; `{}` gives multiples of {} from {} to {}", worker.name,
                                 worker.registers, target.name, rule.unit, rule.least, rule.most)};
  }
  int64_t sum = 0;
  bool moves = false;
  for (int group = 0; group < groups; ++group) {
    const auto place = asked.find(group);
    const bool keeps = place == asked.end() || place->second.first == 0;  // what it entered with
    sum += keeps ? target.registers.AtEntry(kernel.threads) : place->second.first;
    moves |= !keeps;
  }
  if (!moves) return std::nullopt;
  if (sum <= target.registers.Pool(kernel.threads)) return std::nullopt;
  return Finding{DiagnosticKind::kCertificateBudget, kernel.span,
                 fmt::format("the warpgroups of `{}` ask for {} registers a thread together; a block of {} threads starts with {} "
                             "and would wait for ever",
                             kernel.name, sum, kernel.threads, target.registers.Pool(kernel.threads))};
}

std::optional<Finding> CheckShared(const ir::Kernel& kernel, const Target& target) {
  const auto finding = [&](std::string headline) {
    return Finding{DiagnosticKind::kCertificateBudget, kernel.span, std::move(headline)};
  };
  int64_t end = 0;
  for (const ir::Buffer& buffer : kernel.buffers) {
    if (buffer.offset % buffer.Alignment() != 0)
      return finding(
          fmt::format("`{}` starts at byte {}, not at a multiple of {}", buffer.name, buffer.offset, buffer.Alignment()));
    for (const ir::Buffer& other : kernel.buffers) {
      if (&other == &buffer) break;
      if (ir::ShareRoom(buffer, other)) continue;  // the replay shows that neither is needed while the other is
      if (buffer.offset < other.End() && other.offset < buffer.End())
        return finding(fmt::format("`{}` and `{}` overlap in shared memory", other.name, buffer.name));
    }
    end = std::max(end, buffer.End());
  }
  for (const ir::Barrier& barrier : kernel.barriers) {
    end += barrier.count * barrier.instances * ir::kBarrierBytes;
    if (barrier.arrivals < 1 || barrier.arrivals > ir::kMostArrivals)
      return finding(
          fmt::format("`{}` expects {} arrivals; 1 to {} can be counted", barrier.name, barrier.arrivals, ir::kMostArrivals));
  }
  if (end > kernel.shared_bytes)
    return finding(
        fmt::format("tiles and barriers take {} bytes of shared memory, the launch asks for {}", end, kernel.shared_bytes));
  if (kernel.shared_bytes > target.shared_memory_per_block)
    return finding(
        fmt::format("{} bytes of shared memory; `{}` has {}", kernel.shared_bytes, target.name, target.shared_memory_per_block));
  return std::nullopt;
}

std::optional<Finding> CheckClusterSize(const ir::Kernel& kernel, const Target& target) {
  const int64_t most = target.has_clusters ? kMostBlocksOfCluster : 1;
  if (kernel.cluster >= 1 && kernel.cluster <= most) return std::nullopt;
  return Finding{DiagnosticKind::kCertificateBudget, kernel.span,
                 fmt::format("a cluster of {} blocks; `{}` takes up to {}", kernel.cluster, target.name, most)};
}

std::optional<Finding> CheckWarps(const Program& program) {
  const ir::Kernel& kernel = *program.kernel;
  std::map<int, const ir::Worker*> owner;
  for (const ir::Worker& worker : kernel.workers) {
    const bool computes = worker.kind == ir::RoleKind::kCompute;
    const int warps = computes ? ir::kWarpsOfInstance * static_cast<int>(worker.instances) : 1;
    for (int warp = worker.first_warp; warp < worker.first_warp + warps; ++warp) {
      const bool is_free = owner.try_emplace(warp, &worker).second;
      if (!is_free || warp < 0 || warp >= kernel.threads / program.lanes ||
          (computes && worker.first_warp % ir::kWarpsOfInstance != 0))
        return Finding{
            DiagnosticKind::kCertificateBudget, worker.span,
            fmt::format("`{}` does not have warp {} of {} for itself", worker.name, warp, kernel.threads / program.lanes)};
    }
  }
  // Branches lead to roles by their warpgroups, the last one without a question: a warpgroup too many would execute another's.
  const int group = ir::kWarpsOfInstance * program.lanes;
  for (int i = 0; !owner.empty() && i * group < kernel.threads; ++i) {
    const auto first = owner.lower_bound(i * ir::kWarpsOfInstance);
    if (first != owner.end() && first->first < (i + 1) * ir::kWarpsOfInstance && kernel.threads % group == 0) continue;
    return Finding{DiagnosticKind::kCertificateBudget, kernel.span,
                   fmt::format("{} threads, and no role for warpgroup {} of {}", kernel.threads, i, group)};
  }
  return std::nullopt;
}

/// Where the block has no named barriers, one in shared memory stands for each: it counts all who meet, and no pipe uses it.
std::optional<Finding> CheckMeeting(const Program& program, const Agent& agent, const ir::Op& op, bool is_own) {
  const ir::Kernel& kernel = *program.kernel;
  const ir::Worker& worker = *agent.worker;
  // A role that is the whole block has the block's barrier to itself.
  if (is_own && kernel.workers.size() == 1 && worker.instances == 1 && worker.warps_meet.empty()) return std::nullopt;
  const std::string& name = is_own ? worker.warps_meet : worker.all_meet;
  const int64_t warps = is_own ? ir::kWarpsOfInstance : ir::kWarpsOfInstance * worker.instances,
                count = is_own ? worker.instances : 1;
  const auto finding = [&](std::string headline) {
    return Finding{DiagnosticKind::kCertificateBarrier, op.span, std::move(headline)};
  };
  const ir::Barrier* barrier = ir::FindNamed(kernel.barriers, name);
  if (!barrier) return finding(fmt::format("`{}` meets at a named barrier, and the target has none", agent.name));
  for (const ir::Worker& other : kernel.workers) {
    const int uses = (other.warps_meet == name) + (other.all_meet == name);
    if (uses > (&other == &worker ? 1 : 0)) return finding(fmt::format("`{}` is used by others, too", name));
  }
  const auto number = static_cast<int>(barrier - kernel.barriers.data());
  for (const Agent& other : program.agents) {
    for (const Step& step : other.steps) {
      if (step.barrier == number) return finding(fmt::format("`{}` is used for a pipe, too", name));
    }
  }
  if (barrier->arrivals != warps || barrier->count != count || (!is_own && op.number != warps * program.lanes))
    return finding(fmt::format("`{}` meets with {} warps at `{}`, which counts {}", agent.name, warps, name, barrier->arrivals));
  return std::nullopt;
}

/// A warpgroup's own barrier is used by nobody else, and all are of those that the block has.
std::optional<Finding> CheckNamedBarriers(const Program& program, const Target& target) {
  std::map<int64_t, std::string> owner;  // of a warpgroup's own barrier
  std::map<int64_t, Span> shared;        // used by name
  for (const Agent& agent : program.agents) {
    if (agent.block != 0) continue;
    for (const Step& step : agent.steps) {
      if (step.kind != StepKind::kOp) continue;
      const OpCode code = step.op->code;
      const bool is_own = (code == OpCode::kSyncRole && step.op->number == ir::kOfWarpgroup) ||
                          (ir::ReducesOrScans(code) && step.buffer >= 0 && agent.worker->layout.SpansWarps(step.op->slot));
      if (!is_own && code != OpCode::kNamedSync && code != OpCode::kNamedArrive) continue;
      if (target.named_barriers == 0) {
        if (auto found = CheckMeeting(program, agent, *step.op, is_own)) return found;
        continue;
      }
      const bool is_default = ir::ReducesOrScans(code) || (is_own && step.op->scalars.empty());
      const int64_t group = agent.worker->first_warp / ir::kWarpsOfInstance + agent.instance;
      const int64_t id = is_default ? 1 + group : is_own ? 1 + step.element : step.element;
      const auto finding = [&](std::string headline) {
        return Finding{DiagnosticKind::kCertificateBarrier, step.op->span, std::move(headline)};
      };
      if (id < 1 || id >= target.named_barriers)
        return finding(fmt::format("`{}` uses named barrier {}; a block has 1 to {} beside its own", agent.name, id,
                                   target.named_barriers - 1));
      if (!is_own) {
        shared.emplace(id, step.op->span);
        continue;
      }
      const auto [place, is_new] = owner.try_emplace(id, agent.name);
      if (!is_new && place->second != agent.name)
        return finding(fmt::format("`{}` and `{}` use named barrier {} each for its own warps", place->second, agent.name, id));
    }
  }
  for (const auto& [id, span] : shared) {
    const auto place = owner.find(id);
    if (place == owner.end()) continue;
    return Finding{DiagnosticKind::kCertificateBarrier, span,
                   fmt::format("named barrier {} is used here and by `{}` for its own warps", id, place->second)};
  }
  return std::nullopt;
}

}  // namespace

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
          return finding(span, fmt::format("`{}` has no ring `{}`", agent.name, waits ? step.op->slot : step.op->symbol));
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

std::optional<Finding> CheckCluster(const Program& program) {
  const ir::Kernel& kernel = *program.kernel;
  const bool waits = std::any_of(kernel.workers.begin(), kernel.workers.end(),
                                 [](const ir::Worker& worker) { return passes::Contains(worker.body, OpCode::kClusterWait); });
  for (const ir::Worker& worker : kernel.workers) {
    const auto finding = [&](Span span, std::string headline) {
      return Finding{DiagnosticKind::kCertificateHazard, span, std::move(headline)};
    };
    int count = 0, inside = 0;
    for (const ir::Op& op : worker.body) count += op.code == OpCode::kClusterWait;
    passes::ForEachOp(worker.body, [&](const ir::Op& op) { inside += op.code == OpCode::kClusterWait; });
    // Without a wait of its own a role has met its block, whose barriers stand.
    const bool may_do_without = kernel.leaves_alone && inside == 0;
    if (waits && !may_do_without && (count != 1 || inside != 1))
      return finding(worker.span,
                     fmt::format("`{}` does not wait for the other blocks once, outside of loops and conditions", worker.name));
  }
  for (const Agent& agent : program.agents) {
    const bool has_met_block = waits && !passes::Contains(agent.worker->body, OpCode::kClusterWait);
    bool has_waited = !waits;
    for (const Step& step : agent.steps) {
      if (step.kind != StepKind::kOp) continue;
      has_waited |= step.op->code == OpCode::kClusterWait;
      const bool reaches = program.blocks > 1 && ReachesOut(*step.op);
      if (!has_waited && (reaches || (step.barrier >= 0 && !has_met_block)))
        return Finding{DiagnosticKind::kCertificateHazard, step.op->span,
                       fmt::format("`{}` {} before it knows that barriers stand and the other blocks have begun", agent.name,
                                   Doing(kernel, *step.op))};
      // Stores are waited for where they arrive, which the replay proves; nobody knows of the end of the others.
      const bool is_waited_for = step.op->code == OpCode::kStoreCluster || step.op->code == OpCode::kSplitSend;
      if (reaches && kernel.leaves_alone && !is_waited_for)
        return Finding{DiagnosticKind::kCertificateHazard, step.op->span,
                       fmt::format("`{}` {} in a block that may have ended", agent.name, Doing(kernel, *step.op))};
    }
  }
  return std::nullopt;
}

std::optional<Finding> CheckBudgets(const Program& program, const Target& target) {
  const ir::Kernel& kernel = *program.kernel;
  if (auto found = CheckClusterSize(kernel, target)) return found;
  if (auto found = CheckWarps(program)) return found;
  if (auto found = CheckRegisters(kernel, target)) return found;
  if (auto found = CheckShared(kernel, target)) return found;
  return CheckNamedBarriers(program, target);
}

}  // namespace tkc::certify

// SPDX-License-Identifier: MIT
#include "compiler/certify/named_barriers.h"

#include <fmt/format.h>

#include <map>

#include "compiler/ir/op_traits.h"

namespace tkc::certify {
namespace {

using ir::OpCode;

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
  if (barrier->arrivals != warps || barrier->count != count || (!is_own && op.MeetingThreads() != warps * program.lanes))
    return finding(fmt::format("`{}` meets with {} warps at `{}`, which counts {}", agent.name, warps, name, barrier->arrivals));
  return std::nullopt;
}

}  // namespace

std::optional<Finding> CheckNamedBarriers(const Program& program, const Target& target) {
  std::map<int64_t, std::string> owner;  // of a warpgroup's own barrier
  std::map<int64_t, Span> shared;        // used by name
  for (const Agent& agent : program.agents) {
    if (agent.block != 0) continue;
    for (const Step& step : agent.steps) {
      if (step.kind != StepKind::kOp) continue;
      const OpCode code = step.op->code;
      const bool is_own = (code == OpCode::kSyncRole && step.op->Is(ir::kOfWarpgroup)) ||
                          (ir::ReducesOrScans(code) && step.buffer >= 0 && ir::SpansWarps(*step.op, agent.worker->layout));
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

}  // namespace tkc::certify

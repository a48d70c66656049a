// SPDX-License-Identifier: MIT
// Barriers of warps: a warpgroup's own, named ones, the cluster's.
#include "compiler/certify/machine.h"

#include <fmt/format.h>

namespace tkc::certify {

using ir::OpCode;

bool Machine::SyncGroup(Context& c) {
  if (!c.agent.computes || c.step.is_elected)
    return Fail(c, DiagnosticKind::kCertificateDeadlock,
                fmt::format("only some threads of the warpgroup of `{}` come to this barrier", c.agent.name));
  for (int i = 1; i < c.agent.warps; ++i) c.state.knowledge.Join(c.agent.first_warp, c.agent.first_warp + i);
  for (int i = 1; i < c.agent.warps; ++i) c.state.knowledge.Join(c.agent.first_warp + i, c.agent.first_warp);
  return true;
}

Outcome Machine::NamedBarrier(Context& c) {
  const bool is_cluster = c.op.code == OpCode::kClusterSync, is_block = c.op.code == OpCode::kSyncBlock;
  const int number = NumberOfNamed(c.agent, c.step);
  const int64_t wanted = is_cluster ? kernel_.threads * program_.blocks : is_block ? kernel_.threads : c.op.MeetingThreads();
  const auto name = [&]() -> std::string {
    if (is_cluster) return "the cluster's barrier";
    return is_block ? "the block's barrier" : fmt::format("named barrier {}", c.step.element);
  };
  NamedState& barrier = c.state.named[static_cast<size_t>(number)];
  const auto fail = [&](std::string headline) {
    Fail(c, DiagnosticKind::kCertificateBarrier, std::move(headline));
    return Outcome::kFailed;
  };
  Knowledge& knowledge = c.state.knowledge;
  if (!c.self.has_arrived) {
    // Instances that alternate meet from different places: the barrier counts their waves wherever they are.
    if (is_block && !c.agent.worker->alternates && !Together(c, -1)) return Outcome::kFailed;
    if (c.agent.IsOneThreadAt(c.step))
      return fail(fmt::format("one thread of `{}` comes to {}, which counts whole warps", c.agent.name, name()));
    if (barrier.count > 0 && barrier.wanted != wanted)
      return fail(fmt::format("{} threads are wanted at {}, and {} by who came before", wanted, name(), barrier.wanted));
    const uint64_t self = uint64_t{1} << c.number;
    if ((barrier.came & self) != 0) return fail(fmt::format("`{}` comes to {} twice before the others have", c.agent.name, name()));
    barrier.came |= self;
    for (const Share& share : Shares(c)) {
      if (barrier.latest >= 0 && !knowledge.Knows(share.warp, barrier.latest))
        return fail(fmt::format("`{}` may come to {} while others still use it", c.agent.name, name()));
      knowledge.Join(NamedArriving(number), share.warp);
      barrier.count += share.threads;
    }
    barrier.wanted = wanted;
    if (barrier.count > wanted) return fail(fmt::format("{} threads come to {}, which counts {}", barrier.count, name(), wanted));
    c.self.has_arrived = true;
    c.self.named_phase = barrier.completed + 1;
    if (barrier.count == wanted) {
      if (barrier.latest >= 0) knowledge.Free(barrier.latest);
      barrier.latest = knowledge.NewEvent();
      ++barrier.completed;
      barrier.count = 0;
      barrier.came = 0;
      knowledge.Forget(NamedCompleted(number));
      knowledge.Join(NamedCompleted(number), NamedArriving(number));
      knowledge.Learn(NamedCompleted(number), barrier.latest);
      knowledge.Forget(NamedArriving(number));
    }
  }
  if (c.op.code != OpCode::kNamedArrive) {
    if (barrier.completed < c.self.named_phase) return Outcome::kBlocked;
    if (barrier.completed > c.self.named_phase)
      return fail(fmt::format("{} is used again before `{}` has left it", name(), c.agent.name));
    for (const Share& share : Shares(c)) knowledge.Join(share.warp, NamedCompleted(number));
  }
  c.self.has_arrived = false;
  return Outcome::kRan;
}

}  // namespace tkc::certify

// SPDX-License-Identifier: MIT
#include "compiler/certify/threads.h"

#include <fmt/format.h>

#include "compiler/certify/scene.h"
#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/support/internal_error.h"

namespace tkc::certify {
namespace {

using ir::Op;
using ir::OpCode;
using ir::RoleKind;

enum class Threads : uint8_t { kAny, kOne, kRole, kWarp, kWarpgroup };

/// Where a choice of the operation says which threads execute it.
Threads Chosen(const Op& op) {
  switch (op.code) {
    case OpCode::kDrawTile:
      return op.Is(ir::kDrawnByThread) ? Threads::kOne : op.Is(ir::kDrawnByWarp) ? Threads::kWarp : Threads::kWarpgroup;
    case OpCode::kTakeTile: return op.Is(ir::kThisThread) ? Threads::kOne : Threads::kWarp;
    case OpCode::kLet: return op.Is(ir::kChanges) ? Threads::kRole : Threads::kAny;
    case OpCode::kSyncRole: return op.Is(ir::kOfWarp) ? Threads::kWarp : Threads::kWarpgroup;
    case OpCode::kCopyToShared: return op.Is(ir::kByWarp) ? Threads::kWarp : Threads::kWarpgroup;
    default: InternalError("which threads its number chooses is not said here", op.span);
  }
}

/// Who must come to the operation. Barriers count who comes: the replay asks about these.
Threads Wanted(const Op& op) {
  switch (ir::ExecutorsOf(op.code)) {
    case ir::Executors::kAnyThreads: return Threads::kAny;
    case ir::Executors::kOneThread: return Threads::kOne;
    case ir::Executors::kWarpgroup: return Threads::kWarpgroup;
    case ir::Executors::kRole: return Threads::kRole;
    case ir::Executors::kByNumber: return Chosen(op);
  }
  InternalError("no such executors", op.span);
}

bool WaitsOrFences(OpCode code) {
  return code == OpCode::kWaitFull || code == OpCode::kWaitEmpty || code == OpCode::kFenceAsync || code == OpCode::kSplitWait;
}

Finding Wrong(const Op& op, std::string headline) { return {DiagnosticKind::kCertificateThreads, op.span, std::move(headline)}; }

std::optional<Finding> CheckStep(const ir::Kernel& kernel, const Agent& agent, const Step& step) {
  const Op& op = *step.op;
  const bool is_thread = agent.IsOneThreadAt(step);
  const bool is_part = step.is_elected && !agent.worker->IsOneThread();  // others of the role pass by
  const auto fail = [&](std::string_view who, std::string_view wanted) {
    return Wrong(op, fmt::format("{} of `{}` {}; {}", who, agent.name, Doing(kernel, op), wanted));
  };
  switch (Wanted(op)) {
    case Threads::kOne:
      if (!is_thread) return fail("every thread", "one must");
      break;
    case Threads::kRole:
      if (is_part) return fail("one thread", "all threads of the role must");
      break;
    case Threads::kWarp:
      if (is_thread) return fail("one thread", "its whole warp must");
      if (agent.computes && (op.code == OpCode::kCopyToShared || op.code == OpCode::kDrawTile))
        return fail("every warp", "one must");
      break;
    case Threads::kWarpgroup:
      if (is_thread) return fail("one thread", "its whole warpgroup must");
      if (!agent.computes) return fail("one warp", "a whole warpgroup must");
      break;
    case Threads::kAny:
      // The replay has one model for all threads of a copying warp.
      if (is_part && !agent.computes && WaitsOrFences(op.code))
        return fail("one thread", "that says nothing of the others of its warp");
      break;
  }
  return std::nullopt;
}

/// A warpgroup has one thread 0, a warp elects one of its own; a thread alone can't.
std::optional<Finding> CheckElections(const ir::Worker& worker) {
  std::optional<Finding> found;
  ir::ForEachOp(worker.body, [&](const Op& op) {
    if (op.code != OpCode::kIfElected || found) return;
    const bool fits = worker.Computes() ? op.Is(ir::kOfWarpgroup) : worker.kind == RoleKind::kCopyWarp ? op.Is(ir::kOfWarp) : false;
    if (!fits)
      found = Wrong(op, fmt::format("`{}` elects one thread of each {}, which is not one thread of the role", worker.SourceName(),
                                    op.Is(ir::kOfWarp) ? "warp" : "warpgroup"));
  });
  return found;
}

}  // namespace

std::optional<Finding> CheckThreads(const Program& program) {
  for (const ir::Worker& worker : program.kernel->workers) {
    if (auto found = CheckElections(worker)) return found;
  }
  for (const Agent& agent : program.agents) {
    for (const Step& step : agent.steps) {
      if (step.kind != StepKind::kOp) continue;
      if (auto found = CheckStep(*program.kernel, agent, step)) return found;
    }
  }
  return std::nullopt;
}

}  // namespace tkc::certify

// SPDX-License-Identifier: MIT
#include "compiler/certify/scene.h"

#include "compiler/ir/op_traits.h"

#include <fmt/format.h>

#include <algorithm>

namespace tkc::certify {
namespace {

using ir::OpCode;

std::string ViewName(const ir::Kernel& kernel, const ir::Op& op) { return kernel.values[static_cast<size_t>(op.operands[0])].name; }

}  // namespace

std::string Doing(const ir::Kernel& kernel, const ir::Op& op) {
  switch (op.code) {
    case OpCode::kWaitFull: return fmt::format("waits for a full slot (`{}`)", op.symbol);
    case OpCode::kWaitEmpty: return fmt::format("waits for a free slot (`{}`)", op.symbol);
    case OpCode::kExpect: return fmt::format("announces {} bytes at `{}`", op.Bytes(), op.symbol);
    case OpCode::kArrive: return fmt::format("arrives at `{}`", op.symbol);
    case OpCode::kLoadAsync:
    case OpCode::kLoadRows:
    case OpCode::kLoadMulticast:
    case OpCode::kLoadRowsMulticast: return fmt::format("starts a copy into `{}`", ViewName(kernel, op));
    case OpCode::kMma: return fmt::format("starts a product into `{}`", ViewName(kernel, op));
    case OpCode::kMmaWait: return fmt::format("waits until at most {} products are in flight", op.Unfinished());
    case OpCode::kStoreAsync: return fmt::format("starts a store from `{}`", ViewName(kernel, op));
    case OpCode::kWaitStores: return fmt::format("waits until the engine has read all but {} of its stores", op.Unfinished());
    case OpCode::kStoreCluster:
    case OpCode::kPutTileCluster: return fmt::format("stores into `{}` of every block", ViewName(kernel, op));
    case OpCode::kDrawTile: return "draws the next tile";
    case OpCode::kPutTile:
    case OpCode::kStoreShared:
    case OpCode::kCopyToShared: return fmt::format("writes `{}`", ViewName(kernel, op));
    case OpCode::kTakeTile:
    case OpCode::kLoadShared:
    case OpCode::kCopyToGlobal: return fmt::format("reads `{}`", ViewName(kernel, op));
    case OpCode::kReduce:
    case OpCode::kReduceThreads:
    case OpCode::kCumsum: return fmt::format("reduces over `{}`", op.symbol);
    case OpCode::kSplitSend: return fmt::format("sends its shares into `{}`", op.symbol);
    case OpCode::kSplitWait: return fmt::format("waits for the shares of all blocks (`{}`)", op.symbol);
    case OpCode::kSplitCollect: return fmt::format("collects the shares in `{}`", op.symbol);
    case OpCode::kSyncRole: return "meets the other warps of its warpgroup";
    case OpCode::kNamedSync: return "waits at a named barrier";
    case OpCode::kNamedArrive: return "arrives at a named barrier";
    case OpCode::kWaitPrevious: return "waits for the launches before";
    case OpCode::kClusterWait: return "waits until the barriers of all blocks stand";
    case OpCode::kInitBarrier: return fmt::format("initialises `{}`", op.symbol);
    case OpCode::kFenceBarrierInit: return "fences the initialisation of barriers";
    case OpCode::kPrefetchMap: return fmt::format("fetches `{}` ahead", op.symbol);
    case OpCode::kClusterArrive: return "arrives at the cluster's barrier";
    case OpCode::kClusterSync: return "meets the other blocks of the cluster";
    case OpCode::kCopyAsync: return fmt::format("copies into `{}`", ViewName(kernel, op));
    case OpCode::kCommitCopies: return "closes a group of its copies";
    case OpCode::kWaitCopies: return fmt::format("waits until at most {} of its copies are unfinished", op.Unfinished());
    case OpCode::kSyncBlock: return "meets the whole block";
    case OpCode::kPriority: return "changes its priority";
    case OpCode::kLoadLeft:
    case OpCode::kLoadRight: return fmt::format("reads `{}`", ViewName(kernel, op));
    case OpCode::kMultiply: return fmt::format("multiplies into `{}`", ViewName(kernel, op));
    case OpCode::kFenceAsync: return "fences its accesses";
    default: return fmt::format("executes `{}`", ir::OpText(op.code));
  }
}

std::vector<std::pair<Span, std::string>> SceneNotes(const Program& program, const State& state) {
  std::vector<std::pair<Span, std::string>> notes;
  for (size_t i = 0; i < program.agents.size(); ++i) {
    for (const Frame& frame : state.agents[i].frames) {
      const Loop& loop = program.agents[i].loops[static_cast<size_t>(frame.loop)];
      notes.emplace_back(loop.op->span,
                         fmt::format("`{}` is in iteration {} of this loop", program.agents[i].name, frame.iteration));
    }
  }
  const size_t told = std::min(state.trail.count, Trail::kLength);
  Span last{};
  int last_agent = -1;
  for (size_t i = state.trail.count - told; i < state.trail.count; ++i) {
    const auto& [agent, op] = state.trail.entries[i % Trail::kLength];
    if (agent == last_agent && op->span == last) continue;
    last_agent = agent;
    last = op->span;
    notes.emplace_back(
        op->span, fmt::format("before: `{}` {}", program.agents[static_cast<size_t>(agent)].name, Doing(*program.kernel, *op)));
  }
  return notes;
}

}  // namespace tkc::certify

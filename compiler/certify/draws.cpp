// SPDX-License-Identifier: MIT
// A counter that begins at zero gives each number once. So that each tile is taken once it is enough that a block, or a cluster of
// blocks, which have one number, draws once in each turn of its loop, by one thread, and beyond as many tiles as there are blocks
// (clusters), that this number, and no other, is put into the slot of that turn, in every block, and that every role takes its next
// tile from this slot, as the last thing that a turn does with tiles. That slots and phases fit is left to the replay.
#include "compiler/certify/draws.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "compiler/ir/queries.h"

namespace tkc::certify {
namespace {

using ir::Op;
using ir::OpCode;

std::optional<Finding> Fail(Span span, std::string headline) {
  return Finding{DiagnosticKind::kCertificateCoverage, span, std::move(headline)};
}

/// What one agent does with the number of the next tile, step by step.
class AgentProof {
 public:
  AgentProof(const Program& program, const Agent& agent) : kernel_(*program.kernel), agent_(agent), scope_(program, agent) {}

  /// Once Run has found nothing: how many tiles it draws in a turn of its loop.
  int draws() const { return draws_; }

  std::optional<Finding> Run() {
    for (int i = 0; i < static_cast<int>(agent_.steps.size()); ++i) {
      const Step& step = agent_.steps[static_cast<size_t>(i)];
      Enter(step);
      if (step.kind != StepKind::kOp) continue;
      if (auto found = Check(step, i < conditional_)) return found;
    }
    if (takes_ != 1 || turns_ != 1)
      return Fail(agent_.worker->span, fmt::format("`{}` does not take one tile in each turn of its loop", agent_.name));
    return draws_ == puts_ ? std::nullopt : HandsOnAnother(agent_.worker->span);
  }

 private:
  std::optional<Finding> HandsOnAnother(Span span) const {
    return Fail(span, fmt::format("`{}` hands on another number than it draws", agent_.name));
  }

  std::optional<Finding> InSomeTurns(Span span) const {
    return Fail(span, fmt::format("`{}` handles the number of the next tile in some turns of its loop only", agent_.name));
  }

  /// Follows where a turn of the loop over tiles begins and ends, and what of it may be passed by.
  void Enter(const Step& step) {
    const bool is_tiles = step.loop >= 0 && agent_.loops[static_cast<size_t>(step.loop)].is_tiles;
    if (step.kind == StepKind::kTest && is_tiles) tiles_ = &agent_.loops[static_cast<size_t>(step.loop)];
    if (step.kind == StepKind::kNext && is_tiles) tiles_ = nullptr;
    const bool passes =
        step.kind == StepKind::kBranch || step.kind == StepKind::kJump || (step.kind == StepKind::kTest && !is_tiles);
    if (passes) conditional_ = std::max(conditional_, step.target);
  }

  std::optional<Finding> Check(const Step& step, bool is_conditional) {
    const Op& op = *step.op;
    if (op.code == OpCode::kFenceAsync) return std::nullopt;  // of what has been read
    const bool is_of_ring = step.ring >= 0 && agent_.rings[static_cast<size_t>(step.ring)].name == kernel_.next_tile;
    const bool turns = op.code == OpCode::kAdvance && is_of_ring, gives_back = op.code == OpCode::kArrive && is_of_ring;
    if (op.code == OpCode::kView && is_of_ring && step.offset == 0) slots_.insert(step.root);
    if (takes_ > 0 && tiles_ && !turns && !gives_back)
      return Fail(op.span, fmt::format("`{}` goes on with a tile when it has taken the next", agent_.name));
    const bool puts = op.code == OpCode::kPutTile || op.code == OpCode::kPutTileCluster;
    const bool accesses = puts || op.code == OpCode::kTakeTile;
    if (!accesses && !turns && op.code != OpCode::kDrawTile) return std::nullopt;
    if (!tiles_ || is_conditional) return InSomeTurns(op.span);
    if (accesses && (step.accesses.size() != 1 || !slots_.contains(step.accesses[0].root)))
      return Fail(op.span, fmt::format("`{}` hands a tile on elsewhere than in `{}`", agent_.name, kernel_.next_tile));
    switch (op.code) {
      case OpCode::kDrawTile: return Draw(op);
      case OpCode::kPutTile:
      case OpCode::kPutTileCluster: return Put(op);
      case OpCode::kTakeTile: return Take(op);
      default: return Turn(step);
    }
  }

  /// The condition is one of instances and blocks alone.
  std::optional<Finding> Draw(const Op& op) {
    const std::optional<int64_t> draws = op.scalars.size() > 1 ? Constant(scope_.Resolve(op.scalars[1])) : 1;
    if (!draws) return InSomeTurns(op.span);
    if (*draws == 0) return std::nullopt;
    ++draws_;
    drawn_ = op.symbol;
    const std::string taken = kernel_.cluster > 1 ? "cluster::count" : "block::count";
    if (op.scalars[0]->kind == symbolic::Kind::kCall && op.scalars[0]->name == taken) return std::nullopt;
    return Fail(op.span, fmt::format("`{}` draws tiles that begin elsewhere than behind those that are not drawn", agent_.name));
  }

  std::optional<Finding> Put(const Op& op) {
    ++puts_;
    if (kernel_.cluster > 1 && op.code == OpCode::kPutTile)
      return Fail(op.span, fmt::format("`{}` hands a tile to the roles of one block of its cluster only", agent_.name));
    const bool is_drawn = !drawn_.empty() && op.scalars[0]->kind == symbolic::Kind::kName && op.scalars[0]->name == drawn_;
    return is_drawn ? std::nullopt : HandsOnAnother(op.span);
  }

  std::optional<Finding> Take(const Op& op) {
    ++takes_;
    if (op.symbol == tiles_->op->symbol) return std::nullopt;
    return Fail(op.span, fmt::format("`{}` takes a tile that its loop does not go on with", agent_.name));
  }

  std::optional<Finding> Turn(const Step& step) {
    ++turns_;
    if (step.amount == 1 && takes_ > 0) return std::nullopt;
    return Fail(step.op->span, fmt::format("`{}` passes over the number of a tile", agent_.name));
  }

  const ir::Kernel& kernel_;
  const Agent& agent_;
  const Scope scope_;
  const Loop* tiles_ = nullptr;  // the loop over tiles that the step stands in
  int conditional_ = 0;          // steps before this one may be passed by
  std::set<int> slots_;          // views of the slot at hand
  std::string drawn_;
  int draws_ = 0, puts_ = 0, takes_ = 0, turns_ = 0;
};

/// All loops over tiles go on by what is drawn, or none.
std::optional<Finding> CheckLoops(const Program& program) {
  const bool draws = program.kernel->dynamic;
  for (const Agent& agent : program.agents) {
    for (const Loop& loop : agent.loops) {
      if (!loop.is_tiles || (loop.op->scalars.size() == 2) == draws) continue;
      return Fail(loop.op->span,
                  fmt::format("`{}` {}", agent.name,
                              draws ? "walks over a list of tiles that others draw" : "walks over drawn tiles, and nobody draws"));
    }
  }
  return std::nullopt;
}

/// A scratch tensor of one integer, zero at the start, of which only draws know.
std::optional<Finding> CheckCounter(const ir::Kernel& kernel) {
  const auto counter = std::find_if(kernel.tensors.begin(), kernel.tensors.end(),
                                    [&](const ir::TensorParam& tensor) { return tensor.name == kernel.drawn; });
  int64_t extent = 0;
  const bool counts = counter != kernel.tensors.end() && counter->is_work && counter->has_preset && counter->integer_preset == 0 &&
                      counter->dtype == DType::kI32 && counter->extents.size() == 1 &&
                      symbolic::IsInt(counter->extents[0], &extent) && extent == 1;
  if (!counts) return Fail(kernel.span, fmt::format("`{}` is no counter that begins at zero", kernel.drawn));
  std::optional<Finding> found;
  for (const ir::Worker& worker : kernel.workers) {
    std::set<std::string> numbers;  // what is drawn stays as it is
    ir::ForEachOp(worker.body, [&](const Op& op) {
      if (found) return;
      if (op.code == OpCode::kDrawTile) numbers.insert(op.symbol);
      if (op.symbol == kernel.drawn || (op.code == OpCode::kDrawTile && op.Counter() != kernel.drawn))
        found = Fail(op.span, fmt::format("`{}` is used for something else than drawing tiles", kernel.drawn));
      if (op.code == OpCode::kLet && numbers.contains(op.symbol))
        found = Fail(op.span, fmt::format("`{}` changes the number that it has drawn", worker.SourceName()));
    });
  }
  return found;
}

}  // namespace

std::optional<Finding> CheckDraws(const Program& program) {
  if (auto found = CheckLoops(program)) return found;
  const ir::Kernel& kernel = *program.kernel;
  if (!kernel.dynamic) return std::nullopt;
  if (auto found = CheckCounter(kernel)) return found;
  int draws = 0;
  for (const Agent& agent : program.agents) {
    AgentProof proof(program, agent);
    if (auto found = proof.Run()) return found;
    draws += proof.draws();
  }
  if (draws == 1) return std::nullopt;
  return Fail(kernel.span, fmt::format("{} tiles are drawn in a turn of the loop over tiles, not one", draws));
}

}  // namespace tkc::certify

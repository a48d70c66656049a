// SPDX-License-Identifier: MIT
// A counter that begins at zero gives each number once. So that each tile is taken once it is enough that a block draws once in
// each turn of its loop, by one thread, that this number, and no other, is put into the slot of that turn, and that every role
// takes its next tile from this slot, as the last thing that a turn does with tiles. That slots and phases fit is left to the
// replay.
#include "compiler/certify/draws.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "compiler/passes/walk.h"

namespace tkc::certify {
namespace {

using ir::Op;
using ir::OpCode;

/// What the steps of one agent do with the number of the next tile.
struct Handling {
  int draws = 0, puts = 0, takes = 0, turns = 0;
};

class DrawProof {
 public:
  explicit DrawProof(const Program& program) : kernel_(*program.kernel), program_(program) {}

  std::optional<Finding> Run() {
    for (const Agent& agent : program_.agents) {
      if (auto found = CheckLoop(agent)) return found;
    }
    if (!kernel_.dynamic) return std::nullopt;
    if (auto found = CheckCounter()) return found;
    Handling all;
    for (const Agent& agent : program_.agents) {
      Handling own;
      if (auto found = CheckAgent(agent, own)) return found;
      if (own.takes != 1 || own.turns != 1)
        return Fail(agent.worker->span, fmt::format("`{}` does not take one tile in each turn of its loop", agent.name));
      if (own.draws != own.puts)
        return Fail(agent.worker->span, fmt::format("`{}` hands on another number than it draws", agent.name));
      all.draws += own.draws;
    }
    if (all.draws != 1)
      return Fail(kernel_.span, fmt::format("{} tiles are drawn in a turn of the loop over tiles, not one", all.draws));
    return std::nullopt;
  }

 private:
  static std::optional<Finding> Fail(Span span, std::string headline) {
    return Finding{DiagnosticKind::kCertificateCoverage, span, std::move(headline)};
  }

  std::optional<Finding> CheckLoop(const Agent& agent) const {
    for (const Loop& loop : agent.loops) {
      if (!loop.is_tiles || (loop.op->scalars.size() == 2) == kernel_.dynamic) continue;
      return Fail(loop.op->span, fmt::format("`{}` {}", agent.name,
                                             kernel_.dynamic ? "walks over a list of tiles that others draw"
                                                             : "walks over drawn tiles, and nobody draws"));
    }
    return std::nullopt;
  }

  /// A scratch tensor of one integer, zero at the start, of which only draws know.
  std::optional<Finding> CheckCounter() const {
    const auto counter = std::find_if(kernel_.tensors.begin(), kernel_.tensors.end(),
                                      [&](const ir::TensorParam& tensor) { return tensor.name == kernel_.drawn; });
    int64_t extent = 0;
    const bool counts = counter != kernel_.tensors.end() && counter->is_work && counter->has_preset && counter->preset == 0 &&
                        counter->dtype == DType::kI32 && counter->extents.size() == 1 &&
                        symbolic::IsInt(counter->extents[0], &extent) && extent == 1;
    if (!counts) return Fail(kernel_.span, fmt::format("`{}` is no counter that begins at zero", kernel_.drawn));
    std::optional<Finding> found;
    for (const ir::Worker& worker : kernel_.workers) {
      std::set<std::string> numbers;  // what is drawn stays as it is
      passes::ForEachOp(worker.body, [&](const Op& op) {
        if (op.code == OpCode::kDrawTile) numbers.insert(op.symbol);
        const bool is_used = op.symbol == kernel_.drawn || (op.slot == kernel_.drawn) != (op.code == OpCode::kDrawTile);
        if (is_used && !found)
          found = Fail(op.span, fmt::format("`{}` is used for something else than drawing tiles", kernel_.drawn));
        if (op.code == OpCode::kLet && numbers.contains(op.symbol) && !found)
          found = Fail(op.span, fmt::format("`{}` changes the number that it has drawn", worker.name));
      });
    }
    return found;
  }

  /// Counts what happens in every turn of the loop over tiles, and refuses what does so in some only, or elsewhere.
  std::optional<Finding> CheckAgent(const Agent& agent, Handling& own) const {
    std::set<int> slots;  // views of the slot at hand
    std::string drawn;
    int tiles = -1;       // the loop over tiles that the step stands in
    int conditional = 0;  // steps before this one may be passed by
    bool has_taken = false;
    for (int i = 0; i < static_cast<int>(agent.steps.size()); ++i) {
      const Step& step = agent.steps[static_cast<size_t>(i)];
      switch (step.kind) {
        case StepKind::kEnter: continue;
        case StepKind::kTest:
          if (agent.loops[static_cast<size_t>(step.loop)].is_tiles)
            tiles = step.loop;
          else
            conditional = std::max(conditional, step.target);
          continue;
        case StepKind::kNext:
          if (step.loop == tiles) tiles = -1;
          continue;
        case StepKind::kBranch:
        case StepKind::kJump: conditional = std::max(conditional, step.target); continue;
        case StepKind::kEnd: continue;
        case StepKind::kOp: break;
      }
      const Op& op = *step.op;
      if (op.code == OpCode::kView && IsSlot(agent, step)) slots.insert(step.root);
      const bool is_turn = op.code == OpCode::kAdvance && RingOf(agent, step) == kernel_.next_tile;
      const bool concerns = is_turn || op.code == OpCode::kDrawTile || op.code == OpCode::kPutTile || op.code == OpCode::kTakeTile;
      const bool gives_back = op.code == OpCode::kArrive && RingOf(agent, step) == kernel_.next_tile;
      if (has_taken && tiles >= 0 && !is_turn && !gives_back)
        return Fail(op.span, fmt::format("`{}` goes on with a tile when it has taken the next", agent.name));
      if (!concerns) continue;
      if (tiles < 0 || i < conditional)
        return Fail(op.span, fmt::format("`{}` handles the number of the next tile in some turns of its loop only", agent.name));
      const bool accesses = op.code == OpCode::kPutTile || op.code == OpCode::kTakeTile;
      if (accesses && (step.accesses.size() != 1 || !slots.contains(step.accesses[0].root)))
        return Fail(op.span, fmt::format("`{}` hands a tile on elsewhere than in `{}`", agent.name, kernel_.next_tile));
      if (is_turn && (step.amount != 1 || !has_taken))
        return Fail(op.span, fmt::format("`{}` passes over the number of a tile", agent.name));
      if (op.code == OpCode::kDrawTile) {
        if (op.scalars.empty() || IsOwn(agent, op.scalars[0])) ++own.draws, drawn = op.symbol;
      } else if (op.code == OpCode::kPutTile) {
        if (drawn.empty() || op.scalars[0]->kind != symbolic::Kind::kName || op.scalars[0]->name != drawn)
          return Fail(op.span, fmt::format("`{}` hands on another number than it draws", agent.name));
        ++own.puts;
      } else if (op.code == OpCode::kTakeTile) {
        if (op.symbol != agent.loops[static_cast<size_t>(tiles)].op->symbol)
          return Fail(op.span, fmt::format("`{}` takes a tile that its loop does not go on with", agent.name));
        ++own.takes;
        has_taken = true;
      }
      own.turns += is_turn;
    }
    return std::nullopt;
  }

  static std::string RingOf(const Agent& agent, const Step& step) {
    return step.ring < 0 ? "" : agent.rings[static_cast<size_t>(step.ring)].name;
  }
  /// The ring's present slot.
  bool IsSlot(const Agent& agent, const Step& step) const { return RingOf(agent, step) == kernel_.next_tile && step.offset == 0; }
  /// Whether the condition, of instances alone, holds for this one.
  bool IsOwn(const Agent& agent, const ir::Scalar& condition) const {
    const Scope scope(kernel_, *agent.worker, agent.instance, agent.block, program_.long_terms);
    return Constant(scope.Resolve(condition)).value_or(1) != 0;
  }

  const ir::Kernel& kernel_;
  const Program& program_;
};

}  // namespace

std::optional<Finding> CheckDraws(const Program& program) { return DrawProof(program).Run(); }

}  // namespace tkc::certify

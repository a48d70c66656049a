// SPDX-License-Identifier: MIT
// The folding of loading workers into one that computes: fold_copies.cpp walks its program, fold_copies_ahead.cpp says which copies
// run ahead, and what stands in front of their loops.
#pragma once

#include <fmt/format.h>

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/queries.h"
#include "compiler/passes/copy_traffic.h"
#include "compiler/passes/live_tiles.h"
#include "compiler/passes/load_ahead.h"
#include "compiler/passes/make_op.h"
#include "compiler/passes/meetings.h"
#include "compiler/passes/register_shares.h"
#include "compiler/passes/shared_room.h"
#include "compiler/support/diagnostic.h"
#include "compiler/symbolic/condition.h"
#include "compiler/target/target.h"

namespace tkc::passes {

/// Whether the operation, or one inside, receives from one of the pipes.
bool Receives(const ir::Op& op, const std::set<std::string>& pipes);

/// Sends that fill parts of one slot become one: their copies are issued, counted and waited for together.
ir::Region OneGroup(ir::Region sends);

/// A pipe whose sends run ahead in a loop.
struct Lookahead {
  std::vector<ir::Region> turns;  // the slots that an iteration receives: what fills each of them
  std::vector<size_t> refills;    // the operations of the loop's body behind which a slot is filled again, one for each
  int64_t distance = 0;           // in turns, from a slot that is received to the one that is filled then
  int64_t filled = 0;             // slots of the iteration, where the walk is
  bool is_alone = false;          // the pipe has one slot, which is filled again when it has been read
};

/// One region of the computing worker while it is rewritten.
struct Level {
  std::vector<std::vector<Traffic>> feeds;  // of each loading worker
  std::map<std::string, Lookahead> ahead;
  const ir::Op* loop = nullptr;      // whose body it is
  const ir::Region* body = nullptr;  // as it was
  ir::Region* prologue = nullptr;    // what stands before that
  ir::Region out;
  size_t start = 0;                // in `out`: behind what has moved to the start
  std::set<std::string> received;  // pipes that what stands behind the start has received from, loops and branches included
  bool loads_ahead = false;        // the loop's: slots are filled again where they were read
};

class Folding {
 public:
  Folding(ir::Kernel& kernel, ir::Worker& worker, const Target& target, Diagnostics& diagnostics)
      : kernel_(kernel),
        worker_(worker),
        diagnostics_(diagnostics),
        loads_ahead_(target.loads_ahead && !worker.alternates && IsWholeBlock(kernel, worker) &&
                     HasRoomAhead(kernel, worker, target)),
        lacks_room_(LacksRoom(kernel, target)),
        channels_(Channels(kernel)),
        threads_(ThreadsOf(worker, target)),
        registers_(ShareRegisters(kernel, target).computing - target.beside_tiles.for_addresses -
                   MostKeptTiles(kernel, worker).registers),
        stage_(kernel.UsedNames().Free("stage")) {
    for (const ir::Pipe& pipe : kernel.pipes) slots_[pipe.name] = pipe.slots;
  }

  /// `pipes`: those that it fills.
  bool Run(const std::vector<const ir::Worker*>& loading, std::set<std::string> pipes) {
    fed_ = std::move(pipes);
    std::vector<Feed> feeds;
    for (const ir::Worker* worker : loading) feeds.push_back({&worker->body, {}});
    worker_.body = FoldRegion(worker_.body, feeds, nullptr, nullptr);
    return !failed_;
  }

 private:
  /// `prologue`: what stands before the loop whose body this is.
  ir::Region FoldRegion(const ir::Region& region, const std::vector<Feed>& feeds, const ir::Op* loop, ir::Region* prologue);
  /// What the loading worker names and reads from a tensor has a name among the region's `first` operations, too, by which copies
  /// call it: one that this worker gives it further down moves there.
  void NameReads(const Feed& feed, ir::Region& region, size_t& first, Names& kept) const;
  void Rewrite(const ir::Region& region, Level& level);
  /// An operation that receives.
  void Take(const ir::Op& op, Level& level);
  /// Nothing if the pipe does not run ahead in the loop whose body the region is.
  std::optional<Lookahead> LookaheadOf(const std::string& pipe, const ir::Region& region, const Level& level) const;
  /// Of a thread, for the blocks of an iteration that are fetched in the one before.
  int64_t HeldRegisters(const Lookahead& ahead) const;
  bool FindRefills(const std::string& pipe, const ir::Region& region, Lookahead& ahead) const;
  static bool FindSends(const std::string& pipe, const Level& level, Lookahead& ahead);
  /// The last operation of the region that uses what this one receives, or a part of it. Nothing: a variable holds it.
  std::optional<size_t> LastUse(const ir::Region& region, size_t receive) const;
  void PlanLookahead(const ir::Region& region, Level& level);
  void MoveToStart(Level& level);
  void Receive(const ir::Op& op, Level& level);
  void NameEnds(ir::Region& copies) const;
  void Refill(const std::string& pipe, Level& level);
  void Loop(ir::Op op, Level& level);
  void Branch(ir::Op op, Level& level);
  symbolic::Condition ConditionOf(const Traffic& step) const;
  /// A branch that is not taken where the walk is.
  bool IsExcluded(const Traffic& step) const;
  /// Without the branches that are known to be taken, or not, where the walk is.
  ir::Region Decided(ir::Region ops) const;
  /// A branch and what its `else` fills, as a branch of its own: `if a { .. } else if b { .. }` of two conditions that exclude one
  /// another as `if a { .. }` and `if b { .. }`.
  std::vector<Traffic> SplitBranch(const Traffic& step);
  /// Whether the branch of a loading worker fills, on one of its sides, what the branch `op` does not receive there.
  static bool FillsMore(const Traffic& step, const ir::Op& op, bool is_turned);
  /// Whether these branches, turned around or not, fill all that `op` receives.
  bool IsFed(const ir::Op& op, const std::vector<std::pair<Traffic*, bool>>& same) const;
  /// What the loop would copy in the iterations before its first. `pipes`: that run ahead, in the order of their sends.
  ir::Region Prologue(const std::vector<std::string>& pipes, const Level& level);
  ir::Region PrologueByStages(const std::vector<std::string>& pipes, const Level& level);
  /// What fills a slot of the pipe `turn` turns behind the loop's first.
  ir::Region Turn(const std::string& pipe, int64_t turn, const std::string& slot, const ir::Scalar& first, const Level& level);
  void PlacePrologue(ir::Region prologue, Level& level);
  /// The next step of each loading worker that fills the pipe: of a slot they fill parts.
  std::vector<Traffic*> Next(Level& level, const std::string& pipe) const;

  /// What other workers are to be fed with is left to them.
  void KeepFed(std::vector<Traffic>& steps) const {
    for (Traffic& step : steps) std::erase_if(step.pipes, [&](const std::string& pipe) { return fed_.count(pipe) == 0; });
    std::erase_if(steps, [](const Traffic& step) { return step.pipes.empty(); });
  }
  ir::Region InSlot(const ir::Region& sends, const std::string& slot) {
    ir::Region copy = Copied(kernel_, sends);
    ForEachOp(copy, [&](ir::Op& op) {
      if (op.code == ir::OpCode::kSend) op.SetSlot(slot);
      if (op.code == ir::OpCode::kView) op.SetSlot(slot);
    });
    return copy;
  }
  /// Copies in whole pieces, of a target whose copies go through registers: fetched, and put down at once.
  ir::Region Staged(ir::Region sends);
  /// Those of a loop that runs ahead: put down as they were fetched an iteration before, and the next ones fetched. `before`: the
  /// first.
  void StageAhead(ir::Region& sends, const ir::Op& loop, ir::Region& before);
  static bool IsStaged(const ir::Op& op) { return op.code == ir::OpCode::kCopyAsync && op.Is(ir::kThroughRegisters); }
  ir::Op FetchOf(const ir::Op& copy, const std::string& name);
  ir::Op PutOf(ir::Op copy, ir::ValueId fetched) const;

  void Fail(Span span, const std::string& what, const std::string& help) {
    if (!failed_) {
      diagnostics_
          .Error(DiagnosticKind::kNotImplemented, span,
                 fmt::format("for `{}`, {} is specified, not yet implemented", kernel_.target, what))
          .Help(help);
    }
    failed_ = true;
  }

  ir::Kernel& kernel_;
  ir::Worker& worker_;
  Diagnostics& diagnostics_;
  const bool loads_ahead_;                // operands are loaded over back edges (load_ahead)
  const bool lacks_room_;                 // slots share room if they are filled late (share_room)
  const std::set<std::string> channels_;  // pipes that others receive, too
  const int64_t threads_;
  int64_t registers_;        // of a thread, for blocks that are held over an iteration
  const std::string stage_;  // the variable of prologues
  std::map<std::string, int64_t> slots_;
  Names lets_;                             // of the computing worker, where the walk is
  std::vector<symbolic::Condition> held_;  // of the branches around
  std::deque<ir::Region> split_;           // what SplitBranch made
  std::set<std::string> fed_;              // pipes that the loading workers fill for this one
  bool failed_ = false;
};

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
#include "compiler/passes/fold_copies.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/passes/copy_traffic.h"
#include "compiler/passes/load_ahead.h"
#include "compiler/passes/meetings.h"
#include "compiler/passes/sync_roles.h"
#include "compiler/passes/walk.h"
#include "compiler/symbolic/condition.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::Scalar;
using Kind = Traffic::Kind;

constexpr int64_t kStagedCopy = 2;  // of kCopyAsync's number

bool Receives(const Op& op, const std::set<std::string>& pipes) {
  bool receives = op.code == OpCode::kReceive && pipes.count(op.symbol) > 0;
  for (const Region& region : op.regions) {
    for (const Op& inner : region) receives |= Receives(inner, pipes);
  }
  return receives;
}

/// From `first` on, a product comes before anything that waits, branches or loops.
bool HasProductAhead(const Region& region, size_t first) {
  const auto next = std::find_if(region.begin() + static_cast<ptrdiff_t>(first), region.end(), [](const Op& op) {
    return op.code == OpCode::kMultiply || op.code == OpCode::kReceive || op.code == OpCode::kSend || !op.regions.empty();
  });
  return next != region.end() && next->code == OpCode::kMultiply;
}

/// Sends that fill parts of one slot become one: their copies are issued, counted and waited for together.
Region OneGroup(Region sends) {
  Region out;
  for (Op& op : sends) {
    const auto same = std::find_if(out.begin(), out.end(), [&](const Op& other) {
      return op.code == OpCode::kSend && other.code == OpCode::kSend && other.symbol == op.symbol && other.slot == op.slot;
    });
    if (same == out.end()) {
      out.push_back(std::move(op));
      continue;
    }
    std::move(op.regions[0].begin(), op.regions[0].end(), std::back_inserter(same->regions[0]));
  }
  return out;
}

/// One region of the computing worker while it is rewritten.
struct Level {
  std::vector<std::vector<Traffic>> feeds;  // of each loading worker
  std::map<std::string, int64_t> ahead;     // pipes whose sends run ahead: by how many iterations
  const Op* loop = nullptr;                 // whose body it is
  Region* prologue = nullptr;               // what stands before that
  Region out;
  size_t start = 0;             // in `out`: behind what has moved to the start
  std::set<std::string> moved;  // the pipes of that
  bool has_received = false;    // behind the start
  bool loads_ahead = false;     // the loop's: slots are filled again where they were read
};

class Folding {
 public:
  Folding(ir::Kernel& kernel, ir::Worker& worker, const Target& target, Diagnostics& diagnostics)
      : kernel_(kernel),
        worker_(worker),
        diagnostics_(diagnostics),
        loads_ahead_(target.loads_ahead && !worker.alternates && IsWholeBlock(kernel, worker)),
        stage_(ir::FreeName(kernel.UsedNames(), "stage")) {
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
  Region FoldRegion(const Region& region, const std::vector<Feed>& feeds, const Op* loop, Region* prologue);
  void Rewrite(const Region& region, Level& level);
  void PlanLookahead(const Region& region, Level& level, Region& prologue);
  void MoveToStart(Level& level);
  void Receive(const Op& op, Level& level);
  void Refill(const Op& receive, Level& level);
  void Loop(Op op, Level& level);
  void Branch(Op op, Level& level);
  Region Prologue(const std::vector<Traffic*>& sends, const Op& loop, int64_t stages);
  void PlacePrologue(Region prologue, Level& level);
  /// The next step of each loading worker that fills the pipe: of a slot they fill parts.
  static std::vector<Traffic*> Next(Level& level, const std::string& pipe);

  /// What other workers are to be fed with is left to them.
  void KeepFed(std::vector<Traffic>& steps) const {
    for (Traffic& step : steps) std::erase_if(step.pipes, [&](const std::string& pipe) { return fed_.count(pipe) == 0; });
    std::erase_if(steps, [](const Traffic& step) { return step.pipes.empty(); });
  }
  Region InSlot(const Region& sends, const std::string& slot) {
    Region copy = Copied(kernel_, sends);
    ForEachOp(copy, [&](Op& op) {
      if (op.code == OpCode::kSend) op.slot = slot;
      if (op.code == OpCode::kView) op.slot = slot;
    });
    return copy;
  }
  /// Copies in whole pieces, of a target whose copies go through registers: fetched, and put down at once.
  Region Staged(Region sends);
  /// Those of a loop that runs ahead: put down as they were fetched an iteration before, and the next ones fetched. `before`: the
  /// first.
  void StageAhead(Region& sends, const Op& loop, Region& before);
  static bool IsStaged(const Op& op) { return op.code == OpCode::kCopyAsync && op.number == kStagedCopy; }
  Op FetchOf(const Op& copy, const std::string& name);
  Op PutOf(Op copy, ir::ValueId fetched) const;

  Op Comment(const std::string& text, Span span) const { return SyncOp(OpCode::kComment, text, "", 0, span); }
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
  const bool loads_ahead_;   // operands are loaded over back edges (load_ahead)
  const std::string stage_;  // the variable of prologues
  std::map<std::string, int64_t> slots_;
  std::set<std::string> fed_;  // pipes that the loading workers fill for this one
  bool failed_ = false;
};

Op Folding::FetchOf(const Op& copy, const std::string& name) {
  ir::Type type = kernel_.values[copy.operands[0]].type;
  type.space = ir::Space::kRegister;
  Op fetch{OpCode::kFetch, {kernel_.AddValue(name, type)}};
  fetch.symbol = copy.symbol;
  fetch.axes = copy.axes;
  fetch.slot = copy.slot;
  fetch.span = copy.span;
  return fetch;
}

Op Folding::PutOf(Op copy, ir::ValueId fetched) const {
  constexpr int64_t kByBlock = 2;
  copy.code = OpCode::kCopyToShared;
  copy.number = kByBlock;
  copy.operands.push_back(fetched);
  return copy;
}

Region Folding::Staged(Region sends) {
  ForEachOp(sends, [&](Op& send) {
    if (send.code != OpCode::kSend) return;
    Region fetches, rest;
    const auto buffers = BuffersOfViews(kernel_, send.regions[0]);
    for (Op& op : send.regions[0]) {
      if (!IsStaged(op)) {
        rest.push_back(std::move(op));
        continue;
      }
      fetches.push_back(FetchOf(op, buffers.at(op.operands[0]) + "_first"));
      rest.push_back(PutOf(std::move(op), fetches.back().results[0]));
    }
    fetches.insert(fetches.end(), std::make_move_iterator(rest.begin()), std::make_move_iterator(rest.end()));
    send.regions[0] = std::move(fetches);
  });
  return sends;
}

void Folding::StageAhead(Region& sends, const Op& loop, Region& before) {
  const Scalar index = symbolic::Name(loop.symbol);
  for (Op& send : sends) {
    if (send.code != OpCode::kSend) continue;
    Region out;
    const auto buffers = BuffersOfViews(kernel_, send.regions[0]);
    for (Op& op : send.regions[0]) {
      if (!IsStaged(op)) {
        out.push_back(std::move(op));
        continue;
      }
      const std::string& name = buffers.at(op.operands[0]);
      Region first{FetchOf(op, name + "_second")};
      Substitute(first, loop.symbol, loop.scalars[0]);
      Op held{OpCode::kVar, {}, first[0].results};
      held.results = {kernel_.AddValue(name + "_next", kernel_.values[first[0].results[0]].type, true)};
      held.span = op.span;
      Region next{FetchOf(op, name + "_fetched")};
      Substitute(next, loop.symbol, symbolic::Add(index, symbolic::Int(loop.number)));
      Op assign{OpCode::kAssign, {}, {held.results[0], next[0].results[0]}};
      assign.span = op.span;
      before.push_back(std::move(first[0]));
      before.push_back(held);
      out.push_back(PutOf(std::move(op), held.results[0]));
      out.push_back(std::move(next[0]));
      out.push_back(std::move(assign));
    }
    send.regions[0] = std::move(out);
  }
}

std::vector<Traffic*> Folding::Next(Level& level, const std::string& pipe) {
  std::vector<Traffic*> steps;
  for (std::vector<Traffic>& feed : level.feeds) {
    const auto next = std::find_if(feed.begin(), feed.end(),
                                   [&](const Traffic& step) { return step.pipes.count(pipe) > 0 && step.done.count(pipe) == 0; });
    if (next != feed.end()) steps.push_back(&*next);
  }
  return steps;
}

/// Which pipes run ahead in this loop, and their first blocks.
void Folding::PlanLookahead(const Region& region, Level& level, Region& prologue) {
  std::vector<Traffic*> steps;
  for (std::vector<Traffic>& feed : level.feeds) {
    for (Traffic& step : feed) {
      const std::string& pipe = *step.pipes.begin();
      const auto fills = [&](const Traffic& other) { return other.pipes.count(pipe) > 0; };
      const auto receives = std::count_if(region.begin(), region.end(), [&](const Op& op) { return Receives(op, {pipe}); });
      const bool is_direct =
          std::any_of(region.begin(), region.end(), [&](const Op& op) { return op.code == OpCode::kReceive && op.symbol == pipe; });
      const bool is_alone = receives == 1 && is_direct && std::count_if(feed.begin(), feed.end(), fills) == 1;
      if (step.kind != Kind::kSend || !is_alone || slots_.at(pipe) < 2 || ReadsElements(step.ops)) continue;
      steps.push_back(&step);
      level.ahead[pipe] = slots_.at(pipe) - 1;
    }
  }
  const auto runs_ahead = [&](const Op& op) { return op.code != OpCode::kReceive || level.ahead.count(op.symbol) > 0; };
  level.loads_ahead = loads_ahead_ && std::all_of(region.begin(), region.end(), runs_ahead) && CanLoadAhead(*level.loop);
  for (auto& [pipe, ahead] : level.ahead) ahead += level.loads_ahead;
  std::map<int64_t, std::vector<Traffic*>> by_depth;
  for (Traffic* step : steps) by_depth[level.ahead.at(*step->pipes.begin())].push_back(step);
  for (auto depth = by_depth.rbegin(); depth != by_depth.rend(); ++depth) {
    for (Op& op : Prologue(depth->second, *level.loop, depth->first)) prologue.push_back(std::move(op));
  }
}

Region Folding::Prologue(const std::vector<Traffic*>& sends, const Op& loop, int64_t stages) {
  Region copies;
  for (const Traffic* step : sends) {
    const std::string& pipe = *step->pipes.begin();
    for (Op& op : InSlot(step->ops, stages == 1 ? pipe : fmt::format("{}+{}", pipe, stage_))) copies.push_back(std::move(op));
  }
  const Scalar distance = stages == 1 ? symbolic::Int(0) : symbolic::Mul(symbolic::Name(stage_), symbolic::Int(loop.number));
  Substitute(copies, loop.symbol, symbolic::Add(loop.scalars[0], distance));
  Region body = Staged(OneGroup(std::move(copies)));
  const Span span = sends.front()->ops.front().span;
  if (stages == 1) {
    body.insert(body.begin(), Comment("The first block of the loop below.", span));
    return body;
  }
  Op unroll{OpCode::kUnroll};
  unroll.symbol = stage_;
  unroll.number = stages;
  unroll.span = span;
  unroll.regions = {std::move(body)};
  return {Comment(fmt::format("The first {} blocks of the loop below.", stages), span), std::move(unroll)};
}

/// The first slots outside loops: all of them are under way before anybody waits.
void Folding::MoveToStart(Level& level) {
  Region copies;
  for (std::vector<Traffic>& feed : level.feeds) {
    std::set<std::string> blocked;  // filled by a loop or branch before
    std::map<std::string, int64_t> filled;
    for (Traffic& step : feed) {
      const std::string& pipe = *step.pipes.begin();
      if (step.kind != Kind::kSend) {
        blocked.insert(step.pipes.begin(), step.pipes.end());
        continue;
      }
      const int64_t number = filled[pipe];
      if (blocked.count(pipe) > 0 || number >= slots_.at(pipe)) continue;
      ++filled[pipe];
      step.is_early = true;
      level.moved.insert(pipe);
      for (Op& op : InSlot(step.ops, number == 0 ? pipe : fmt::format("{}+{}", pipe, number))) copies.push_back(std::move(op));
    }
  }
  for (Op& op : Staged(OneGroup(std::move(copies)))) level.out.push_back(std::move(op));
  level.start = level.out.size();
}

Region Folding::FoldRegion(const Region& region, const std::vector<Feed>& feeds, const Op* loop, Region* prologue) {
  Level level;
  level.loop = loop;
  level.prologue = prologue;
  Names kept;
  size_t first = 0;
  if (!loop) {
    // The names of the tile come first, and moved copies stand behind them.
    for (; first < region.size() && (region[first].code == OpCode::kLet || region[first].code == OpCode::kTilePosition); ++first) {
      if (region[first].code == OpCode::kLet && region[first].number == 0) kept[region[first].symbol] = region[first].scalars[0];
    }
  }
  level.out.assign(region.begin(), region.begin() + static_cast<ptrdiff_t>(first));
  for (const Feed& feed : feeds) {
    if (!CollectTraffic(feed, kept, level.feeds.emplace_back()))
      Fail(worker_.span, "a scalar variable in a worker that only loads", "use `let`, or compute the place from the loop's index");
    KeepFed(level.feeds.back());
  }
  if (loop)
    PlanLookahead(region, level, *prologue);
  else
    MoveToStart(level);
  Rewrite(Region(region.begin() + static_cast<ptrdiff_t>(first), region.end()), level);
  return std::move(level.out);
}

void Folding::Rewrite(const Region& region, Level& level) {
  // Receives whose refills stand behind the first product of what they bring, so that its operands are on their way before copies
  // are issued; without one, behind the last of a run of receives.
  std::vector<const Op*> waiting;
  bool awaits_product = false;
  const auto refill = [&] {
    for (const Op* op : waiting) Refill(*op, level);
    waiting.clear();
    awaits_product = false;
  };
  for (size_t i = 0; i < region.size(); ++i) {
    const Op& op = region[i];
    if (!waiting.empty() && !awaits_product && op.code != OpCode::kReceive && !level.loads_ahead) {
      awaits_product = HasProductAhead(region, i);
      if (!awaits_product) refill();
    }
    if (!Receives(op, fed_)) {
      level.out.push_back(op);
      if (awaits_product && op.code == OpCode::kMultiply) refill();
      continue;
    }
    if (op.code == OpCode::kReceive) {
      Receive(op, level);
      if (level.ahead.count(op.symbol) > 0) waiting.push_back(&op);
    } else if (op.code == OpCode::kIf) {
      Branch(op, level);
    } else {
      Loop(op, level);
    }
    level.has_received = true;
  }
  refill();
}

void Folding::Receive(const Op& op, Level& level) {
  if (level.ahead.count(op.symbol) == 0) {
    const std::vector<Traffic*> steps = Next(level, op.symbol);
    bool is_fed = !steps.empty();
    Region sends;
    for (Traffic* step : steps) {
      step->done.insert(op.symbol);
      if (step->is_early) continue;
      is_fed &= step->kind != Kind::kLoop && !step->ops.empty();
      for (Op& each : InSlot(OnlyPipe(step->ops, op.symbol), op.symbol)) sends.push_back(std::move(each));
    }
    if (!is_fed)
      Fail(op.span, fmt::format("a receive from `{}` in another nest of loops than its send", op.symbol),
           "send and receive in loops of one shape");
    for (Op& each : Staged(OneGroup(std::move(sends)))) level.out.push_back(std::move(each));
  }
  level.out.push_back(op);
}

/// The block that will be read last of all that have a slot, into the slot that was read last: in the iteration before, or in this
/// one, at its end.
void Folding::Refill(const Op& receive, Level& level) {
  Region copies;
  for (Traffic* step : Next(level, receive.symbol)) {
    step->done.insert(receive.symbol);
    for (Op& op : InSlot(step->ops, receive.symbol + (level.loads_ahead ? "" : ".previous"))) copies.push_back(std::move(op));
  }
  if (copies.empty()) return;
  copies = OneGroup(std::move(copies));
  const int64_t ahead = level.ahead.at(receive.symbol);
  Substitute(copies, level.loop->symbol,
             symbolic::Add(symbolic::Name(level.loop->symbol), symbolic::Int(ahead * level.loop->number)));
  StageAhead(copies, *level.loop, *level.prologue);
  level.out.push_back(Comment(fmt::format("{} block{} ahead, into the slot that was read last.", ahead, ahead == 1 ? "" : "s"),
                              copies.front().span));
  for (Op& op : copies) level.out.push_back(std::move(op));
}

void Folding::PlacePrologue(Region prologue, Level& level) {
  if (prologue.empty()) return;
  std::set<std::string> defined;
  for (size_t i = level.start; i < level.out.size(); ++i) {
    if (level.out[i].code == OpCode::kLet) defined.insert(level.out[i].symbol);
  }
  bool depends = false, is_moved = false;
  ForEachOp(prologue, [&](const Op& op) {
    is_moved |= op.code == OpCode::kSend && level.moved.count(op.symbol) > 0;
    for (const ir::AxisRange& axis : op.axes) {
      for (const std::string& name : defined) depends |= symbolic::Mentions(axis.start, name);
    }
  });
  // A receive before the loop would wait first: the loop's first blocks are on their way before it.
  size_t place = level.out.size();
  if (level.has_received && !depends && !is_moved) place = level.start;
  std::set<std::string>& moved = level.moved;
  ForEachOp(prologue, [&](const Op& op) {
    if (op.code == OpCode::kSend) moved.insert(op.symbol);
  });
  const size_t count = prologue.size();
  level.out.insert(level.out.begin() + static_cast<ptrdiff_t>(place), std::make_move_iterator(prologue.begin()),
                   std::make_move_iterator(prologue.end()));
  level.start = std::max(level.start, place == level.start ? place + count : level.start);
}

/// Each loading worker has a loop that fills what this one reads.
void Folding::Loop(Op op, Level& level) {
  std::vector<Feed> feeds;
  for (std::vector<Traffic>& steps : level.feeds) {
    for (Traffic& step : steps) {
      if (step.kind != Kind::kLoop || !step.done.empty() || step.is_early || !Receives(op, step.pipes)) continue;
      step.done = step.pipes;
      step.is_early = true;  // taken as a whole
      const Op& loop = *step.source;
      if (op.code == OpCode::kFor) {
        // The same trips, perhaps over other numbers.
        const Scalar trip = symbolic::Sub(symbolic::Name(op.symbol), op.scalars[0]);
        const Scalar first = Resolve(loop.scalars[0], step.names);
        const bool is_same = loop.number == op.number && symbolic::Equal(first, op.scalars[0]);
        const Scalar counted = symbolic::Make(symbolic::Kind::kDiv, DType::kI64, {trip, symbolic::Int(op.number)});
        step.names[loop.symbol] =
            is_same ? symbolic::Name(op.symbol) : symbolic::Add(first, symbolic::Mul(counted, symbolic::Int(loop.number)));
      }
      feeds.push_back({&loop.regions[0], step.names});
      break;
    }
  }
  if (feeds.empty()) {
    Fail(op.span, "a loop over slots that are sent in another nest of loops", "send and receive in loops of one shape");
    return;
  }
  Region prologue;
  const bool is_counted = op.code == OpCode::kFor;
  const Op header = op;
  op.regions[0] = FoldRegion(header.regions[0], feeds, is_counted ? &header : nullptr, &prologue);
  PlacePrologue(std::move(prologue), level);
  level.out.push_back(std::move(op));
}

void Folding::Branch(Op op, Level& level) {
  // A branch that the loading workers have, too, perhaps the other way round.
  const symbolic::Condition own = symbolic::ConditionOf(op.scalars[0]);
  std::vector<std::pair<Traffic*, bool>> same;
  for (std::vector<Traffic>& steps : level.feeds) {
    for (Traffic& step : steps) {
      if (step.kind != Kind::kBranch || !step.done.empty() || !Receives(op, step.pipes)) continue;
      const symbolic::Condition other = symbolic::ConditionOf(Resolve(step.source->scalars[0], step.names));
      if (other.text == own.text) same.emplace_back(&step, other.is_negated != own.is_negated);
      break;
    }
  }
  if (!same.empty()) {
    for (size_t i = 0; i < op.regions.size(); ++i) {
      std::vector<Feed> feeds;
      for (const auto& [step, is_turned] : same) feeds.push_back({&step->source->regions[is_turned ? 1 - i : i], step->names});
      op.regions[i] = FoldRegion(op.regions[i], feeds, nullptr, nullptr);
    }
    for (const auto& [step, is_turned] : same) step->done = step->pipes;
    level.out.push_back(std::move(op));
    return;
  }
  // Else both sides find their slots among the steps of the region around.
  const auto before = level.feeds;
  Region out = std::move(level.out);
  const size_t start = level.start;
  auto after = level.feeds;
  for (Region& region : op.regions) {
    level.feeds = before;
    level.out.clear();
    level.start = 0;
    Rewrite(region, level);
    region = std::move(level.out);
    for (size_t f = 0; f < after.size(); ++f) {
      for (size_t s = 0; s < after[f].size(); ++s)
        after[f][s].done.insert(level.feeds[f][s].done.begin(), level.feeds[f][s].done.end());
    }
  }
  level.feeds = std::move(after);
  level.out = std::move(out);
  level.start = start;
  level.out.push_back(std::move(op));
}

}  // namespace

Result<void> FoldCopies(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics) {
  if (!target.folds_copies) return {};
  std::vector<const ir::Worker*> loading;
  for (const ir::Worker& worker : kernel.workers) {
    if (worker.kind != ir::RoleKind::kCompute) loading.push_back(&worker);
  }
  if (loading.empty() || loading.size() == kernel.workers.size()) return {};
  // Each pipe is filled by who receives it; the loading workers' programs are there for all to see until the end.
  std::map<std::string, const ir::Worker*> filler;
  std::map<const ir::Worker*, std::set<std::string>> sends;
  for (const ir::Worker* worker : loading) {
    ForEachOp(worker->body, [&](const Op& op) {
      if (op.code != OpCode::kSend) return;
      if (filler.count(op.symbol) == 0) filler[op.symbol] = FillerOf(kernel, op.symbol);
      sends[worker].insert(op.symbol);
    });
  }
  for (ir::Worker& worker : kernel.workers) {
    if (worker.kind != ir::RoleKind::kCompute) continue;
    std::set<std::string> pipes;
    for (const auto& [pipe, by] : filler) {
      if (by == &worker) pipes.insert(pipe);
    }
    std::vector<const ir::Worker*> feeding;
    for (const ir::Worker* each : loading) {
      const auto fills = [&](const std::string& pipe) { return pipes.count(pipe) > 0; };
      if (std::any_of(sends[each].begin(), sends[each].end(), fills)) feeding.push_back(each);
    }
    if (feeding.empty()) continue;
    Folding folding(kernel, worker, target, diagnostics);
    if (!folding.Run(feeding, std::move(pipes))) return Failure{};
    for (const ir::Worker* each : feeding) worker.folded.push_back(each->name);
  }
  std::erase_if(kernel.workers, [](const ir::Worker& worker) { return worker.kind != ir::RoleKind::kCompute; });
  return {};
}

}  // namespace tkc::passes

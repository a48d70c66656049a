// SPDX-License-Identifier: MIT
#include "compiler/passes/fold_copies.h"

#include <algorithm>

#include "compiler/ir/op_traits.h"
#include "compiler/passes/fold_copies_impl.h"
#include "compiler/symbolic/condition.h"

namespace tkc::passes {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::Scalar;
using TrafficKind = Traffic::Kind;

namespace {

bool Defines(const Region& region, const std::string& name) {
  std::set<std::string> names;
  ForEachOp(region, [&](const Op& op) { AddScalarsMade(op, names); });
  return names.contains(name);
}

bool Fills(const Region& region, const std::string& pipe) {
  bool fills = false;
  ForEachOp(region, [&](const Op& op) { fills |= op.code == OpCode::kSend && op.symbol == pipe; });
  return fills;
}

bool Empties(const Region& region, const std::string& pipe) {
  return std::ranges::any_of(region, [&](const Op& op) { return Receives(op, {pipe}); });
}

/// The branch of a loading worker that goes with the `i`th of one that computes.
const Region& SideOf(const Traffic& step, size_t i, bool is_turned) { return step.source->regions[is_turned ? 1 - i : i]; }

/// From `first` on, a product comes before anything that waits, branches or loops.
bool HasProductAhead(const Region& region, size_t first) {
  const auto next = std::find_if(region.begin() + static_cast<ptrdiff_t>(first), region.end(), [](const Op& op) {
    return op.code == OpCode::kMultiply || op.code == OpCode::kReceive || op.code == OpCode::kSend || !op.regions.empty();
  });
  return next != region.end() && next->code == OpCode::kMultiply;
}

}  // namespace

std::vector<Traffic*> Folding::Next(Level& level, const std::string& pipe) const {
  std::vector<Traffic*> steps;
  for (std::vector<Traffic>& feed : level.feeds) {
    const auto next = std::find_if(feed.begin(), feed.end(), [&](const Traffic& step) {
      return step.pipes.count(pipe) > 0 && step.done.count(pipe) == 0 && !IsExcluded(step);
    });
    if (next != feed.end()) steps.push_back(&*next);
  }
  return steps;
}

void Folding::NameReads(const Feed& feed, Region& region, size_t& first, Names& kept) const {
  Names names = feed.names;
  for (const Op& op : *feed.region) {
    if (op.code != OpCode::kLet || !op.Is(ir::kStays)) continue;
    NameLet(op, kept, names);
    const auto unnamed = names.find(op.symbol);
    if (unnamed == names.end() || !symbolic::MentionsElement(unnamed->second)) continue;
    Names own;
    const auto is_same = [&](const Op& let) {
      if (let.code != OpCode::kLet || !let.Is(ir::kStays)) return false;
      NameLet(let, kept, own);
      return own.contains(let.symbol) && symbolic::Equal(own.at(let.symbol), unnamed->second);
    };
    const auto place = region.begin() + static_cast<ptrdiff_t>(first);
    const auto same = std::find_if(place, region.end(), is_same);
    Op let = op;
    if (same != region.end()) {
      let = *same;
      region.erase(same);
    } else if (Defines(worker_.body, op.symbol)) {
      let.symbol = kernel_.UsedNames().Free(op.symbol);
    }
    let.scalars = {unnamed->second};
    kept[let.symbol] = unnamed->second;
    region.insert(region.begin() + static_cast<ptrdiff_t>(first++), std::move(let));
    NameLet(op, kept, names);
  }
}

Region Folding::FoldRegion(const Region& region, const std::vector<Feed>& feeds, const Op* loop, Region* prologue) {
  const Names outer_lets = lets_;
  Level level;
  level.loop = loop;
  level.prologue = prologue;
  Names kept;
  size_t first = 0;
  if (!loop) {
    // The names of the tile come first, and moved copies stand behind them.
    for (; first < region.size() && (region[first].code == OpCode::kLet || region[first].code == OpCode::kTilePosition); ++first) {
      if (region[first].code == OpCode::kLet && region[first].Is(ir::kStays)) kept[region[first].symbol] = region[first].scalars[0];
    }
  }
  Region own = region;
  if (!loop) {
    for (const Feed& feed : feeds) NameReads(feed, own, first, kept);
  }
  level.out.assign(own.begin(), own.begin() + static_cast<ptrdiff_t>(first));
  for (const Op& op : level.out) NoteLet(op, lets_);
  for (const Feed& feed : feeds) {
    if (!CollectTraffic(feed, kept, level.feeds.emplace_back()))
      Fail(worker_.span, "a scalar variable in a worker that only loads", "use `let`, or compute the place from the loop's index");
    KeepFed(level.feeds.back());
  }
  if (loop)
    PlanLookahead(region, level);
  else
    MoveToStart(level);
  const Region body(own.begin() + static_cast<ptrdiff_t>(first), own.end());
  level.body = &body;
  Rewrite(body, level);
  lets_ = outer_lets;
  return std::move(level.out);
}

void Folding::Rewrite(const Region& region, Level& level) {
  const Names outer_lets = lets_;
  // Pipes whose refills stand behind the first product of what they bring, so that its operands are on their way before copies are
  // issued; without one, behind the last of a run of receives.
  std::vector<std::string> waiting;
  bool awaits_product = false;
  const auto refill = [&] {
    for (const std::string& pipe : waiting) Refill(pipe, level);
    waiting.clear();
    awaits_product = false;
  };
  for (size_t i = 0; i < region.size(); ++i) {
    const Op& op = region[i];
    NoteLet(op, lets_);
    if (!waiting.empty() && !awaits_product && op.code != OpCode::kReceive && !level.loads_ahead) {
      awaits_product = HasProductAhead(region, i);
      if (!awaits_product) refill();
    }
    if (!Receives(op, fed_)) {
      level.out.push_back(op);
      if (awaits_product && op.code == OpCode::kMultiply) refill();
    } else {
      // Behind the next receive of a pipe its ring has gone on.
      if (op.code == OpCode::kReceive && std::count(waiting.begin(), waiting.end(), op.symbol) > 0) refill();
      Take(op, level);
    }
    for (const auto& [pipe, ahead] : level.ahead) {
      // In branches of the loop's body nothing runs ahead.
      const bool is_here = &region == level.body && std::count(ahead.refills.begin(), ahead.refills.end(), i) > 0;
      if (is_here) waiting.push_back(pipe);
    }
  }
  refill();
  lets_ = outer_lets;
}

void Folding::Take(const Op& op, Level& level) {
  if (op.code == OpCode::kReceive)
    Receive(op, level);
  else if (op.code == OpCode::kIf)
    Branch(op, level);
  else
    Loop(op, level);
  for (const std::string& pipe : fed_) {
    if (Receives(op, {pipe})) level.received.insert(pipe);
  }
}

void Folding::Receive(const Op& op, Level& level) {
  if (level.ahead.count(op.symbol) == 0) {
    const std::vector<Traffic*> steps = Next(level, op.symbol);
    bool is_fed = !steps.empty();
    Region sends;
    for (Traffic* step : steps) {
      step->done.insert(op.symbol);
      if (step->is_early) continue;
      is_fed &= step->kind != TrafficKind::kLoop && !step->ops.empty();
      for (Op& each : InSlot(Decided(OnlyPipe(step->ops, op.symbol)), op.symbol)) sends.push_back(std::move(each));
    }
    if (!is_fed)
      Fail(op.span, fmt::format("a receive from `{}` in other loops or branches than its send", op.symbol),
           "let both stand in the same loops and branches");
    for (Op& each : Staged(OneGroup(std::move(sends)))) level.out.push_back(std::move(each));
  }
  level.out.push_back(op);
}

/// Each loading worker has a loop that fills what this one reads.
void Folding::Loop(Op op, Level& level) {
  std::vector<Feed> feeds;
  for (std::vector<Traffic>& steps : level.feeds) {
    for (Traffic& step : steps) {
      if (step.kind != TrafficKind::kLoop || !step.done.empty() || step.is_early || !Receives(op, step.pipes)) continue;
      step.done = step.pipes;
      step.is_early = true;  // taken as a whole
      const Op& loop = *step.source;
      if (op.code == OpCode::kFor) {
        // The same trips, perhaps over other numbers.
        const Scalar trip = symbolic::Sub(symbolic::Name(op.symbol), op.scalars[0]);
        const Scalar first = Resolve(loop.scalars[0], step.names);
        const bool is_same = loop.Step() == op.Step() && symbolic::Equal(first, op.scalars[0]);
        const Scalar counted = symbolic::Make(symbolic::Kind::kDiv, DType::kI64, {trip, symbolic::Int(op.Step())});
        step.names[loop.symbol] =
            is_same ? symbolic::Name(op.symbol) : symbolic::Add(first, symbolic::Mul(counted, symbolic::Int(loop.Step())));
      }
      feeds.push_back({&loop.regions[0], step.names});
      break;
    }
  }
  if (feeds.empty()) {
    Fail(op.span, "a loop over slots that are sent in another nest of loops", "let both stand in the same loops and branches");
    return;
  }
  Region prologue;
  const bool is_counted = op.code == OpCode::kFor;
  const Op header = op;
  op.regions[0] = FoldRegion(header.regions[0], feeds, is_counted ? &header : nullptr, &prologue);
  PlacePrologue(std::move(prologue), level);
  level.out.push_back(std::move(op));
}

symbolic::Condition Folding::ConditionOf(const Traffic& step) const {
  return symbolic::ConditionOf(Resolve(Resolve(step.source->scalars[0], step.names), lets_));
}

bool Folding::IsExcluded(const Traffic& step) const {
  return step.kind == TrafficKind::kBranch && symbolic::KnownConditions(held_).Decide(ConditionOf(step)) == false;
}

Region Folding::Decided(Region ops) const {
  Region out;
  for (Op& op : ops) {
    const bool is_branch = op.code == OpCode::kIf && !held_.empty();
    const std::optional<bool> holds =
        is_branch ? symbolic::KnownConditions(held_).Decide(symbolic::ConditionOf(Resolve(op.scalars[0], lets_))) : std::nullopt;
    if (holds)
      Append(out, Decided(std::move(op.regions[*holds ? 0 : 1])));
    else
      out.push_back(std::move(op));
  }
  return out;
}

std::vector<Traffic> Folding::SplitBranch(const Traffic& step) {
  const symbolic::Condition condition = ConditionOf(step);
  Op first = *step.source, second = *step.source;
  first.regions[1].clear();
  const Region& other = step.source->regions[1];
  second.scalars[0] = symbolic::Make(symbolic::Kind::kNot, DType::kBool, {second.scalars[0]});
  second.regions = {other, {}};
  if (other.size() == 1 && other[0].code == OpCode::kIf) {
    Traffic inner = step;
    inner.source = other.data();
    if (symbolic::KnownConditions({condition}).Decide(ConditionOf(inner)) == false) second = other[0];
  }
  std::vector<Traffic> steps;
  CollectTraffic({&split_.emplace_back(Region{std::move(first), std::move(second)}), step.names}, {}, steps);
  KeepFed(steps);
  return steps;
}

bool Folding::FillsMore(const Traffic& step, const Op& op, bool is_turned) {
  for (size_t i = 0; i < op.regions.size(); ++i) {
    for (const std::string& pipe : step.pipes) {
      if (Fills(SideOf(step, i, is_turned), pipe) && !Empties(op.regions[i], pipe)) return true;
    }
  }
  return false;
}

bool Folding::IsFed(const Op& op, const std::vector<std::pair<Traffic*, bool>>& same) const {
  for (size_t i = 0; i < op.regions.size(); ++i) {
    for (const std::string& pipe : fed_) {
      const auto fills = [&](const auto& step) { return Fills(SideOf(*step.first, i, step.second), pipe); };
      if (Empties(op.regions[i], pipe) && std::ranges::none_of(same, fills)) return false;
    }
  }
  return !same.empty();
}

void Folding::Branch(Op op, Level& level) {
  // A branch that the loading workers have, too, perhaps the other way round, or by another name.
  const symbolic::Condition own = symbolic::ConditionOf(Resolve(op.scalars[0], lets_));
  std::vector<std::pair<Traffic*, bool>> same;
  for (std::vector<Traffic>& steps : level.feeds) {
    for (size_t i = 0; i < steps.size(); ++i) {
      const Traffic step = steps[i];
      const bool is_branch = step.kind == TrafficKind::kBranch && step.done.empty();
      if (!is_branch || !Receives(op, step.pipes) || IsExcluded(step)) continue;
      const symbolic::Condition other = ConditionOf(step);
      const bool is_turned = other.is_negated != own.is_negated;
      if (other.text != own.text) break;
      if (FillsMore(step, op, is_turned)) {
        // The rest of it fills what is received behind the branch.
        const auto place = steps.erase(steps.begin() + static_cast<ptrdiff_t>(i));
        const std::vector<Traffic> split = SplitBranch(step);
        steps.insert(place, split.begin(), split.end());
      }
      same.emplace_back(&steps[i], is_turned);
      break;
    }
  }
  if (IsFed(op, same)) {
    for (size_t i = 0; i < op.regions.size(); ++i) {
      std::vector<Feed> feeds;
      for (const auto& [step, is_turned] : same) feeds.push_back({&SideOf(*step, i, is_turned), step->names});
      held_.push_back(i == 0 ? own : Negated(own));
      op.regions[i] = FoldRegion(op.regions[i], feeds, nullptr, nullptr);
      held_.pop_back();
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
  for (size_t i = 0; i < op.regions.size(); ++i) {
    level.feeds = before;
    level.out.clear();
    level.start = 0;
    held_.push_back(i == 0 ? own : Negated(own));
    Rewrite(op.regions[i], level);
    held_.pop_back();
    op.regions[i] = std::move(level.out);
    for (size_t f = 0; f < after.size(); ++f) {
      for (Traffic& step : after[f]) {
        const auto inside = std::ranges::find(level.feeds[f], step.source, &Traffic::source);
        const std::set<std::string>& done = inside == level.feeds[f].end() ? step.pipes : inside->done;  // split there
        step.done.insert(done.begin(), done.end());
      }
    }
  }
  level.feeds = std::move(after);
  level.out = std::move(out);
  level.start = start;
  level.out.push_back(std::move(op));
}

Result<void> FoldCopies(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics) {
  if (!target.folds_copies) return {};
  std::vector<const ir::Worker*> loading;
  for (const ir::Worker& worker : kernel.workers) {
    if (!worker.Computes()) loading.push_back(&worker);
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
    if (!worker.Computes()) continue;
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
  std::erase_if(kernel.workers, [](const ir::Worker& worker) { return !worker.Computes(); });
  return {};
}

}  // namespace tkc::passes

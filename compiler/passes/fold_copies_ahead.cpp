// SPDX-License-Identifier: MIT
// Copies that run ahead: which do, by how many slots, what is copied before the loop and which slot an iteration fills. Where
// copies go through registers, they are fetched an iteration before they are put down.
#include <algorithm>

#include "compiler/ir/op_traits.h"
#include "compiler/passes/fold_copies_impl.h"

namespace tkc::passes {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::Scalar;
using TrafficKind = Traffic::Kind;

bool Receives(const Op& op, const std::set<std::string>& pipes) {
  bool receives = op.code == OpCode::kReceive && pipes.count(op.symbol) > 0;
  for (const Region& region : op.regions) {
    for (const Op& inner : region) receives |= Receives(inner, pipes);
  }
  return receives;
}

Region OneGroup(Region sends) {
  Region out;
  for (Op& op : sends) {
    const auto same = std::find_if(out.begin(), out.end(), [&](const Op& other) {
      return op.code == OpCode::kSend && other.code == OpCode::kSend && other.symbol == op.symbol && other.Slot() == op.Slot();
    });
    if (same == out.end()) {
      out.push_back(std::move(op));
      continue;
    }
    std::move(op.regions[0].begin(), op.regions[0].end(), std::back_inserter(same->regions[0]));
  }
  return out;
}

Op Folding::FetchOf(const Op& copy, const std::string& name) {
  ir::Type type = kernel_.TypeOf(copy.operands[0]);
  type.space = ir::Space::kRegister;
  Op fetch{OpCode::kFetch, {kernel_.AddValue(name, type)}};
  fetch.symbol = copy.symbol;
  fetch.axes = copy.axes;
  fetch.SetTurned(copy.IsTurned());
  fetch.span = copy.span;
  return fetch;
}

Op Folding::PutOf(Op copy, ir::ValueId fetched) const {
  copy.code = OpCode::kCopyToShared;
  copy.Set(ir::kByBlock);
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
    Append(fetches, std::move(rest));
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
      held.results = {kernel_.AddValue(name + "_next", kernel_.TypeOf(first[0].results[0]), true)};
      held.span = op.span;
      Region next{FetchOf(op, name + "_fetched")};
      Substitute(next, loop.symbol, symbolic::Add(index, symbolic::Int(loop.Step())));
      Op assign{OpCode::kAssign, {}, {held.results[0], next[0].results[0]}};
      assign.span = op.span;
      if (before.empty() || before.back().span != op.span)
        before.push_back(Explain("The next block, in registers until the loop puts it into its slot.", op.span));
      before.push_back(std::move(first[0]));
      before.push_back(held);
      out.push_back(PutOf(std::move(op), held.results[0]));
      out.push_back(std::move(next[0]));
      out.push_back(std::move(assign));
    }
    send.regions[0] = std::move(out);
  }
}

std::optional<size_t> Folding::LastUse(const Region& region, size_t receive) const {
  std::set<ir::ValueId> views(region[receive].results.begin(), region[receive].results.end());
  size_t last = receive;
  for (size_t i = receive + 1; i < region.size(); ++i) {
    const Op& op = region[i];
    if (std::none_of(views.begin(), views.end(), [&](ir::ValueId view) { return Uses(op, view); })) continue;
    if (op.code == OpCode::kVar || op.code == OpCode::kAssign) return std::nullopt;
    last = i;
    if (ir::IsPartOrTranspose(op.code)) views.insert(op.results.begin(), op.results.end());
  }
  return last;
}

/// False: some slot of the pipe is received elsewhere, or not free where it would be filled again.
bool Folding::FindRefills(const std::string& pipe, const Region& region, Lookahead& ahead) const {
  std::vector<size_t> receives, last_uses;
  for (size_t i = 0; i < region.size(); ++i) {
    if (!Receives(region[i], {pipe})) continue;
    if (region[i].code != OpCode::kReceive) return false;
    receives.push_back(i);
  }
  if (receives.empty()) return false;
  ahead.turns.resize(receives.size());
  if (receives.size() == 1 && !ahead.is_alone) {
    ahead.refills = receives;
    return true;
  }
  // Another worker may wait for what this one does between two receives.
  if (channels_.contains(pipe)) return false;
  for (size_t turn = 0; turn < receives.size(); ++turn) {
    const std::optional<size_t> last = LastUse(region, receives[turn]);
    const size_t next = turn + 1 < receives.size() ? receives[turn + 1] : region.size();
    if (!last || *last >= next) return false;
    last_uses.push_back(*last);
  }
  ahead.refills = ahead.is_alone ? last_uses : receives;
  return true;
}

/// False: a worker sends elsewhere, or other numbers of slots, or what an element decides that cannot be asked for ahead.
bool Folding::FindSends(const std::string& pipe, const Level& level, Lookahead& ahead) {
  for (const std::vector<Traffic>& feed : level.feeds) {
    size_t turn = 0;
    for (const Traffic& step : feed) {
      if (step.pipes.count(pipe) == 0) continue;
      if (step.kind != TrafficKind::kSend || turn == ahead.turns.size() || ReadsElementsOtherwise(step.ops)) return false;
      Append(ahead.turns[turn], step.ops);
      ++turn;
    }
    if (turn != 0 && turn != ahead.turns.size()) return false;
  }
  return true;
}

int64_t Folding::HeldRegisters(const Lookahead& ahead) const {
  int64_t bytes = 0;
  for (const Region& turn : ahead.turns) {
    ForEachOp(turn, [&](const Op& op) {
      if (!IsStaged(op)) return;
      const ir::Type& tile = kernel_.TypeOf(op.operands[0]);
      bytes += tile.Bytes();
    });
  }
  constexpr int64_t kRegisterBytes = 4;
  return bytes / (kRegisterBytes * threads_);
}

std::optional<Lookahead> Folding::LookaheadOf(const std::string& pipe, const Region& region, const Level& level) const {
  const int64_t slots = slots_.at(pipe);
  Lookahead ahead;
  ahead.is_alone = slots == 1;
  ahead.distance = std::max<int64_t>(slots - 1, 1);
  if (ahead.is_alone && (lacks_room_ || worker_.alternates)) return std::nullopt;
  if (!FindRefills(pipe, region, ahead) || !FindSends(pipe, level, ahead)) return std::nullopt;
  // A copy that is waited for at once is as well issued where it is.
  const auto takes_time = [](const Op& op) {
    return !ir::DefinesScalars(op.code) && op.code != OpCode::kReceive && !ir::IsPartOrTranspose(op.code);
  };
  const auto behind = region.begin() + static_cast<ptrdiff_t>(ahead.refills.back()) + 1;
  const auto receive =
      std::find_if(region.begin(), region.end(), [&](const Op& op) { return op.code == OpCode::kReceive && op.symbol == pipe; });
  const bool is_waited_for = std::none_of(behind, region.end(), takes_time) && std::none_of(region.begin(), receive, takes_time);
  if (ahead.is_alone && is_waited_for) return std::nullopt;
  // Blocks that would only be on their way in the iteration that needs them are held where they fit.
  const int64_t held = ahead.is_alone || ahead.turns.size() > 1 ? HeldRegisters(ahead) : 0;
  if (held > std::max<int64_t>(0, registers_)) return std::nullopt;
  return ahead;
}

/// Which pipes run ahead in this loop, and their first blocks.
void Folding::PlanLookahead(const Region& region, Level& level) {
  std::vector<std::string> pipes;
  for (std::vector<Traffic>& feed : level.feeds) {
    for (Traffic& step : feed) {
      if (step.kind != TrafficKind::kSend) continue;
      const std::string& pipe = *step.pipes.begin();
      if (level.ahead.count(pipe) == 0) {
        std::optional<Lookahead> ahead = LookaheadOf(pipe, region, level);
        if (!ahead) continue;
        registers_ -= HeldRegisters(*ahead);
        level.ahead[pipe] = std::move(*ahead);
        pipes.push_back(pipe);
      }
      step.done.insert(pipe);
    }
  }
  const auto runs_ahead = [&](const Op& op) { return op.code != OpCode::kReceive || level.ahead.count(op.symbol) > 0; };
  const auto is_once = [](const auto& each) { return each.second.turns.size() == 1 && !each.second.is_alone; };
  level.loads_ahead = loads_ahead_ && std::all_of(region.begin(), region.end(), runs_ahead) &&
                      std::all_of(level.ahead.begin(), level.ahead.end(), is_once) && CanLoadAhead(*level.loop);
  for (auto& [pipe, ahead] : level.ahead) ahead.distance += level.loads_ahead;
  *level.prologue = Prologue(pipes, level);
}

Region Folding::Turn(const std::string& pipe, int64_t turn, const std::string& slot, const Scalar& first, const Level& level) {
  const std::vector<Region>& turns = level.ahead.at(pipe).turns;
  const auto count = static_cast<int64_t>(turns.size());
  Region copies = InSlot(turns[static_cast<size_t>(turn % count)], slot);
  const Scalar index = symbolic::Name(level.loop->symbol);
  BeginWhere(kernel_, symbolic::Make(symbolic::Kind::kLt, DType::kBool, {index, level.loop->scalars[1]}), copies);
  const int64_t distance = turn / count * level.loop->Step();
  Substitute(copies, level.loop->symbol, symbolic::Add(first, symbolic::Int(distance)));
  return copies;
}

Region Folding::PrologueByStages(const std::vector<std::string>& pipes, const Level& level) {
  const int64_t stages = level.ahead.at(pipes.front()).distance;
  const Scalar distance = symbolic::Mul(symbolic::Name(stage_), symbolic::Int(level.loop->Step()));
  const Scalar first = stages == 1 ? level.loop->scalars[0] : symbolic::Add(level.loop->scalars[0], distance);
  Region copies;
  for (const std::string& pipe : pipes) {
    for (Op& op : Turn(pipe, 0, stages == 1 ? pipe : fmt::format("{}+{}", pipe, stage_), first, level))
      copies.push_back(std::move(op));
  }
  const Span span = copies.front().span;
  Region body = Staged(OneGroup(std::move(copies)));
  if (stages == 1) {
    body.insert(body.begin(), Explain("The first block of the loop below.", span));
    return body;
  }
  return {Explain(fmt::format("The first {} blocks of the loop below.", stages), span),
          Unroll(stage_, stages, std::move(body), span)};
}

Region Folding::Prologue(const std::vector<std::string>& pipes, const Level& level) {
  if (pipes.empty()) return {};
  const auto is_alike = [&](const auto& each) {
    return each.second.turns.size() == 1 && each.second.distance == level.ahead.at(pipes.front()).distance;
  };
  if (std::all_of(level.ahead.begin(), level.ahead.end(), is_alike)) return PrologueByStages(pipes, level);
  // Slots are filled in the order in which the loop goes on filling them, so that its waits count the same from its first iteration
  // on.
  int64_t iterations = 0;
  std::string counts;
  std::vector<std::pair<size_t, std::string>> refills;  // of an iteration, in order
  for (const auto& [pipe, ahead] : level.ahead) {
    const auto turns = static_cast<int64_t>(ahead.turns.size());
    iterations = std::max(iterations, (ahead.distance + turns - 1) / turns);
    counts += fmt::format("{}{} for {}", counts.empty() ? ": " : ", ", ahead.distance, pipe);
    for (const size_t refill : ahead.refills) refills.emplace_back(refill, pipe);
  }
  std::sort(refills.begin(), refills.end());
  Region copies;
  for (int64_t iteration = -iterations; iteration < 0; ++iteration) {
    std::map<std::string, int64_t> filled;
    for (const auto& [place, pipe] : refills) {
      const Lookahead& ahead = level.ahead.at(pipe);
      const int64_t turn = iteration * static_cast<int64_t>(ahead.turns.size()) + filled[pipe]++ + ahead.distance;
      if (turn < 0) continue;
      const std::string slot = turn == 0 ? pipe : fmt::format("{}+{}", pipe, turn);
      for (Op& each : Turn(pipe, turn, slot, level.loop->scalars[0], level)) copies.push_back(std::move(each));
    }
  }
  const Span span = copies.front().span;
  copies = Staged(OneGroup(std::move(copies)));
  copies.insert(copies.begin(),
                Explain(fmt::format("The first blocks of the loop below{}.", pipes.size() > 1 ? counts : ""), span));
  return copies;
}

/// The first slots outside loops: all of them are under way before anybody waits, where they find room at once.
void Folding::MoveToStart(Level& level) {
  if (lacks_room_) return;
  Region copies;
  for (std::vector<Traffic>& feed : level.feeds) {
    std::set<std::string> blocked;  // filled by a loop or branch before
    std::map<std::string, int64_t> filled;
    for (Traffic& step : feed) {
      const std::string& pipe = *step.pipes.begin();
      if (step.kind != TrafficKind::kSend) {
        blocked.insert(step.pipes.begin(), step.pipes.end());
        continue;
      }
      const int64_t number = filled[pipe];
      if (blocked.count(pipe) > 0 || number >= slots_.at(pipe)) continue;
      ++filled[pipe];
      step.is_early = true;
      for (Op& op : InSlot(step.ops, number == 0 ? pipe : fmt::format("{}+{}", pipe, number))) copies.push_back(std::move(op));
    }
  }
  for (Op& op : Staged(OneGroup(std::move(copies)))) level.out.push_back(std::move(op));
  level.start = level.out.size();
}

/// What this worker has a name for, as the end of the loop, ends copies under that name.
void Folding::NameEnds(Region& copies) const {
  ForEachOp(copies, [&](Op& op) {
    for (ir::AxisRange& axis : op.axes) {
      if (!axis.hi || axis.hi->args.empty()) continue;
      const Scalar end = Resolve(axis.hi, lets_);
      const auto named =
          std::find_if(lets_.begin(), lets_.end(), [&](const auto& let) { return symbolic::Equal(let.second, end); });
      if (named != lets_.end()) axis.hi = symbolic::Name(named->first, axis.hi->dtype);
    }
  });
}

/// The block that will be read last of all that have a slot, into the slot that was read last: in the turn before, or in this one,
/// where all is read that is read of it.
void Folding::Refill(const std::string& pipe, Level& level) {
  Lookahead& ahead = level.ahead.at(pipe);
  const bool is_own = level.loads_ahead || ahead.is_alone;
  Region copies =
      Turn(pipe, ahead.filled++ + ahead.distance, pipe + (is_own ? "" : ".previous"), symbolic::Name(level.loop->symbol), level);
  NameEnds(copies);
  copies = OneGroup(std::move(copies));
  StageAhead(copies, *level.loop, *level.prologue);
  const std::string distance = fmt::format("{} block{} ahead", ahead.distance, ahead.distance == 1 ? "" : "s");
  level.out.push_back(Explain(ahead.is_alone ? "The next block, into the slot that has been read."
                                             : fmt::format("{}, into the slot that was read last.", distance),
                              copies.front().span));
  for (Op& op : copies) level.out.push_back(std::move(op));
}

void Folding::PlacePrologue(Region prologue, Level& level) {
  if (prologue.empty()) return;
  std::set<std::string> defined;
  for (size_t i = level.start; i < level.out.size(); ++i) {
    ir::ForEachScalarDefined(level.out[i], [&](const std::string& name) { defined.insert(name); });
  }
  bool depends = false, is_behind = false;
  ForEachOp(prologue, [&](const Op& op) {
    is_behind |= op.code == OpCode::kSend && level.received.count(op.symbol) > 0;
    for (const ir::AxisRange& axis : op.axes) {
      for (const std::string& name : defined) depends |= symbolic::Mentions(axis.start, name);
    }
  });
  // A receive before the loop would wait first: the loop's first blocks are on their way before it, but never in front of slots
  // that are received before them.
  size_t place = level.out.size();
  if (!level.received.empty() && !depends && !is_behind) place = level.start;
  const size_t count = prologue.size();
  level.out.insert(level.out.begin() + static_cast<ptrdiff_t>(place), std::make_move_iterator(prologue.begin()),
                   std::make_move_iterator(prologue.end()));
  level.start = std::max(level.start, place == level.start ? place + count : level.start);
}

}  // namespace tkc::passes

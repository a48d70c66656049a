// SPDX-License-Identifier: MIT
// The master nest (lang-spec, wp-15): all instances of a section are run by one hand, loop by loop.
//
// Straight-line traffic is executed on counters: per cell of a slot how often it was sent, per consumer how often it received.
// Instances whose next step is a loop over equal ranges go through it together, once, as an induction: at its end the counters must
// stand as at its start, which makes any number of iterations right, none included. A branch is taken by all who share its pipes,
// both ways, with equal outcome. Where they do not come to it together, all that is left of the iteration is run twice, once for
// each way that the condition goes; everybody then takes the branches on it, or on what follows from it, alone. If the hand gets to
// the end of all bodies, what it did is a complete run, and as the workers are determinate no run can get stuck. A pipe without a
// number of slots gets as many as this run needs.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/sema/nest.h"

namespace tkc::sema {
namespace {

using TrafficKind = TrafficItem::Kind;

constexpr int kMostCases = 64;  // of a section; each further condition may double them

/// The first that stands at a branch.
const Cursor* FindBranch(const std::vector<Cursor>& cursors) {
  const auto is_at_branch = [](const Cursor& cursor) { return !cursor.AtEnd() && cursor.Head().kind == TrafficKind::kIf; };
  const auto found = std::find_if(cursors.begin(), cursors.end(), is_at_branch);
  return found == cursors.end() ? nullptr : &*found;
}

}  // namespace

int64_t& Nest::ReceivedBy(int ring, int skeleton) {
  const std::vector<int>& consumers = rings_[ring].consumers;
  return counters_.received[ring][std::lower_bound(consumers.begin(), consumers.end(), skeleton) - consumers.begin()];
}

bool Nest::CanReceive(const Cursor& cursor) const {
  const TrafficItem& item = cursor.Head();
  return item.kind == TrafficKind::kReceive && Full(item.ring) > ReceivedBy(item.ring, cursor.skeleton);
}

bool Nest::CanSend(const Cursor& cursor) const {
  const TrafficItem& item = cursor.Head();
  if (item.kind != TrafficKind::kSend) return false;
  const Ring& ring = rings_[item.ring];
  const std::vector<int64_t>& received = counters_.received[item.ring];
  const int64_t freed = *std::min_element(received.begin(), received.end());
  for (size_t c = 0; c < ring.cells.size(); ++c) {
    for (const Rectangle& part : item.parts) {
      if (part.Contains(ring.cells[c]) && counters_.sent[item.ring][c] - freed >= limits_[ring.pipe]) return false;
    }
  }
  return true;
}

void Nest::Receive(Cursor& cursor) {
  const TrafficItem& item = cursor.Head();
  int64_t& received = ReceivedBy(item.ring, cursor.skeleton);
  Slots& slots = slots_[item.ring];
  const std::set<const typed::Stmt*>& senders = slots[received];
  steps_.senders[item.stmt].insert(senders.begin(), senders.end());
  ++received, ++cursor.next;
  const std::vector<int64_t>& all = counters_.received[item.ring];
  slots.erase(slots.begin(), slots.lower_bound(*std::min_element(all.begin(), all.end())));  // nobody asks for these again
}

void Nest::Send(Cursor& cursor) {
  const TrafficItem& item = cursor.Head();
  const Ring& ring = rings_[item.ring];
  for (size_t c = 0; c < ring.cells.size(); ++c) {
    for (const Rectangle& part : item.parts) {
      if (part.Contains(ring.cells[c])) slots_[item.ring][counters_.sent[item.ring][c]++].insert(item.stmt);
    }
  }
  ++cursor.next;
}

/// One straight-line step; receives before sends, so that slots are not asked for without need.
bool Nest::Step(std::vector<Cursor>& cursors) {
  bool moved = false;
  for (Cursor& cursor : cursors) {
    for (; !cursor.AtEnd(); moved = true) {
      if (cursor.Head().kind == TrafficKind::kLet) {
        const typed::Stmt& let = *cursor.Head().stmt;
        skeletons_[cursor.skeleton].table.Define(let.var, *let.expr);
        ++cursor.next;
      } else if (CanReceive(cursor)) {
        Receive(cursor);
      } else if (!TakeDecided(cursor)) {
        break;
      }
    }
  }
  if (moved) return true;
  for (Cursor& cursor : cursors) {
    if (cursor.AtEnd() || !CanSend(cursor)) continue;
    Send(cursor);
    return true;
  }
  return false;
}

/// Sends that wait for room only: the first of their pipes gets a slot more.
bool Nest::RaiseLimit(const std::vector<Cursor>& cursors) {
  for (const Cursor& cursor : cursors) {
    if (cursor.AtEnd() || cursor.Head().kind != TrafficKind::kSend) continue;
    ++limits_[rings_[cursor.Head().ring].pipe];
    return true;
  }
  return false;
}

void Nest::NoteStuck(const std::vector<Cursor>& cursors) {
  for (const Cursor& cursor : cursors) {
    if (cursor.AtEnd() || cursor.Head().kind != TrafficKind::kLoop) continue;
    const typed::Stmt& loop = *cursor.Head().stmt;
    SymbolicTable& table = skeletons_[cursor.skeleton].table;
    if (symbolic::IsInt(table.Of(*loop.lo)) && symbolic::IsInt(table.Of(*loop.hi))) steps_.stuck.insert(SourcePlaceOf(loop.span));
  }
}

symbolic::Condition Nest::ConditionAt(const Cursor& cursor) {
  return symbolic::ConditionOf(skeletons_[cursor.skeleton].table.Of(*cursor.Head().stmt->expr));
}

std::string Nest::Key(const Cursor& cursor) {
  const TrafficItem& item = cursor.Head();
  SymbolicTable& table = skeletons_[cursor.skeleton].table;
  if (item.kind == TrafficKind::kIf) return "if " + ConditionAt(cursor).text;
  return fmt::format("for {} .. {} by {}", symbolic::CanonicalText(table.Of(*item.stmt->lo)),
                     symbolic::CanonicalText(table.Of(*item.stmt->hi)), item.stmt->step);
}

/// A set of instances that can take their next loop or branch together: those of equal range that share pipes, when nobody
/// else still has to do with these pipes before.
Nest::Joint Nest::RunJoint(std::vector<Cursor>& cursors) {
  std::vector<std::string> keys;
  for (const Cursor& cursor : cursors)
    keys.push_back(cursor.AtEnd() || cursor.Head().kind == TrafficKind::kSend || cursor.Head().kind == TrafficKind::kReceive
                       ? ""
                       : Key(cursor));
  for (size_t start = 0; start < cursors.size(); ++start) {
    if (keys[start].empty()) continue;
    std::vector<bool> in_group(cursors.size(), false);
    std::set<int> rings;
    in_group[start] = true;
    rings.insert(cursors[start].Head().rings.begin(), cursors[start].Head().rings.end());
    for (bool grew = true; grew;) {
      grew = false;
      for (size_t i = 0; i < cursors.size(); ++i) {
        if (in_group[i] || keys[i] != keys[start]) continue;
        const std::vector<int>& own = cursors[i].Head().rings;
        if (std::none_of(own.begin(), own.end(), [&](int ring) { return rings.count(ring) > 0; })) continue;
        in_group[i] = grew = true;
        rings.insert(own.begin(), own.end());
      }
    }
    bool ready = true;
    for (size_t i = 0; i < cursors.size() && ready; ++i) {
      if (in_group[i] || cursors[i].AtEnd()) continue;
      // A pipe that is used in the loop is used there by all of its ends; one that is still to come has to come first.
      for (size_t k = cursors[i].next; k < cursors[i].items->size() && ready; ++k) {
        const std::vector<int>& own = (*cursors[i].items)[k].rings;
        ready = std::none_of(own.begin(), own.end(), [&](int ring) { return rings.count(ring) > 0; });
      }
    }
    if (!ready) continue;
    std::vector<Cursor> group;
    for (size_t i = 0; i < cursors.size(); ++i) {
      if (in_group[i]) group.push_back(cursors[i]);
    }
    const bool ok = cursors[start].Head().kind == TrafficKind::kLoop ? RunLoop(group) : RunIf(group);
    if (!ok) return Joint::kFailed;
    for (size_t i = 0; i < cursors.size(); ++i) {
      if (in_group[i]) ++cursors[i].next;
    }
    return Joint::kDone;
  }
  return Joint::kNone;
}

bool Nest::RunLoop(const std::vector<Cursor>& group) {
  const int number =
      loop_numbers_.try_emplace(fmt::format("{} {}", depth_, Key(group[0])), static_cast<int>(loop_numbers_.size())).first->second;
  const std::string name = fmt::format("L{}", number);
  std::vector<Cursor> inner;
  for (const Cursor& cursor : group) {
    const TrafficItem& item = cursor.Head();
    skeletons_[cursor.skeleton].table.Rename(item.stmt->var, name);
    steps_.names.emplace(item.stmt->var, name);
    for (const int ring : item.rings) {
      const std::vector<int64_t>& received = counters_.received[ring];
      if (counters_.sent[ring][0] > *std::min_element(received.begin(), received.end())) steps_.lagging.insert(rings_[ring].pipe);
    }
    inner.push_back({cursor.skeleton, &item.body, 0});
  }
  const Counters before = counters_;
  const std::vector<Slots> slots_before = slots_;
  ++depth_;
  const bool ok = Run(std::move(inner));
  --depth_;
  if (!ok) return false;
  // Only differences matter: what was sent and received since.
  for (size_t r = 0; r < rings_.size(); ++r) {
    const int64_t change = counters_.sent[r][0] - before.sent[r][0];
    for (size_t c = 0; c < counters_.sent[r].size(); ++c) {
      if (counters_.sent[r][c] - before.sent[r][c] != change)
        return ReportUnbalanced(before, group[0].Head().stmt->span, "in one iteration"), false;
    }
    for (size_t c = 0; c < counters_.received[r].size(); ++c) {
      if (counters_.received[r][c] - before.received[r][c] != change)
        return ReportUnbalanced(before, group[0].Head().stmt->span, "in one iteration"), false;
    }
  }
  counters_ = before;
  slots_ = slots_before;
  return true;
}

bool Nest::RunIf(const std::vector<Cursor>& group) {
  std::vector<Cursor> then_branch, else_branch;
  for (const Cursor& cursor : group) {
    Cursor taken{cursor.skeleton, &cursor.Head().body, 0}, other{cursor.skeleton, &cursor.Head().orelse, 0};
    if (ConditionAt(cursor).is_negated) std::swap(taken, other);
    then_branch.push_back(taken);
    else_branch.push_back(other);
  }
  return RunBoth(
      ConditionAt(group[0]), [&] { return Run(std::move(then_branch)); }, [&] { return Run(std::move(else_branch)); },
      group[0].Head().stmt->span);
}

bool Nest::RunBoth(symbolic::Condition condition, const std::function<bool()>& first, const std::function<bool()>& second,
                   Span span) {
  const auto run = [&](bool holds, const std::function<bool()>& side) {
    condition.is_negated = !holds;
    held_.push_back(condition);
    const bool ok = side();
    held_.pop_back();
    return ok;
  };
  const Counters before = counters_;
  const std::vector<Slots> slots_before = slots_;
  if (!run(true, first)) return false;
  const Counters after = counters_;
  const std::vector<Slots> slots_after = slots_;
  counters_ = before;
  slots_ = slots_before;
  if (!run(false, second)) return false;
  for (size_t r = 0; r < rings_.size(); ++r) {
    for (size_t c = 0; c < counters_.received[r].size(); ++c) {
      for (size_t k = 0; k < counters_.sent[r].size(); ++k) {
        if (after.sent[r][k] - after.received[r][c] == counters_.sent[r][k] - counters_.received[r][c]) continue;
        ReportUnbalanced(before, span, "in one of the branches");
        return false;
      }
    }
    // The slots that are left have the numbers that the second run gave them.
    const int64_t renumbered = counters_.sent[r][0] - after.sent[r][0];
    for (const auto& [slot, senders] : slots_after[r]) slots_[r][slot + renumbered].insert(senders.begin(), senders.end());
  }
  return true;
}

bool Nest::TakeDecided(Cursor& cursor) {
  if (cursor.Head().kind != TrafficKind::kIf || held_.empty()) return false;
  const std::optional<bool> decided = symbolic::KnownConditions(held_).Decide(ConditionAt(cursor));
  if (!decided) return false;
  const std::vector<TrafficItem>& taken = *decided ? cursor.Head().body : cursor.Head().orelse;
  std::vector<TrafficItem>& items = entered_.emplace_back(taken);
  items.insert(items.end(), cursor.items->begin() + static_cast<ptrdiff_t>(cursor.next) + 1, cursor.items->end());
  cursor = {cursor.skeleton, &items, 0};
  return true;
}

void Nest::GoBack(State state) {
  counters_ = std::move(state.counters);
  slots_ = std::move(state.slots);
  limits_ = std::move(state.limits);
  steps_ = std::move(state.steps);
  said_ = std::move(state.said);
}

bool Nest::RunCases(const std::vector<Cursor>& cursors) {
  const Cursor* branch = FindBranch(cursors);
  if (branch == nullptr || cases_ == kMostCases) return false;
  ++cases_;
  State before = Now();
  const auto run = [&] { return Run(cursors); };
  const bool ok = RunBoth(ConditionAt(*branch), run, run, branch->Head().stmt->span);
  if (!ok) GoBack(std::move(before));
  return ok;
}

bool Nest::Run(std::vector<Cursor> cursors) {
  while (true) {
    while (Step(cursors)) {
    }
    const bool done = std::all_of(cursors.begin(), cursors.end(), [](const Cursor& cursor) { return cursor.AtEnd(); });
    if (done) return true;
    const bool has_branch = FindBranch(cursors) != nullptr;
    State before = has_branch ? Now() : State{};
    const Joint joint = RunJoint(cursors);
    if (joint == Joint::kDone) continue;
    if (has_branch) {
      State failed = Now();
      GoBack(std::move(before));
      if (RunCases(cursors)) return true;
      GoBack(std::move(failed));
    }
    if (joint == Joint::kNone && RaiseLimit(cursors)) continue;
    if (joint == Joint::kNone) {
      NoteStuck(cursors);
      ReportStuck(cursors);
    }
    return false;
  }
}

}  // namespace tkc::sema

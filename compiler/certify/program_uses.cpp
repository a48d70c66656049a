// SPDX-License-Identifier: MIT
// What a program uses: which rings turn in a loop, where a view is used last, and which rings turn in the steps.

#include <algorithm>

#include "compiler/certify/program.h"
#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/symbolic/polynomial.h"

namespace tkc::certify {

using ir::Op;
using ir::OpCode;

bool ReachesOut(const ir::Op& op) {
  return ir::IsMulticast(op.code) || ir::StoresToBlocks(op.code) ||
         (op.code == OpCode::kArrive && (op.Is(ir::kInAllBlocks) || !op.scalars.empty()));
}

std::set<std::string> RingsOf(const Op& loop) {
  std::set<std::string> rings;
  ir::ForEachOp(loop.regions[0], [&](const Op& op) {
    if (op.code == OpCode::kAdvance) rings.insert(op.symbol);
    if (op.code == OpCode::kSyncBlock) rings.insert("the block");
    if (op.code == OpCode::kNamedSync) rings.insert("named barrier " + symbolic::CanonicalText(op.scalars[0]));
  });
  return rings;
}

bool Turns(const Op& op) {
  return std::any_of(op.regions.begin(), op.regions.end(),
                     [](const ir::Region& region) { return ir::Contains(region, OpCode::kAdvance); });
}

bool Changes(const Op& loop) {
  bool changes = false;
  ir::ForEachOp(loop.regions[0], [&](const Op& op) {
    if (op.code != OpCode::kLet || !op.Is(ir::kChanges)) return;
    for (const ir::Scalar& bound : loop.scalars) changes |= symbolic::Mentions(bound, op.symbol);
  });
  return changes;
}

void FindLastUses(Agent& agent) {
  std::vector<int> made(static_cast<size_t>(agent.roots), 0), head(agent.loops.size(), 0), next(agent.loops.size(), 0);
  agent.last_use.assign(static_cast<size_t>(agent.roots), 0);
  for (int i = 0; i < static_cast<int>(agent.steps.size()); ++i) {
    const Step& step = agent.steps[static_cast<size_t>(i)];
    if (step.kind == StepKind::kTest) head[static_cast<size_t>(step.loop)] = i;
    if (step.kind == StepKind::kNext) next[static_cast<size_t>(step.loop)] = i;
    if (step.root >= 0) made[static_cast<size_t>(step.root)] = i;
    for (const Access& access : step.accesses) agent.last_use[static_cast<size_t>(access.root)] = i;
  }
  // Loops inside come behind those around them.
  for (size_t loop = agent.loops.size(); loop-- > 0;) {
    for (size_t root = 0; root < made.size(); ++root) {
      int& last = agent.last_use[root];
      if (made[root] < head[loop] && head[loop] < last && last < next[loop]) last = next[loop];
    }
  }
}

namespace {

/// An integer that is chosen for each iteration of the loops up to `context` deep is asked about until the loop inside these that
/// `step` stands in, if any, has ended.
class LastAsked {
 public:
  explicit LastAsked(Agent& agent) : agent_(agent) {}

  void Run() {
    for (int i = 0; i < static_cast<int>(agent_.steps.size()); ++i) {
      const Step& step = agent_.steps[static_cast<size_t>(i)];
      if (step.kind == StepKind::kEnter) around_.push_back(NextOf(i));
      if (step.kind == StepKind::kEnter || step.kind == StepKind::kTest) {
        const Loop& loop = agent_.loops[static_cast<size_t>(step.loop)];
        Note(loop.family, loop.depth, i);
        Note(loop.goes_on, i);
      }
      if (step.kind == StepKind::kBranch) Note(agent_.conditions[static_cast<size_t>(step.condition)], i);
      if (step.kind == StepKind::kNext) around_.pop_back();
    }
  }

 private:
  int NextOf(int enter) const {
    int next = enter;
    while (agent_.steps[static_cast<size_t>(next)].kind != StepKind::kNext ||
           agent_.steps[static_cast<size_t>(next)].loop != agent_.steps[static_cast<size_t>(enter)].loop)
      ++next;
    return next;
  }
  void Note(int family, int context, int at) {
    if (family < 0) return;
    int& last = agent_.last_asked[static_cast<size_t>(family)];
    last = std::max(last, static_cast<size_t>(context) < around_.size() ? around_[static_cast<size_t>(context)] : at);
  }
  void Note(const Condition& condition, int at) {
    Note(condition.family, condition.context, at);
    for (const Condition& part : condition.parts) Note(part, at);
  }

  Agent& agent_;
  std::vector<int> around_;  // the last steps of the loops around
};

}  // namespace

void FindLastAsked(const Program& program, Agent& agent) {
  agent.last_asked.assign(program.families.size(), -1);
  LastAsked(agent).Run();
}

void DropUnusedRings(Agent& agent) {
  std::vector<int> place(agent.rings.size(), -1);
  for (const Step& step : agent.steps) {
    if (step.ring >= 0) place[static_cast<size_t>(step.ring)] = 0;
  }
  std::vector<AgentRing> used;
  for (size_t ring = 0; ring < place.size(); ++ring) {
    if (place[ring] < 0 && agent.rings[ring].name[0] != '@') continue;
    place[ring] = static_cast<int>(used.size());
    used.push_back(std::move(agent.rings[ring]));
  }
  agent.rings = std::move(used);
  const auto moved = [&](int ring) { return ring < 0 ? ring : place[static_cast<size_t>(ring)]; };
  for (Step& step : agent.steps) step.ring = moved(step.ring);
  for (int& ring : agent.ring_of_root) ring = moved(ring);
  for (Loop& loop : agent.loops) {
    for (std::vector<int>* rings : {&loop.rings, &loop.counters}) {
      for (int& ring : *rings) ring = moved(ring);
      std::erase(*rings, -1);
    }
  }
}

}  // namespace tkc::certify

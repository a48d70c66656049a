// SPDX-License-Identifier: MIT
// Who is furthest behind: an order of the loops of all agents, and of the slots that they fill or wait for beside these, in which
// each agent's own follow each other as in its program, and what several have stands where all of them come to it. An agent that
// comes to something before others do waits in front of it, and who has waited for a slot stands before it until it is filled or
// given back, so nobody gets further ahead of others than they force it to.
#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "compiler/certify/program.h"

namespace tkc::certify {
namespace {

class Ordering {
 public:
  explicit Ordering(Program& program) : program_(program), nodes_(program.families.size()) {}

  void Run() {
    for (const Agent& agent : program_.agents) AddSequences(agent);
    // Each before all that follow it; where that is a circle, the step that would close it is left out.
    for (size_t node = nodes_.size(); node-- > 0;) Visit(node);
    for (size_t i = 0; i < program_.agents.size(); ++i) Rank(program_.agents[i], slots_of_[i]);
  }

 private:
  enum class Visited : uint8_t { kNot, kOpen, kDone };
  static constexpr size_t kNone = ~size_t{0};
  /// A loop (its family), or a slot in one body.
  struct Node {
    std::vector<size_t> next{};  // that come behind it in some agent
    Visited visited = Visited::kNot;
    int rank = 0;
  };

  /// What an agent has come to last.
  struct Sequence {
    std::vector<std::vector<size_t>> last{{}};  // of each loop around: of more where a branch has two sides
    std::vector<int64_t> turned;                // of each ring
  };

  /// What stands behind each other in the same body: the sides of a branch each behind what is in front of it.
  void AddSequences(const Agent& agent) {
    Sequence at{.turned = std::vector<int64_t>(agent.rings.size())};
    std::vector<int> path{-1};  // families of the loops around
    std::set<size_t> come_to;
    const std::set<int> received = Received(agent);
    std::vector<size_t>& slots = slots_of_.emplace_back(agent.steps.size(), kNone);
    std::map<size_t, Sequence> others;                 // in front of the second sides of branches, by their first steps
    std::multimap<size_t, std::vector<size_t>> joins;  // with what first sides end, by the steps behind the branches
    for (size_t i = 0; i < agent.steps.size(); ++i) {
      for (auto [side, end] = joins.equal_range(i); side != end; ++side) {
        Join(at.last.back(), side->second);
      }
      const Step& step = agent.steps[i];
      if (step.kind == StepKind::kNext) {
        at.last.pop_back();
        path.pop_back();
      } else if (step.kind == StepKind::kEnter) {
        path.push_back(agent.loops[static_cast<size_t>(step.loop)].family);
        Follow(at.last.back(), static_cast<size_t>(path.back()));
        at.last.emplace_back();
      } else if (step.kind == StepKind::kBranch) {
        others.insert_or_assign(static_cast<size_t>(step.target), at);
      } else if (step.kind == StepKind::kJump) {
        joins.emplace(static_cast<size_t>(step.target), std::move(at.last.back()));
        at = others.extract(i + 1).mapped();
      } else if (step.kind == StepKind::kOp && step.op->code == ir::OpCode::kAdvance) {
        at.turned[static_cast<size_t>(step.ring)] += step.amount;
      } else if (step.ring >= 0 && step.barrier >= 0) {
        const auto ring = static_cast<size_t>(step.ring);
        // Who also receives what he sends may send it long before.
        const bool is_ahead = step.op->code == ir::OpCode::kWaitEmpty && received.count(step.ring) > 0;
        const size_t node = SlotNode({path, agent.rings[ring].name, at.turned[ring] + step.offset, is_ahead});
        slots[i] = node;  // until it is given back
        if (come_to.insert(node).second) Follow(at.last.back(), node);
      }
    }
  }

  static std::set<int> Received(const Agent& agent) {
    std::set<int> rings;
    for (const Step& step : agent.steps) {
      if (step.op && step.op->code == ir::OpCode::kWaitFull) rings.insert(step.ring);
    }
    return rings;
  }

  /// Each once: sides that came to nothing end with the same, and a program may have many of them behind each other.
  static void Join(std::vector<size_t>& last, const std::vector<size_t>& other) {
    for (const size_t node : other) {
      if (std::find(last.begin(), last.end(), node) == last.end()) last.push_back(node);
    }
  }

  void Follow(std::vector<size_t>& last, size_t node) {
    for (const size_t before : last) {
      if (before != node) nodes_[before].next.push_back(node);
    }
    last = {node};
  }

  /// Loops around, ring, turn, and whether it is waited for ahead of who receives it.
  using Slot = std::tuple<std::vector<int>, std::string, int64_t, bool>;
  size_t SlotNode(Slot slot) {
    const auto [place, is_new] = slot_nodes_.try_emplace(std::move(slot), nodes_.size());
    if (is_new) nodes_.emplace_back();
    return place->second;
  }

  void Visit(size_t node) {
    if (nodes_[node].visited != Visited::kNot) return;
    nodes_[node].visited = Visited::kOpen;
    for (const size_t next : nodes_[node].next) Visit(next);
    nodes_[node].visited = Visited::kDone;
    nodes_[node].rank = static_cast<int>(nodes_.size()) - ++visited_;
  }

  void Rank(Agent& agent, const std::vector<size_t>& slots) const {
    for (Loop& loop : agent.loops) loop.rank = nodes_[static_cast<size_t>(loop.family)].rank;
    agent.next_rank.resize(agent.steps.size());
    constexpr int kLast = std::numeric_limits<int>::max();
    std::vector<int> next{kLast};
    for (size_t i = agent.steps.size(); i-- > 0;) {
      const Step& step = agent.steps[i];
      if (step.kind == StepKind::kNext) next.push_back(kLast);
      if (step.kind == StepKind::kJump) next.back() = agent.next_rank[static_cast<size_t>(step.target)];
      // Which side it takes is not known yet.
      if (step.kind == StepKind::kBranch) next.back() = std::min(next.back(), agent.next_rank[static_cast<size_t>(step.target)]);
      if (step.kind == StepKind::kEnter) {
        next.pop_back();
        next.back() = agent.loops[static_cast<size_t>(step.loop)].rank;
      }
      if (slots[i] < nodes_.size()) next.back() = nodes_[slots[i]].rank;
      agent.next_rank[i] = next.back();
    }
  }

  Program& program_;
  std::vector<Node> nodes_;
  std::map<Slot, size_t> slot_nodes_;
  std::vector<std::vector<size_t>> slots_of_;  // of each agent and step
  int visited_ = 0;
};

}  // namespace

void OrderLoops(Program& program) { Ordering(program).Run(); }

}  // namespace tkc::certify

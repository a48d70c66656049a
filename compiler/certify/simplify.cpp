// SPDX-License-Identifier: MIT
// What can have no consequence any more is forgotten, before two states are compared.
#include <algorithm>
#include <set>

#include "compiler/certify/normal_form.h"

namespace tkc::certify {
namespace {

uint64_t LiveAgents(const State& state) {
  uint64_t live = 0;
  for (size_t i = 0; i < state.agents.size(); ++i) live |= uint64_t{!state.agents[i].is_done} << i;
  return live;
}

class Simplifier {
 public:
  Simplifier(const Machine& machine, State& state) : machine_(machine), program_(machine.program()), state_(state) {
    live_ = LiveAgents(state);
  }

  void Events() {
    Knowledge& knowledge = state_.knowledge;
    for (size_t place = 0; place < machine_.places().size(); ++place) {
      std::vector<Record>& records = state_.records.Of(static_cast<int>(place));
      if (records.empty()) continue;
      const Common& common = InCommon(machine_.UsersOfPlace(static_cast<int>(place)));
      const bool is_seen_by_engine = machine_.IsUsedByEngine(machine_.places()[place].buffer);
      std::erase_if(records, [&](const Record& record) {
        if (!Has(common.known, record.event) || !machine_.IsAwaited(state_, record)) return false;
        if (is_seen_by_engine && !record.by_engine && !Has(common.fenced, record.event)) return false;
        knowledge.Free(record.event);
        return true;
      });
    }
    std::erase_if(state_.notes, [&](const WaitNote& note) {
      if (!AllKnow(note.event, machine_.UsersOfElement(note.barrier))) return false;
      knowledge.Free(note.event);
      return true;
    });
    const auto drop = [&](int& event, uint64_t users) {
      if (event < 0 || !AllKnow(event, users)) return;
      knowledge.Free(event);
      event = -1;
    };
    for (size_t i = 0; i < state_.barriers.size(); ++i) {
      drop(state_.barriers[i].latest, machine_.UsersOfElement(static_cast<int>(i)));
      drop(state_.barriers[i].previous, machine_.UsersOfElement(static_cast<int>(i)));
    }
    for (NamedState& barrier : state_.named) drop(barrier.latest, ~uint64_t{0});
    knowledge.Sweep();
  }

  /// Slots that hold what nobody can want any more hold nothing.
  void Contents() {
    for (size_t i = 0; i < state_.contents.size(); ++i) {
      if (state_.written[i].empty() || !machine_.IsCounted(static_cast<int>(i))) continue;
      if (!IsWanted(static_cast<int>(i))) state_.written[i].clear();
    }
  }

  void Facts() {
    std::vector<Fact>& facts = state_.oracle.facts();
    const std::set<int> under_way = KeptFamilies();
    Keep(under_way);
    std::vector<int> place(facts.size(), -1);
    std::vector<Fact> kept;
    for (size_t i = 0; i < facts.size(); ++i) {
      Fact fact = facts[i];
      const Family& family = program_.families[static_cast<size_t>(fact.family)];
      if (fact.around >= 0 && place[static_cast<size_t>(fact.around)] < 0) continue;
      if (family.is_kept ? under_way.count(fact.family) == 0 : AllArePast(fact, family.members & live_)) continue;
      const uint64_t loopers = family.loopers & live_;
      if (family.step > 0 && (loopers & ~fact.left) == 0) {
        const int64_t most = family.threshold * family.step;
        if (fact.limit > most) fact.limit = Fact::kFree;
        fact.above = std::min(fact.above, most);
      }
      if (fact.around >= 0) fact.around = place[static_cast<size_t>(fact.around)];
      place[i] = static_cast<int>(kept.size());
      kept.push_back(fact);
    }
    facts = std::move(kept);
    for (AgentState& agent : state_.agents) {
      for (Frame& frame : agent.frames) frame.fact = place[static_cast<size_t>(frame.fact)];
    }
  }

 private:
  /// Of the conditions under which what is under way was begun.
  std::set<int> KeptFamilies() const {
    std::set<int> families;
    if (program_.kept_for.empty()) return families;
    for (const std::vector<Record>& there : state_.records.OfPlaces()) {
      for (const Record& record : there) {
        if (!record.is_async) continue;
        const auto known = program_.kept_for.find(record.op);
        if (known != program_.kept_for.end()) families.insert(known->second.begin(), known->second.end());
      }
    }
    return families;
  }
  /// What is about to be forgotten, and something under way was begun under it, is remembered for the launch.
  void Keep(const std::set<int>& under_way) {
    std::vector<Fact>& facts = state_.oracle.facts();
    for (size_t i = 0; i < facts.size(); ++i) {
      const Family& family = program_.families[static_cast<size_t>(facts[i].family)];
      if (family.kept < 0 || under_way.count(family.kept) == 0 || !AllArePast(facts[i], family.members & live_)) continue;
      Fact& kept = facts[static_cast<size_t>(state_.oracle.Find(program_, family.kept, -1, 0))];
      kept.above = std::max(kept.above, facts[i].above);
      kept.limit = std::min(kept.limit, facts[i].limit);
    }
  }

  bool IsWanted(int place) const {
    const Turn& held = state_.contents[static_cast<size_t>(place)];
    const std::string& name = program_.ring_of_buffer[static_cast<size_t>(machine_.places()[static_cast<size_t>(place)].buffer)];
    for (size_t i = 0; i < program_.agents.size(); ++i) {
      const Agent& agent = program_.agents[i];
      const AgentState& self = state_.agents[i];
      if ((live_ >> i & 1) == 0) continue;
      for (size_t ring = 0; ring < agent.rings.size(); ++ring) {
        if (agent.rings[ring].name == name && held.position + 1 >= self.rings[ring] && held.loops >= self.loops[ring]) return true;
      }
      for (size_t root = 0; root < self.roots.size(); ++root) {
        if (self.at <= agent.last_use[root] && self.roots[root] == place && self.turns[root] == held) return true;
      }
    }
    return false;
  }
  bool AllKnow(int event, uint64_t users) { return Has(InCommon(users).known, event); }
  static bool Has(const std::vector<uint64_t>& events, int event) {
    return (events[static_cast<size_t>(event) / 64] >> (static_cast<size_t>(event) % 64) & 1) != 0;
  }

  /// Event by event, what all warps of the live agents among `users` know.
  struct Common {
    uint64_t users;
    std::vector<uint64_t> known, fenced;
  };
  /// The same few sets of agents are asked about many events, while nobody learns any.
  const Common& InCommon(uint64_t users) {
    for (const Common& common : common_) {
      if (common.users == users) return common;
    }
    const Knowledge& knowledge = state_.knowledge;
    const auto all = [&] { return std::vector<uint64_t>(knowledge.Words(), ~uint64_t{0}); };
    Common& common = common_.emplace_back(Common{users, all(), all()});
    for (uint64_t left = users & live_; left != 0; left &= left - 1) {
      const Agent& agent = program_.agents[static_cast<size_t>(__builtin_ctzll(left))];
      for (int warp = agent.first_warp; warp < agent.first_warp + agent.warps; ++warp) {
        for (size_t i = 0; i < knowledge.Words(); ++i) {
          common.known[i] &= knowledge.Known(warp)[i];
          common.fenced[i] &= knowledge.Fenced(warp)[i];
        }
      }
    }
    return common;
  }

  /// Whether none of the members can ask about that integer any more.
  bool AllArePast(const Fact& fact, uint64_t members) const {
    for (size_t i = 0; i < state_.agents.size(); ++i) {
      if ((members >> i & 1) != 0 && !IsPast(fact, i)) return false;
    }
    return true;
  }
  /// Whether the agent is behind all that asks in that iteration of the loop around, behind the iteration, or where it does not
  /// come to that loop any more: as one that passes over the tile, and so over loops that turn no ring.
  bool IsPast(const Fact& fact, size_t agent) const {
    const AgentState& self = state_.agents[agent];
    const bool has_asked = self.at > program_.agents[agent].last_asked[static_cast<size_t>(fact.family)];
    if (fact.around < 0) return has_asked;
    const Fact& around = state_.oracle.facts()[static_cast<size_t>(fact.around)];
    if ((around.left >> agent & 1) != 0) return true;
    for (const Frame& frame : self.frames) {
      if (frame.fact != fact.around) continue;
      const int64_t ordinal = OrdinalOf(program_.agents[agent], frame);
      return ordinal > fact.ordinal || (ordinal == fact.ordinal && has_asked);
    }
    return IsPast(around, agent);
  }

  const Machine& machine_;
  const Program& program_;
  State& state_;
  uint64_t live_ = 0;
  std::vector<Common> common_{};
};

}  // namespace

void Simplify(const Machine& machine, State& state) {
  Simplifier simplifier(machine, state);
  simplifier.Events();
  simplifier.Contents();
  simplifier.Facts();
}

}  // namespace tkc::certify

// SPDX-License-Identifier: MIT
#include "compiler/certify/normal_form.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace tkc::certify {
namespace {

int64_t FloorDiv(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

int64_t OrdinalOf(const Agent& agent, const Frame& frame) {
  const Loop& loop = agent.loops[static_cast<size_t>(frame.loop)];
  return loop.first + frame.iteration * loop.stride;
}

uint64_t LiveAgents(const State& state) {
  uint64_t live = 0;
  for (size_t i = 0; i < state.agents.size(); ++i) live |= uint64_t{!state.agents[i].is_done} << i;
  return live;
}

// ---- simplify ----------------------------------------------------------------------------------------------------------

class Simplifier {
 public:
  Simplifier(const Machine& machine, State& state) : machine_(machine), program_(machine.program()), state_(state) {
    live_ = LiveAgents(state);
    for (size_t i = 0; i < program_.agents.size(); ++i) {
      if ((live_ >> i & 1) == 0) continue;
      for (int warp = 0; warp < program_.agents[i].warps; ++warp) warps_.push_back(program_.agents[i].first_warp + warp);
    }
  }

  void Events() {
    Knowledge& knowledge = state_.knowledge;
    std::erase_if(state_.records, [&](const Record& record) {
      if (!AllKnow(record.event)) return false;
      const bool needs_fence =
          record.writes && !record.is_async && machine_.IsReadByEngine(machine_.places()[static_cast<size_t>(record.place)].buffer);
      if (needs_fence && !AllKnowFenced(record.event)) return false;
      knowledge.Free(record.event);
      return true;
    });
    std::erase_if(state_.notes, [&](const WaitNote& note) {
      if (!AllKnow(note.event)) return false;
      knowledge.Free(note.event);
      return true;
    });
    const auto drop = [&](int& event) {
      if (event < 0 || !AllKnow(event)) return;
      knowledge.Free(event);
      event = -1;
    };
    for (BarrierState& barrier : state_.barriers) {
      drop(barrier.latest);
      drop(barrier.previous);
    }
    for (NamedState& barrier : state_.named) drop(barrier.latest);
  }

  void Facts() {
    std::vector<Fact>& facts = state_.oracle.facts();
    std::vector<int> place(facts.size(), -1);
    std::vector<Fact> kept;
    for (size_t i = 0; i < facts.size(); ++i) {
      Fact fact = facts[i];
      const Family& family = program_.families[static_cast<size_t>(fact.family)];
      if (fact.around >= 0 && (place[static_cast<size_t>(fact.around)] < 0 || AllArePast(fact, family.members & live_))) continue;
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
  bool AllKnow(int event) const {
    return std::all_of(warps_.begin(), warps_.end(), [&](int warp) { return state_.knowledge.Knows(warp, event); });
  }
  bool AllKnowFenced(int event) const {
    return std::all_of(warps_.begin(), warps_.end(), [&](int warp) { return state_.knowledge.KnowsFenced(warp, event); });
  }

  /// Whether none of the members can come into that iteration of the loop around any more.
  bool AllArePast(const Fact& fact, uint64_t members) const {
    for (size_t i = 0; i < state_.agents.size(); ++i) {
      if ((members >> i & 1) == 0) continue;
      bool is_past = (state_.oracle.facts()[static_cast<size_t>(fact.around)].left >> i & 1) != 0;
      for (const Frame& frame : state_.agents[i].frames) {
        if (frame.fact == fact.around) is_past = OrdinalOf(program_.agents[i], frame) > fact.ordinal;
      }
      if (!is_past) return false;
    }
    return true;
  }

  const Machine& machine_;
  const Program& program_;
  State& state_;
  uint64_t live_ = 0;
  std::vector<int> warps_;
};

// ---- normal form -------------------------------------------------------------------------------------------------------

class Normalizer {
 public:
  Normalizer(const Machine& machine, const State& state) : machine_(machine), program_(machine.program()), state_(state) {}

  std::string Run() {
    Rings();
    Facts();
    Agents();
    Records();
    Barriers();
    Holders();
    return std::move(text_);
  }

 private:
  void Put(int64_t number) {
    // Small numbers take one byte.
    if (number >= -100 && number <= 100) {
      text_ += static_cast<char>(number);
      return;
    }
    text_ += static_cast<char>(127);
    text_.append(reinterpret_cast<const char*>(&number), sizeof number);
  }

  struct Base {
    int64_t slots = 1, position = 0;
  };

  /// Where each ring stands: the position of the first agent that has it.
  void Rings() {
    for (size_t i = 0; i < program_.agents.size(); ++i) {
      const Agent& agent = program_.agents[i];
      for (size_t ring = 0; ring < agent.rings.size(); ++ring) {
        base_.try_emplace(Key(agent.block, agent.rings[ring].name), Base{agent.rings[ring].slots, state_.agents[i].rings[ring]});
      }
    }
    for (int block = 0; block < program_.blocks; ++block) {
      const auto find = [&](const std::string& ring) -> const Base* {
        const auto place = base_.find(Key(block, ring));
        return place == base_.end() ? nullptr : &place->second;
      };
      for (const std::string& ring : program_.ring_of_buffer) buffer_base_.push_back(find(ring));
      for (const std::string& ring : program_.ring_of_barrier) barrier_base_.push_back(find(ring));
    }
  }

  /// Blocks that fill each other's slots turn their rings together; others each for themselves.
  std::pair<int, std::string> Key(int block, const std::string& ring) const { return {program_.shares_slots ? 0 : block, ring}; }
  const Base* BufferBase(const Machine::Place& p) const {
    return buffer_base_[static_cast<size_t>(p.block) * program_.ring_of_buffer.size() + static_cast<size_t>(p.buffer)];
  }
  const Base* BarrierBase(const Machine::ElementOf& e) const {
    return barrier_base_[static_cast<size_t>(e.block) * program_.ring_of_barrier.size() + static_cast<size_t>(e.barrier)];
  }

  static int64_t Turn(const Base* base, int64_t index) {
    if (!base || index >= base->slots) return index;
    const int64_t from = index - base->position;
    return from - FloorDiv(from, base->slots) * base->slots;
  }

  int Place(int place) const {
    if (place < 0) return -1;
    const Machine::Place& p = machine_.places()[static_cast<size_t>(place)];
    return place + static_cast<int>(Turn(BufferBase(p), p.index) - p.index);
  }

  int Element(int element) const {
    const Machine::ElementOf& e = machine_.Element(element);
    return element + static_cast<int>(Turn(BarrierBase(e), e.element) - e.element);
  }

  /// Phases over when the ring last came past this element, or will at its base.
  int64_t Lap(int element) const {
    const Machine::ElementOf& e = machine_.Element(element);
    const Base* base = BarrierBase(e);
    if (!base || e.element >= base->slots) return 0;
    return FloorDiv(base->position + Turn(base, e.element), base->slots);
  }

  void Facts() {
    const std::vector<Fact>& facts = state_.oracle.facts();
    first_.assign(facts.size(), Fact::kFree);
    for (size_t i = 0; i < program_.agents.size(); ++i) {
      for (const Frame& frame : state_.agents[i].frames) {
        int64_t& first = first_[static_cast<size_t>(frame.fact)];
        first = std::min(first, OrdinalOf(program_.agents[i], frame));
      }
    }
    for (size_t i = 0; i < facts.size(); ++i) {
      // A loop whose length is a parameter is counted from its start.
      if (first_[i] == Fact::kFree || program_.families[static_cast<size_t>(facts[i].family)].parameter >= 0) first_[i] = 0;
    }
    // Facts stand behind the fact of the loop around them.
    std::vector<int> order(facts.size());
    number_.assign(facts.size(), -1);
    using Key = std::tuple<int, int, int64_t>;
    std::vector<std::pair<Key, int>> keys;
    int next = 0;
    std::vector<bool> done(facts.size());
    while (next < static_cast<int>(facts.size())) {
      keys.clear();
      for (size_t i = 0; i < facts.size(); ++i) {
        const Fact& f = facts[i];
        if (done[i] || (f.around >= 0 && number_[static_cast<size_t>(f.around)] < 0)) continue;
        const int64_t from = f.around < 0 ? 0 : f.ordinal - first_[static_cast<size_t>(f.around)];
        keys.push_back({{f.around < 0 ? -1 : number_[static_cast<size_t>(f.around)], f.family, from}, static_cast<int>(i)});
      }
      std::sort(keys.begin(), keys.end());
      for (const auto& [key, i] : keys) {
        const Fact& f = facts[static_cast<size_t>(i)];
        const Family& family = program_.families[static_cast<size_t>(f.family)];
        done[static_cast<size_t>(i)] = true;
        number_[static_cast<size_t>(i)] = next++;
        const int64_t by = family.step * first_[static_cast<size_t>(i)];
        Put(std::get<0>(key));
        Put(std::get<1>(key));
        Put(std::get<2>(key));
        Put(f.above <= -Fact::kFree ? -101 : f.above - by);
        Put(f.limit >= Fact::kFree ? -102 : f.limit - by);
        Put(static_cast<int64_t>(f.left));
        Put(family.parameter >= 0 ? 0 : std::min(first_[static_cast<size_t>(i)], family.threshold));
      }
    }
  }

  void Agents() {
    for (size_t i = 0; i < program_.agents.size(); ++i) {
      const Agent& agent = program_.agents[i];
      const AgentState& self = state_.agents[i];
      Put(self.is_done ? -1 : self.at);
      for (size_t ring = 0; ring < agent.rings.size(); ++ring)
        Put(self.rings[ring] - base_.at(Key(agent.block, agent.rings[ring].name)).position);
      if (self.is_done) continue;
      Put(self.has_arrived);
      for (const Frame& frame : self.frames) {
        Put(frame.loop);
        Put(number_[static_cast<size_t>(frame.fact)]);
        Put(OrdinalOf(agent, frame) - first_[static_cast<size_t>(frame.fact)]);
      }
      for (const int place : self.roots) Put(Place(place));
      const auto list = [&](const auto& values) {
        Put(static_cast<int64_t>(values.size()));
        for (const auto value : values) Put(value);
      };
      list(self.touched);
      list(self.unnamed);
      const auto group = [&](const ProductGroup& g) {
        list(g.accumulators);
        list(g.lefts);
        Put(static_cast<int64_t>(g.reads.size()));
        for (const auto& [warp, event] : g.reads) pending_.push_back(event);
      };
      Put(static_cast<int64_t>(self.groups.size()));
      for (const ProductGroup& g : self.groups) group(g);
      group(self.open);
      Put(static_cast<int64_t>(self.stores.size()));
      for (const std::vector<int>& stores : self.stores) {
        Put(static_cast<int64_t>(stores.size()));
        pending_.insert(pending_.end(), stores.begin(), stores.end());
      }
      Put(static_cast<int64_t>(self.open_stores.size()));
      pending_.insert(pending_.end(), self.open_stores.begin(), self.open_stores.end());
    }
  }

  void Number(int event) {
    if (event < 0) return;
    if (event >= static_cast<int>(event_number_.size())) event_number_.resize(static_cast<size_t>(event) + 64, -1);
    event_number_[static_cast<size_t>(event)] = static_cast<int>(events_.size());
    events_.push_back(event);
  }

  void Records() {
    using Key = std::tuple<int, int, bool, bool, int64_t, int64_t, int64_t, int64_t>;
    std::vector<std::pair<Key, int>> keys;
    for (const Record& r : state_.records) {
      keys.push_back({{Place(r.place), r.warp, r.writes, r.is_async, r.rect.r0, r.rect.r1, r.rect.c0, r.rect.c1}, r.event});
    }
    std::stable_sort(keys.begin(), keys.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    Put(static_cast<int64_t>(keys.size()));
    for (const auto& [key, event] : keys) {
      std::apply([&](auto... parts) { (Put(static_cast<int64_t>(parts)), ...); }, key);
      Number(event);
    }
    std::vector<std::tuple<int, int, int>> notes;
    for (const WaitNote& note : state_.notes) notes.emplace_back(Element(note.barrier), note.agent, note.event);
    std::stable_sort(notes.begin(), notes.end(), [](const auto& a, const auto& b) {
      return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(b), std::get<1>(b));
    });
    Put(static_cast<int64_t>(notes.size()));
    for (const auto& [element, agent, event] : notes) {
      Put(element);
      Put(agent);
      Number(event);
    }
    for (const int event : pending_)
      Put(event < static_cast<int>(event_number_.size()) ? event_number_[static_cast<size_t>(event)] : -1);
  }

  void Barriers() {
    at_.assign(state_.barriers.size(), 0);
    for (int i = 0; i < machine_.Elements(); ++i) at_[static_cast<size_t>(Element(i))] = i;
    for (const int i : at_) {
      const BarrierState& barrier = state_.barriers[static_cast<size_t>(i)];
      Put(barrier.completed - Lap(i));
      Put(barrier.pending);
      Put(barrier.expected);
      Put(barrier.issued);
      Put(barrier.latest >= 0);
      Put(barrier.previous >= 0);
      Number(barrier.latest);
      Number(barrier.previous);
    }
    for (const NamedState& barrier : state_.named) {
      Put(barrier.count);
      Put(barrier.wanted * (barrier.count > 0));
      Put(barrier.latest >= 0);
      Number(barrier.latest);
    }
    for (size_t i = 0; i < program_.agents.size(); ++i) {
      const AgentState& self = state_.agents[i];
      if (self.has_arrived) Put(self.named_phase - NamedOf(i).completed);
    }
  }

  const NamedState& NamedOf(size_t agent) const {
    const Agent& a = program_.agents[agent];
    const Step& step = a.steps[static_cast<size_t>(state_.agents[agent].at)];
    const bool is_cluster = step.op->code == ir::OpCode::kClusterSync;
    return state_.named[static_cast<size_t>(is_cluster ? program_.blocks * Machine::kNamed
                                                       : a.block * Machine::kNamed + static_cast<int>(step.element))];
  }

  void Holder(int holder) {
    unsigned byte = 0;
    int bits = 0;
    const auto bit = [&](bool value) {
      byte = byte << 1 | value;
      if (++bits % 8 == 0) text_ += static_cast<char>(byte), byte = 0;
    };
    for (const int event : events_) {
      bit(state_.knowledge.Knows(holder, event));
      bit(state_.knowledge.KnowsFenced(holder, event));
    }
    if (bits % 8 != 0) text_ += static_cast<char>(byte);
  }

  void Holders() {
    if (events_.empty()) return;
    for (size_t i = 0; i < program_.agents.size(); ++i) {
      if (state_.agents[i].is_done) continue;
      for (int warp = 0; warp < program_.agents[i].warps; ++warp) Holder(program_.agents[i].first_warp + warp);
    }
    for (const int i : at_) {
      Holder(machine_.Arriving(i));
      Holder(machine_.Completed(i));
    }
    for (size_t i = 0; i < state_.named.size(); ++i) {
      if (state_.named[i].completed == 0 && state_.named[i].count == 0) continue;
      Put(static_cast<int64_t>(i));
      Holder(machine_.NamedArriving(static_cast<int>(i)));
      Holder(machine_.NamedCompleted(static_cast<int>(i)));
    }
  }

  const Machine& machine_;
  const Program& program_;
  const State& state_;
  std::string text_;
  std::map<std::pair<int, std::string>, Base> base_;
  std::vector<const Base*> buffer_base_, barrier_base_;
  std::vector<int64_t> first_;  // of each fact: the least ordinal that an agent stands in
  std::vector<int> number_;     // of each fact, in the normal form
  std::vector<int> pending_;    // events of products and stores in flight
  std::vector<int> events_, event_number_;
  std::vector<int> at_;  // elements of barriers in the order of the normal form
};

}  // namespace

void Simplify(const Machine& machine, State& state) {
  Simplifier simplifier(machine, state);
  simplifier.Events();
  simplifier.Facts();
}

std::string NormalForm(const Machine& machine, const State& state) { return Normalizer(machine, state).Run(); }

}  // namespace tkc::certify

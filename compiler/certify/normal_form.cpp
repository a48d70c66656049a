// SPDX-License-Identifier: MIT
#include "compiler/certify/normal_form.h"

#include <algorithm>
#include <tuple>

#include "compiler/certify/ring_frame.h"

namespace tkc::certify {
namespace {

template <typename T>
uint64_t Bits(T value, int shift) {
  return static_cast<uint64_t>(value) << shift;
}

class Normalizer {
 public:
  Normalizer(const Machine& machine, const State& state)
      : machine_(machine), program_(machine.program()), state_(state), rings_(machine, state) {}

  NormalForm Run() {
    constexpr size_t kUsual = 256;  // bytes
    text_.reserve(kUsual);
    Facts();
    Barriers();
    NormalForm form;
    Places(form);
    Events(form);
    Agents();
    Written(form);
    Contents(form);
    form.place = std::move(text_);
    ListHolders(form);
    form.words = (2 * form.holders.size() + 63) / 64;
    form.known.resize(form.words * events_.size());
    form.events.reserve(events_.size());
    form.numbers.reserve(events_.size());
    form.origins.reserve(events_.size());
    for (const Entry& entry : events_) {
      form.events.push_back(entry.key);
      form.numbers.push_back(entry.event);
      form.origins.emplace_back(entry.agent, entry.op);
    }
    Rows(form);
    form.elements = std::move(at_);
    return form;
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

  void Facts() {
    const std::vector<Fact>& facts = state_.oracle.facts();
    first_.assign(facts.size(), Fact::kFree);
    for (size_t i = 0; i < program_.agents.size(); ++i) {
      for (const Frame& frame : state_.agents[i].frames) {
        int64_t& first = first_[static_cast<size_t>(frame.fact)];
        // Whose turn a tile is stays as it is.
        const bool is_tiles = program_.agents[i].loops[static_cast<size_t>(frame.loop)].is_tiles;
        const int64_t ordinal = OrdinalOf(program_.agents[i], frame);
        first = std::min(first, is_tiles ? ordinal - ordinal % program_.turns : ordinal);
      }
    }
    std::replace(first_.begin(), first_.end(), Fact::kFree, int64_t{0});
    // Facts stand behind the fact of the loop around them.
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
        Put(f.above <= -Fact::kFree ? -Fact::kFree : f.above - by);
        Put(f.limit >= Fact::kFree ? Fact::kFree : f.limit - by);
        Put(static_cast<int64_t>(f.left));
        Put(std::min(first_[static_cast<size_t>(i)], family.threshold));
      }
    }
  }

  void Agents() {
    size_t base = 0;
    for (size_t i = 0; i < program_.agents.size(); ++i) {
      const Agent& agent = program_.agents[i];
      const AgentState& self = state_.agents[i];
      Put(self.is_done ? -1 : self.at);
      const size_t own = base;
      for (size_t ring = 0; ring < agent.rings.size(); ++ring, ++base) {
        Put(self.rings[ring] - rings_.Of(base).position);
        Put(self.loops[ring] - rings_.Of(base).loops);
      }
      if (self.is_done) continue;
      Put(self.has_arrived);
      Frames(agent, self);
      Roots(agent, self, own);
      List(self.touched);
      List(self.loose);
      List(self.unset);
      List(self.unnamed);
      Products(self);
      Stores(self);
      Copies(self);
      Put(static_cast<int64_t>(self.together));
    }
  }

  template <typename Values>
  void List(const Values& values) {
    Put(static_cast<int64_t>(values.size()));
    for (const auto value : values) Put(value);
  }

  void Frames(const Agent& agent, const AgentState& self) {
    for (const Frame& frame : self.frames) {
      Put(frame.loop);
      Put(number_[static_cast<size_t>(frame.fact)]);
      Put(OrdinalOf(agent, frame) - first_[static_cast<size_t>(frame.fact)]);
    }
  }

  /// Views that are used further on. `own`: the first of the agent's rings.
  void Roots(const Agent& agent, const AgentState& self, size_t own) {
    for (size_t root = 0; root < self.roots.size(); ++root) {
      if (self.roots[root] < 0 || self.at > agent.last_use[root]) continue;
      Put(static_cast<int64_t>(root));
      Put(rings_.Place(self.roots[root]));
      if (!machine_.IsCounted(self.roots[root])) continue;
      const RingFrame::Base& ring = rings_.Of(own + static_cast<size_t>(agent.ring_of_root[root]));
      Put(self.turns[root].position - ring.position);
      Put(self.turns[root].loops - ring.loops);
    }
    Put(-1);
  }

  void Products(const AgentState& self) {
    const auto group = [&](const ProductGroup& g) {
      List(g.accumulators);
      List(g.lefts);
      OfWarps(g.reads);
    };
    Put(static_cast<int64_t>(self.groups.size()));
    for (const ProductGroup& g : self.groups) group(g);
    group(self.open);
  }

  void Stores(const AgentState& self) {
    Put(static_cast<int64_t>(self.stores.size()));
    for (const std::vector<int>& stores : self.stores) EventsOf(stores);
    EventsOf(self.open_stores);
  }

  void Copies(const AgentState& self) {
    const auto group = [&](const CopyGroup& g) {
      Put(g.instructions);
      OfWarps(g.writes);
    };
    Put(static_cast<int64_t>(self.copies.size()));
    for (const CopyGroup& g : self.copies) group(g);
    group(self.open_copies);
  }

  void EventsOf(const std::vector<int>& events) {
    Put(static_cast<int64_t>(events.size()));
    for (const int event : events) PutEvent(event);
  }

  template <typename Events>
  void OfWarps(const Events& events) {
    Put(static_cast<int64_t>(events.size()));
    for (const auto& [warp, event] : events) PutEvent(event);
  }

  /// An event that is under way, by what it is.
  void PutEvent(int event) {
    const size_t entry = entry_of_[static_cast<size_t>(event)];
    if (entry == kNone) return Put(-1);
    const NormalForm::Key& key = events_[entry].key;
    Put(static_cast<int64_t>(key.what));
    Put(static_cast<int64_t>(key.corners));
    Put(key.copy);
  }

  struct Entry {
    NormalForm::Key key;
    int event, agent;
    const ir::Op* op;
  };
  void AddEvent(int event, NormalForm::Sort sort, int place, int who = 0, int agent = 0, const ir::Op* op = nullptr) {
    if (event >= 0) events_.push_back({{.what = Bits(sort, 60) | Bits(place, 36) | Bits(who, 24)}, event, agent, op});
  }
  void AddRecord(const Record& r, int place) {
    AddEvent(r.event, NormalForm::Sort::kRecord, place, r.warp, r.agent, r.op);
    NormalForm::Key& key = events_.back().key;
    key.what |= Bits(r.by_engine, 23) | Bits(r.writes, 17) | Bits(r.is_async, 16) | Bits(r.dealt, 0);
    key.corners = Bits(r.rect.r0, 48) | Bits(r.rect.r1, 32) | Bits(r.rect.c0, 16) | Bits(r.rect.c1, 0);
  }

  /// Nearly in order already: so many are put in order fastest as they come.
  void Events(const NormalForm& form) {
    events_.reserve(state_.knowledge.Words() * 64);
    for (size_t place = 0; place < form.places.size(); ++place) {
      for (const Record& r : state_.records.Of(form.places[place])) AddRecord(r, static_cast<int>(place));
    }
    const auto first_note = static_cast<std::ptrdiff_t>(events_.size());
    for (const WaitNote& note : state_.notes)
      AddEvent(note.event, NormalForm::Sort::kNote, rings_.Element(note.barrier), note.warp, note.agent, note.op);
    // Notes come in no order. Of events that are alike, `copy` tells below which one it is.
    const auto is_before = [](const Entry& a, const Entry& b) {
      return a.key.what != b.key.what ? a.key.what < b.key.what : a.key.corners < b.key.corners;
    };
    std::sort(events_.begin() + first_note, events_.end(), is_before);
    for (size_t i = 0; i < at_.size(); ++i) {
      const BarrierState& barrier = state_.barriers[static_cast<size_t>(at_[i])];
      AddEvent(barrier.latest, NormalForm::Sort::kLatest, static_cast<int>(i));
    }
    for (size_t i = 0; i < at_.size(); ++i) {
      AddEvent(state_.barriers[static_cast<size_t>(at_[i])].previous, NormalForm::Sort::kPrevious, static_cast<int>(i));
    }
    for (size_t i = 0; i < state_.named.size(); ++i)
      AddEvent(state_.named[i].latest, NormalForm::Sort::kNamed, static_cast<int>(i));
    for (size_t i = 1; i < events_.size(); ++i) {
      for (size_t j = i; j > 0 && is_before(events_[j], events_[j - 1]); --j) std::swap(events_[j], events_[j - 1]);
    }
    for (size_t i = 1; i < events_.size(); ++i) {
      const NormalForm::Key& before = events_[i - 1].key;
      NormalForm::Key& key = events_[i].key;
      if (key.what == before.what && key.corners == before.corners) key.copy = before.copy + 1;
    }
    entry_of_.assign(state_.knowledge.Words() * 64, kNone);
    for (size_t i = 0; i < events_.size(); ++i) entry_of_[static_cast<size_t>(events_[i].event)] = i;
  }

  void Barriers() {
    at_.assign(state_.barriers.size(), 0);
    for (int i = 0; i < machine_.Elements(); ++i) at_[static_cast<size_t>(rings_.Element(i))] = i;
    for (const int i : at_) {
      if (machine_.UsersOfElement(i) == 0) continue;  // it does not keep up with its ring
      const BarrierState& barrier = state_.barriers[static_cast<size_t>(i)];
      Put(barrier.completed - rings_.Lap(i));
      Put(barrier.pending);
      Put(barrier.expected);
      Put(barrier.issued);
    }
    for (const NamedState& barrier : state_.named) {
      Put(barrier.count);
      Put(barrier.wanted * (barrier.count > 0));
      Put(static_cast<int64_t>(barrier.came));
    }
    for (size_t i = 0; i < program_.agents.size(); ++i) {
      const AgentState& self = state_.agents[i];
      if (self.has_arrived) Put(self.named_phase - NamedOf(i).completed);
    }
  }

  const NamedState& NamedOf(size_t agent) const {
    const Agent& a = program_.agents[agent];
    const Step& step = a.steps[static_cast<size_t>(state_.agents[agent].at)];
    return state_.named[static_cast<size_t>(machine_.NumberOfNamed(a, step))];
  }

  void Places(NormalForm& form) const {
    form.places.resize(state_.written.size());
    for (size_t i = 0; i < state_.written.size(); ++i)
      form.places[static_cast<size_t>(rings_.Place(static_cast<int>(i)))] = static_cast<int>(i);
  }

  void Written(NormalForm& form) {
    form.written.resize(state_.written.size());
    for (size_t i = 0; i < state_.written.size(); ++i) {
      const std::vector<Rect>& written = state_.written[i];
      if (written.empty()) continue;
      const ir::Buffer& buffer = program_.kernel->buffers[static_cast<size_t>(machine_.places()[i].buffer)];
      const bool is_whole = written.size() == 1 && written[0].Covers({0, buffer.rows, 0, buffer.cols});
      const int place = rings_.Place(static_cast<int>(i));
      form.written[static_cast<size_t>(place)] = is_whole ? 2 : 1;
      if (is_whole) continue;
      Put(place);
      for (const Rect& r : written) Put(r.r0), Put(r.r1), Put(r.c0), Put(r.c1);
    }
  }

  /// Which turns the slots hold that no barrier counts, and what the agents of a block still have to execute together.
  void Contents(const NormalForm& form) {
    for (const int place : form.places) {
      if (!machine_.IsCounted(place)) continue;
      const auto i = static_cast<size_t>(place);
      Put(!state_.written[i].empty());
      if (state_.written[i].empty()) continue;
      const RingFrame::Base* ring = rings_.OfPlace(place);
      Put(state_.contents[i].position - ring->position);
      Put(state_.contents[i].loops - ring->loops);
    }
    for (const std::vector<Joint>& joint : state_.joint) {
      Put(static_cast<int64_t>(joint.size()));
      for (const Joint& each : joint) {
        Put(reinterpret_cast<int64_t>(each.op));
        Put(rings_.Place(each.place));
      }
    }
  }

  void ListHolders(NormalForm& form) const {
    form.holders.reserve(static_cast<size_t>(machine_.Holders()));
    for (const Agent& agent : program_.agents) {
      // Also of who has ended: what nobody knows to be over when all have is under way behind the kernel's end.
      for (int warp = 0; warp < agent.warps; ++warp) form.holders.push_back(agent.first_warp + warp);
    }
    for (const int i : at_) {
      form.holders.push_back(machine_.Arriving(i));
      form.holders.push_back(machine_.Completed(i));
    }
    for (int i = 0; i < static_cast<int>(state_.named.size()); ++i) {
      form.holders.push_back(machine_.NamedArriving(i));
      form.holders.push_back(machine_.NamedCompleted(i));
    }
  }

  /// Who knows what, event by event, from what each holder knows.
  void Rows(NormalForm& form) const {
    const Knowledge& knowledge = state_.knowledge;
    const auto put = [&](const uint64_t* known, size_t words, size_t bit) {
      for (size_t word = 0; word < words; ++word) {
        for (uint64_t left = known[word]; left != 0; left &= left - 1) {
          const size_t row = entry_of_[word * 64 + static_cast<size_t>(__builtin_ctzll(left))];
          if (row != kNone) form.known[row * form.words + bit / 64] |= uint64_t{1} << (bit % 64);
        }
      }
    };
    for (size_t i = 0; i < form.holders.size(); ++i) {
      put(knowledge.Known(form.holders[i]), knowledge.Words(), 2 * i);
      put(knowledge.Fenced(form.holders[i]), knowledge.Words(), 2 * i + 1);
    }
  }

  const Machine& machine_;
  const Program& program_;
  const State& state_;
  std::string text_;
  RingFrame rings_;
  std::vector<int64_t> first_;  // of each fact: the least ordinal that an agent stands in
  std::vector<int> number_;     // of each fact, in the normal form
  std::vector<Entry> events_;
  static constexpr size_t kNone = ~size_t{0};
  std::vector<size_t> entry_of_;  // of each event: where it stands in events_
  std::vector<int> at_;           // elements of barriers in the order of the normal form
};

}  // namespace

NormalForm NormalFormOf(const Machine& machine, const State& state) { return Normalizer(machine, state).Run(); }

}  // namespace tkc::certify

// SPDX-License-Identifier: MIT
// Two states of one place: whether one fails whenever the other does, and one that fails whenever either does.
#include "compiler/certify/normal_form.h"

namespace tkc::certify {
namespace {

int Field(uint64_t key, int shift, int bits) { return static_cast<int>(key >> shift & ((uint64_t{1} << bits) - 1)); }

}  // namespace

bool NormalForm::Covers(const NormalForm& other) const {
  for (size_t i = 0; i < written.size(); ++i) {
    if (written[i] > other.written[i]) return false;
  }
  if (other.events.size() > events.size()) return false;
  size_t mine = 0;
  for (size_t i = 0; i < other.events.size(); ++i) {
    while (mine < events.size() && events[mine] < other.events[i]) ++mine;
    if (mine == events.size() || events[mine] != other.events[i]) return false;
    const uint64_t* const row = known.data() + mine * words;
    const uint64_t* const seen = other.known.data() + i * words;
    for (size_t word = 0; word < words; ++word) {
      if ((row[word] & ~seen[word]) != 0) return false;
    }
  }
  return true;
}

void NormalForm::Merge(const NormalForm& other, State& state) {
  for (size_t i = 0; i < written.size(); ++i) {
    if (written[i] <= other.written[i]) continue;
    written[i] = other.written[i];
    state.written[static_cast<size_t>(places[i])].clear();  // of one place: what is written in part is written alike
  }
  Add(other, state);
  size_t mine = 0;
  for (size_t theirs = 0; theirs < other.events.size(); ++theirs, ++mine) {
    while (events[mine] != other.events[theirs]) ++mine;
    uint64_t* const row = known.data() + mine * words;
    const uint64_t* const seen = other.known.data() + theirs * words;
    for (size_t word = 0; word < words; ++word) {
      for (uint64_t lost = row[word] & ~seen[word]; lost != 0; lost &= lost - 1) {
        const size_t bit = word * 64 + static_cast<size_t>(__builtin_ctzll(lost));
        state.knowledge.Unlearn(holders[bit / 2], numbers[mine], bit % 2 != 0);
      }
      row[word] &= seen[word];
    }
  }
}

/// The events of `other` that there are none of here.
void NormalForm::Add(const NormalForm& other, State& state) {
  std::vector<std::pair<size_t, size_t>> missing;  // which, and before which of these
  size_t mine = 0;
  for (size_t theirs = 0; theirs < other.events.size(); ++theirs) {
    while (mine < events.size() && events[mine] < other.events[theirs]) ++mine;
    if (mine == events.size() || events[mine] != other.events[theirs]) missing.emplace_back(theirs, mine);
  }
  if (missing.empty()) return;
  NormalForm both;
  const size_t all = events.size() + missing.size();
  both.events.reserve(all);
  both.numbers.reserve(all);
  both.origins.reserve(all);
  both.known.reserve(all * words);
  const auto take = [&](const NormalForm& from, size_t begin, size_t end) {
    const auto append = [](auto& to, const auto& list, size_t first, size_t last) {
      to.insert(to.end(), list.begin() + static_cast<std::ptrdiff_t>(first), list.begin() + static_cast<std::ptrdiff_t>(last));
    };
    append(both.events, from.events, begin, end);
    append(both.numbers, from.numbers, begin, end);
    append(both.origins, from.origins, begin, end);
    append(both.known, from.known, begin * words, end * words);
  };
  size_t taken = 0;
  for (const auto& [theirs, before] : missing) {
    take(*this, taken, before);
    taken = before;
    take(other, theirs, theirs + 1);
    both.numbers.back() = state.knowledge.NewEvent();
    Put(other, theirs, both.numbers.back(), state);
  }
  take(*this, taken, events.size());
  events = std::move(both.events);
  numbers = std::move(both.numbers);
  origins = std::move(both.origins);
  known = std::move(both.known);
}

/// The event of another state of the same place, with what is known of it there.
void NormalForm::Put(const NormalForm& other, size_t event, int number, State& state) const {
  const auto [what, corners, copy] = other.events[event];
  const auto [agent, op] = other.origins[event];
  const size_t at = static_cast<size_t>(Field(what, 36, 24));
  switch (static_cast<Sort>(what >> 60)) {
    case Sort::kRecord: {
      const Rect rect{Field(corners, 48, 16), Field(corners, 32, 16), Field(corners, 16, 16), Field(corners, 0, 16)};
      const bool writes = Field(what, 17, 1) != 0, is_async = Field(what, 16, 1) != 0;
      const bool by_engine = Field(what, 23, 1) != 0;
      const int dealt = Field(what, 0, 16);
      state.records.Add({places[at], Field(what, 24, 12), agent, writes, is_async, by_engine, dealt, rect, number, op});
      break;
    }
    case Sort::kNote: state.notes.push_back({elements[at], number, Field(what, 24, 12), agent, op}); break;
    case Sort::kLatest: state.barriers[static_cast<size_t>(elements[at])].latest = number; break;
    case Sort::kPrevious: state.barriers[static_cast<size_t>(elements[at])].previous = number; break;
    case Sort::kNamed: state.named[at].latest = number; break;
  }
  for (size_t word = 0; word < words; ++word) {
    for (uint64_t left = other.known[event * words + word]; left != 0; left &= left - 1) {
      const size_t bit = word * 64 + static_cast<size_t>(__builtin_ctzll(left));
      if (bit % 2 == 0)
        state.knowledge.Learn(holders[bit / 2], number);
      else
        state.knowledge.LearnFenced(holders[bit / 2], number);
    }
  }
}

}  // namespace tkc::certify

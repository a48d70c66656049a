// SPDX-License-Identifier: MIT
// Happens-before, as sets instead of clocks. An event is a read, a write, a wait or the completion of a phase that somebody may
// still have to be ordered behind. A holder is a modelled warp, or a message under way: the arrivals collected by a barrier's
// phase, the phase completed last. A holder knows an event when the event is complete before whatever the holder does next, in
// every interleaving. Of ordinary accesses it also keeps which lie behind a fence to the asynchronous proxy.
//
// Events are numbers that are used again: sets stay small, and two states that differ only in how long they ran are equal.
#pragma once

#include <cstdint>
#include <vector>

namespace tkc::certify {

class Knowledge {
 public:
  explicit Knowledge(int holders = 0) : holders_(holders) { Grow(); }

  int NewEvent() {
    if (const int event = Unused(); event >= 0) return event;
    Sweep();
    if (const int event = Unused(); event >= 0) return event;
    Grow();
    return Unused();
  }

  /// Nobody needs to be ordered behind it any more, nor asks who knows it.
  void Free(int event) { freed_[Word(event)] |= Bit(event); }
  /// All holders forget what has been freed, at once: only then are its numbers used again.
  void Sweep() {
    for (size_t word = 0; word < words_; ++word) {
      const uint64_t kept = ~freed_[word];
      if (kept == ~uint64_t{0}) continue;
      for (size_t at = word; at < known_.size(); at += words_) {
        known_[at] &= kept;
        fenced_[at] &= kept;
      }
      used_[word] &= kept;
      freed_[word] = 0;
    }
  }

  void Learn(int holder, int event) { known_[At(holder) + Word(event)] |= Bit(event); }
  void Unlearn(int holder, int event, bool is_fence) { (is_fence ? fenced_ : known_)[At(holder) + Word(event)] &= ~Bit(event); }
  void LearnFenced(int holder, int event) { fenced_[At(holder) + Word(event)] |= Bit(event); }
  bool Knows(int holder, int event) const { return (known_[At(holder) + Word(event)] & Bit(event)) != 0; }
  bool KnowsFenced(int holder, int event) const { return (fenced_[At(holder) + Word(event)] & Bit(event)) != 0; }

  /// What the holder knows, event by event: so many words.
  const uint64_t* Known(int holder) const { return known_.data() + At(holder); }
  const uint64_t* Fenced(int holder) const { return fenced_.data() + At(holder); }
  size_t Words() const { return words_; }

  /// `to` learns all that `from` knows.
  void Join(int to, int from) {
    for (size_t i = 0; i < words_; ++i) {
      known_[At(to) + i] |= known_[At(from) + i];
      fenced_[At(to) + i] |= fenced_[At(from) + i];
    }
  }
  void Forget(int holder) {
    for (size_t i = 0; i < words_; ++i) known_[At(holder) + i] = fenced_[At(holder) + i] = 0;
  }

 private:
  size_t At(int holder) const { return static_cast<size_t>(holder) * words_; }
  static size_t Word(int event) { return static_cast<size_t>(event) / 64; }
  static uint64_t Bit(int event) { return uint64_t{1} << (static_cast<unsigned>(event) % 64); }

  /// A number that is used from now on; -1 where all are.
  int Unused() {
    for (size_t word = 0; word < words_; ++word) {
      if (used_[word] == ~uint64_t{0}) continue;
      const int bit = __builtin_ctzll(~used_[word]);
      used_[word] |= uint64_t{1} << bit;
      return static_cast<int>(word) * 64 + bit;
    }
    return -1;
  }

  void Grow() {
    const size_t words = words_ + 2;
    std::vector<uint64_t> known(static_cast<size_t>(holders_) * words), fenced(known.size());
    for (size_t holder = 0; holder < static_cast<size_t>(holders_); ++holder) {
      for (size_t i = 0; i < words_; ++i) {
        known[holder * words + i] = known_[holder * words_ + i];
        fenced[holder * words + i] = fenced_[holder * words_ + i];
      }
    }
    known_ = std::move(known);
    fenced_ = std::move(fenced);
    used_.resize(words);
    freed_.resize(words);
    words_ = words;
  }

  int holders_ = 0;
  size_t words_ = 0;
  std::vector<uint64_t> known_, fenced_, used_, freed_;
};

}  // namespace tkc::certify

// SPDX-License-Identifier: MIT
// When one state of the machine has nothing to show that another has not: slots counted from where the rings stand, iterations
// from the agent that is furthest behind, phases from the lap that the ring is in, and nothing kept that everybody concerned knows.
//
// What a state does next depends on its `place` alone; knowledge only decides whether that is right. So of two states in one place
// the one that knows less, and has more to be ordered behind, fails whenever the other does: the other need not be followed.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/certify/machine.h"

namespace tkc::certify {

struct NormalForm {
  /// By what an event of one state is found in another.
  struct Key {
    uint64_t what = 0;     // 4 bits what it is, 24 which tile, element or named barrier, 12 whose, 8 how, 16 what tensor
    uint64_t corners = 0;  // the rectangle, 16 bits for each number
    int copy = 0;          // which of those that are alike else
    auto operator<=>(const Key&) const = default;
  };
  enum class Sort : uint8_t { kRecord, kNote, kLatest, kPrevious, kNamed };
  std::string place;
  std::vector<Key> events{};      // sorted: what somebody may have to be ordered behind
  std::vector<uint64_t> known{};  // of each event, who knows it: `words` words
  size_t words = 0;
  std::vector<uint8_t> written{};  // of each place: 0 nothing, 1 some of it, 2 all
  // Where it came from: of each event its number in the state, who did it and where; of two bits each who knows; of each tile and
  // element of a barrier which it is.
  std::vector<int> numbers{};
  std::vector<std::pair<int, const ir::Op*>> origins{};
  std::vector<int> holders{}, places{}, elements{};

  /// Whether this state, of the same place, fails whenever `other` does.
  bool Covers(const NormalForm& other) const;

  /// Makes this form, and the state that it is of, cover `other`, of the same place, too: what that one does not know is taken
  /// away, and what it has to be ordered behind is added.
  void Merge(const NormalForm& other, State& state);

 private:
  void Add(const NormalForm& other, State& state);
  void Put(const NormalForm& other, size_t event, int number, State& state) const;
};

/// Forgets what can have no consequence any more: events that all agents concerned know, integers of iterations that all have left.
void Simplify(const Machine& machine, State& state);

/// Simplify first.
NormalForm NormalFormOf(const Machine& machine, const State& state);

}  // namespace tkc::certify

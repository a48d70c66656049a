// SPDX-License-Identifier: MIT
// When one state of the machine has nothing to show that another has not: slots counted from where the rings stand, iterations
// from the agent that is furthest behind, phases from the lap that the ring is in, and nothing kept that everybody concerned knows.
//
// What a state does next depends on its `place` alone; knowledge only decides whether that is right. So of two states in one place
// the one that knows less, and has more to be ordered behind, fails whenever the other does: the other need not be followed.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/certify/machine.h"

namespace tkc::certify {

struct NormalForm {
  using Key = std::pair<uint64_t, uint64_t>;
  std::string place;
  std::vector<Key> events{};      // sorted: what somebody may have to be ordered behind
  std::vector<uint64_t> known{};  // of each event, who knows it: `words` words
  size_t words = 0;
  std::vector<uint8_t> written{};  // of each place: 0 nothing, 1 some of it, 2 all
  // Where it came from: the numbers of the events in the state, of each two bits who knows, of each tile which it is.
  std::vector<int> numbers{}, holders{}, places{};

  /// Whether this state, of the same place, fails whenever `other` does.
  bool Covers(const NormalForm& other) const;

  /// Takes away, here and in the state that this is the form of, what `other`, of the same place, does not know.
  void Weaken(const NormalForm& other, State& state);
};

/// Forgets what can have no consequence any more: events that all agents concerned know, integers of iterations that all have left.
void Simplify(const Machine& machine, State& state);

/// Simplify first.
NormalForm NormalFormOf(const Machine& machine, const State& state);

}  // namespace tkc::certify

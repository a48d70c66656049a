// SPDX-License-Identifier: MIT
// Where the rings of a state stand. Slots, the barriers of slots and their phases are counted from there, so that states that
// differ in nothing but how far the rings have turned are alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/certify/machine.h"

namespace tkc::certify {

class RingFrame {
 public:
  RingFrame(const Machine& machine, const State& state);
  RingFrame(const RingFrame&) = delete;
  RingFrame& operator=(const RingFrame&) = delete;

  /// A ring, and where the first agent stands that has it.
  struct Base {
    int block = 0;
    const std::string* name = nullptr;
    int64_t slots = 1, position = 0, loops = 0;
  };
  /// `number`: of a ring of an agent, counted through the rings of all agents.
  const Base& Of(size_t number) const { return bases_[of_agents_[number]]; }
  /// Null: no ring turns there.
  const Base* OfPlace(int place) const;

  /// A tile of shared memory, and an element of a barrier, by its distance from where its ring stands.
  int Place(int place) const;
  int Element(int element) const;
  /// Phases over when the ring last came past this element, or will at its base.
  int64_t Lap(int element) const;

 private:
  /// Blocks that fill each other's slots turn their rings together; others each for themselves.
  int Side(int block) const { return program_.shares_slots ? 0 : block; }
  size_t Find(int block, const std::string& ring) const;
  const Base* OfElement(const Machine::ElementOf& element) const;

  const Machine& machine_;
  const Program& program_;
  std::vector<Base> bases_;
  std::vector<size_t> of_agents_;
  std::vector<const Base*> of_buffers_, of_barriers_;
};

}  // namespace tkc::certify

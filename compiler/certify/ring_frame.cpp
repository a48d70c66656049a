// SPDX-License-Identifier: MIT
#include "compiler/certify/ring_frame.h"

#include "compiler/support/floor_div.h"

namespace tkc::certify {
namespace {

int64_t FromBase(const RingFrame::Base* base, int64_t index) {
  if (!base || index >= base->slots) return index;
  const int64_t from = index - base->position;
  return from - FloorDiv(from, base->slots) * base->slots;
}

}  // namespace

RingFrame::RingFrame(const Machine& machine, const State& state) : machine_(machine), program_(machine.program()) {
  for (size_t i = 0; i < program_.agents.size(); ++i) {
    const Agent& agent = program_.agents[i];
    for (size_t ring = 0; ring < agent.rings.size(); ++ring) {
      const std::string& name = agent.rings[ring].name;
      const size_t base = Find(agent.block, name);
      if (base == bases_.size())
        bases_.push_back(
            {Side(agent.block), &name, agent.rings[ring].slots, state.agents[i].rings[ring], state.agents[i].loops[ring]});
      of_agents_.push_back(base);
    }
  }
  for (int block = 0; block < program_.blocks; ++block) {
    const auto find = [&](const std::string& ring) -> const Base* {
      const size_t base = ring.empty() ? bases_.size() : Find(block, ring);
      return base == bases_.size() ? nullptr : &bases_[base];
    };
    for (const std::string& ring : program_.ring_of_buffer) of_buffers_.push_back(find(ring));
    for (const std::string& ring : program_.ring_of_barrier) of_barriers_.push_back(find(ring));
  }
}

size_t RingFrame::Find(int block, const std::string& ring) const {
  size_t base = 0;
  while (base < bases_.size() && (bases_[base].block != Side(block) || *bases_[base].name != ring)) ++base;
  return base;
}

const RingFrame::Base* RingFrame::OfPlace(int place) const {
  const Machine::Place& p = machine_.places()[static_cast<size_t>(place)];
  return of_buffers_[static_cast<size_t>(p.block) * program_.ring_of_buffer.size() + static_cast<size_t>(p.buffer)];
}

const RingFrame::Base* RingFrame::OfElement(const Machine::ElementOf& element) const {
  const size_t first = static_cast<size_t>(element.block) * program_.ring_of_barrier.size();
  return of_barriers_[first + static_cast<size_t>(element.barrier)];
}

int RingFrame::Place(int place) const {
  if (place < 0) return -1;
  const int64_t index = machine_.places()[static_cast<size_t>(place)].index;
  return place + static_cast<int>(FromBase(OfPlace(place), index) - index);
}

int RingFrame::Element(int element) const {
  const Machine::ElementOf& e = machine_.Element(element);
  return element + static_cast<int>(FromBase(OfElement(e), e.element) - e.element);
}

int64_t RingFrame::Lap(int element) const {
  const Machine::ElementOf& e = machine_.Element(element);
  const Base* base = OfElement(e);
  if (!base || e.element >= base->slots) return 0;
  return FloorDiv(base->position + FromBase(base, e.element), base->slots);
}

}  // namespace tkc::certify

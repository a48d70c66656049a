// SPDX-License-Identifier: MIT
// Stands for all that the replay does not know: how long loops run and which way conditions go. It answers whether an integer is
// above a number, remembers what that says about the integer, and is never asked twice to choose. An integer belongs to one
// iteration of the loops around it: when all agents have left that iteration it is forgotten, and the next one is free again.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "compiler/certify/program.h"

namespace tkc::certify {

/// kNever: true of what is known of the integer under one of its names, false under the other.
enum class Truth : uint8_t { kFalse, kTrue, kUnknown, kNever };

/// What is known of one integer: above < value <= limit.
struct Fact {
  static constexpr int64_t kFree = std::numeric_limits<int64_t>::max() / 4;
  int family = -1;
  int around = -1;      // the fact of the loop around, or -1
  int64_t ordinal = 0;  // and its iteration
  int64_t above = -kFree, limit = kFree;
  uint64_t left = 0;  // agents that are through with the loop
};

class Oracle {
 public:
  /// The fact about the family in this iteration of the loop around; made if there is none.
  int Find(const Program& program, int family, int around, int64_t ordinal);
  Truth IsAbove(int fact, int64_t number) const {
    const Fact& f = facts_[static_cast<size_t>(fact)];
    return number <= f.above ? Truth::kTrue : number >= f.limit ? Truth::kFalse : Truth::kUnknown;
  }
  /// What is known of an integer of the launch, without making a fact of it.
  Truth Known(int family, int64_t number) const {
    for (size_t i = 0; i < facts_.size(); ++i) {
      if (facts_[i].family == family) return IsAbove(static_cast<int>(i), number);
    }
    return Truth::kUnknown;
  }
  void Decide(int fact, int64_t number, bool is_above) {
    Fact& f = facts_[static_cast<size_t>(fact)];
    (is_above ? f.above : f.limit) = number;
  }
  void Leave(int fact, int agent) { facts_[static_cast<size_t>(fact)].left |= uint64_t{1} << agent; }

  std::vector<Fact>& facts() { return facts_; }
  const std::vector<Fact>& facts() const { return facts_; }

 private:
  std::vector<Fact> facts_;
};

inline int Oracle::Find(const Program& program, int family, int around, int64_t ordinal) {
  for (size_t i = 0; i < facts_.size(); ++i) {
    const Fact& f = facts_[i];
    if (f.family == family && f.around == around && (around < 0 || f.ordinal == ordinal)) return static_cast<int>(i);
  }
  const Family& of = program.families[static_cast<size_t>(family)];
  facts_.push_back({family, around, around < 0 ? 0 : ordinal, of.above.value_or(-Fact::kFree), of.limit.value_or(Fact::kFree)});
  return static_cast<int>(facts_.size()) - 1;
}

}  // namespace tkc::certify

// SPDX-License-Identifier: MIT
// Sets of integers, as runs of neighbours: where a comparison with a number holds, or several do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace tkc::symbolic {

class IntegerSet {
 public:
  static constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(), kMost = std::numeric_limits<int64_t>::max();

  static IntegerSet All() { return Between(kLeast, kMost); }
  /// Both included; none where `lo` is above `hi`.
  static IntegerSet Between(int64_t lo, int64_t hi) {
    IntegerSet set;
    if (lo <= hi) set.runs_.emplace_back(lo, hi);
    return set;
  }

  bool IsEmpty() const { return runs_.empty(); }

  IntegerSet Complement() const {
    IntegerSet set;
    int64_t lo = kLeast;
    for (const auto& [first, last] : runs_) {
      if (first > lo) set.runs_.emplace_back(lo, first - 1);
      if (last == kMost) return set;
      lo = last + 1;
    }
    set.runs_.emplace_back(lo, kMost);
    return set;
  }

  IntegerSet Intersection(const IntegerSet& other) const {
    IntegerSet set;
    for (const auto& [first, last] : runs_) {
      for (const auto& [other_first, other_last] : other.runs_) {
        const int64_t lo = std::max(first, other_first), hi = std::min(last, other_last);
        if (lo <= hi) set.runs_.emplace_back(lo, hi);
      }
    }
    return set;
  }

 private:
  std::vector<std::pair<int64_t, int64_t>> runs_;  // ascending, apart
};

}  // namespace tkc::symbolic

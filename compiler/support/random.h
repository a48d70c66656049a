// SPDX-License-Identifier: MIT
// Random numbers that are the same on every machine.
#pragma once

#include <cstdint>

namespace tkc {

/// A counter, mixed until every bit depends on every other (SplitMix64: Steele, Lea and Flood, 2014).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  /// 0 .. bound - 1.
  int64_t Below(int64_t bound) { return static_cast<int64_t>((Next() >> 32) * static_cast<uint64_t>(bound) >> 32); }

 private:
  uint64_t state_;
};

}  // namespace tkc

// SPDX-License-Identifier: MIT
// The integers between which a scalar lies, whatever its names stand for, as far as conditions on them tell.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include "compiler/symbolic/scalar.h"

namespace tkc::passes {

/// From `lo` to `hi`, both included; the extremes of int64_t stand for no bound.
struct IntRange {
  static constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(), kMost = std::numeric_limits<int64_t>::max();
  int64_t lo = kLeast, hi = kMost;

  bool IsOne() const { return lo == hi; }
};

/// Interval arithmetic (Moore 1966) on scalars. A bound that would overflow is none.
class KnownRanges {
 public:
  /// `name` is an integer of this range and a multiple of `divisor`.
  void Learn(const std::string& name, IntRange range, int64_t divisor = 1);
  /// `condition` holds: its conjuncts of the forms name < c, c <= name, name == c, name % c == 0 and the like are kept.
  void Assume(const symbolic::Scalar& condition);
  /// `name` stands for this scalar.
  void Define(const std::string& name, const symbolic::Scalar& value);

  IntRange Of(const symbolic::Scalar& scalar) const;

 private:
  struct Fact {
    IntRange range{};
    int64_t divisor = 1;
  };
  void Compare(symbolic::Kind kind, const symbolic::Scalar& left, const symbolic::Scalar& right);
  /// Names that are multiples of a number as a product with it.
  symbolic::Scalar WithDivisors(symbolic::Scalar scalar) const;

  std::map<std::string, Fact> facts_;
};

}  // namespace tkc::passes

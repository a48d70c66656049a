// SPDX-License-Identifier: MIT
// Between which integers a scalar lies, whatever its names stand for: interval arithmetic (Moore 1966). A bound that would overflow
// is none.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>

#include "compiler/symbolic/polynomial.h"
#include "compiler/symbolic/scalar.h"

namespace tkc::symbolic {

/// From `lo` to `hi`, both included; the extremes of int64_t stand for no bound.
struct IntRange {
  static constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(), kMost = std::numeric_limits<int64_t>::max();
  int64_t lo = kLeast, hi = kMost;

  bool IsOne() const { return lo == hi; }
  bool HasBounds() const { return lo != kLeast && hi != kMost; }
};

IntRange Sum(IntRange a, IntRange b);
IntRange Difference(IntRange a, IntRange b);
/// The smallest range that holds both.
IntRange Either(IntRange a, IntRange b);
/// Of the smaller or the larger of two numbers, as `kind` says: kMin or kMax.
IntRange Chosen(Kind kind, IntRange a, IntRange b);

/// All numbers of an integer type of up to 32 bits, and those of u64 that are not negative; all integers for any other type.
IntRange RangeOf(DType dtype);
/// Whether the number is one of an integer type; false for any other type.
bool Holds(DType dtype, int64_t number);
/// A launch scalar, or an element of a tensor, as kernels see it: of a u64 its bits, as an i64.
IntRange RangeOfElement(DType dtype);
/// Whether the type holds all numbers of the range; not known where a bound is missing.
bool Fits(IntRange range, DType dtype);

/// `of_atom`: of names, elements of tensors, and calls but for `abs`. `divisor_of`: a number that divides a scalar (KnownDivisor).
/// What is computed in a narrow type may wrap, and lies anywhere in that type.
IntRange RangeOf(const Scalar& scalar, const std::function<IntRange(const Scalar& atom)>& of_atom,
                 const std::function<int64_t(const Scalar&)>& divisor_of = KnownDivisor);

}  // namespace tkc::symbolic

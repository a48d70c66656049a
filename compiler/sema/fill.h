// SPDX-License-Identifier: MIT
// What stands where an element does not exist: the domain of the fill-taint analysis (lang-spec, ti-11).
//
// A tile has, besides the class of its ordinary elements, for each axis a list of sources: sets of positions that may not
// exist, each with the class of the elements there. A source is known by start - bound of the range it comes from, so
// that a tile, its mask and another worker's view of the same range agree. Booleans use kZero for false.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "compiler/sema/typed.h"

namespace tkc::sema {

enum class Fill : uint8_t {
  kNone,  // nothing has been seen yet
  kZero,
  kFalse,        // zero, as a comparison of what is missing says, not that of a position with the end of a range
  kPositive,     // finite and above zero; `true`
  kNegative,     // finite and below zero
  kNotNegative,  // finite
  kNotPositive,  // finite
  kFinite,       // also: some truth value
  kNegInf,
  kPosInf,
  kAny,     // also a NaN
  kSummed,  // behind the last element of a running sum: what there is, and what stands where nothing is
};

/// The least and the greatest value of an integer type; that of `u64` is no integer of the language.
struct IntegerRange {
  int64_t least = 0;
  std::optional<int64_t> greatest;
};
IntegerRange IntegersOf(DType dtype);

Fill Join(Fill a, Fill b);
Fill ApplyFill(typed::Op op, Fill x);
Fill ApplyFill(typed::Op op, Fill a, Fill b);
/// The same of integers, which are as large as their type lets them be and wrap around.
Fill ApplyToIntegers(typed::Op op, Fill a, Fill b);
/// As a divisor, of a missing element: 0 / 0 is a NaN.
Fill AsDivisor(Fill x);
/// Of a number of a type of floats, of integers: the ends of an integer type are to its minima and maxima what the infinities are
/// to those of floats.
Fill FillOfNumber(double value, DType dtype);
Fill FillOfInteger(int64_t value, DType dtype);
/// Whether integers of the one type are too large for the other one.
bool WrapsAbove(DType from, DType to);
/// What a value becomes in another type.
Fill ConvertFill(Fill x, DType from, DType to);
/// Of integers what wraps may have any sign; zero stays.
Fill DropEnds(Fill x);
/// Also `false`.
bool IsZero(Fill x);
bool IsInfinite(Fill x);
/// "0", "-inf", "a finite number", "any number, also an infinity".
const char* FillText(Fill x);

struct Taint {
  Fill base = Fill::kFinite;    // never kAny: elements that exist are data, and data counts as finite
  std::map<int, Fill> axis[2];  // source to class; axis 0: rows, 1: columns
  bool read_infinite = false;   // a read with an infinite fill, or a view of one
  // Of what `iota` counts along the axis, its numbers where elements of others are missing: no data, and maybe kAny.
  std::optional<Fill> numbers[2] = {};

  Fill At(int which, int source) const {
    const auto place = axis[which].find(source);
    return place == axis[which].end() ? Beside(which) : place->second;
  }
  /// Where elements of others are missing along the axis, and none of this one.
  Fill Beside(int which) const { return numbers[which].value_or(base); }
  /// Of an axis along which all elements are alike, or that is no more.
  void Forget(int which) {
    axis[which].clear();
    numbers[which].reset();
  }
  /// Each class becomes another one.
  template <typename OfFill>
  void Apply(const OfFill& apply) {
    base = apply(base);
    for (int which = 0; which < 2; ++which) {
      for (auto& [source, fill] : axis[which]) fill = apply(fill);
      if (numbers[which]) numbers[which] = apply(*numbers[which]);
    }
  }
  bool operator==(const Taint&) const = default;
};

Taint Join(const Taint& a, const Taint& b);

}  // namespace tkc::sema

// SPDX-License-Identifier: MIT
// Between which numbers an integer lies, as far as its form and its type show it: whether it can wrap around.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>

#include "compiler/symbolic/scalar.h"

namespace tkc::symbolic {

/// From `least` to `most`; the ends of int64_t stand for no end.
struct Reach {
  int64_t least = std::numeric_limits<int64_t>::min(), most = std::numeric_limits<int64_t>::max();
};

Reach ReachOf(DType dtype);
Reach Sum(const Reach& a, const Reach& b);
Reach Difference(const Reach& a, const Reach& b);
/// Whether all of it lies strictly within an integer type of 64 bits, or within one of fewer.
bool Fits(const Reach& reach, DType dtype);
/// `of_atom`: of names and elements.
Reach ReachOf(const Scalar& scalar, const std::function<Reach(const Scalar& atom)>& of_atom);

}  // namespace tkc::symbolic

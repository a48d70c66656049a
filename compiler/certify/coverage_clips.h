// SPDX-License-Identifier: MIT
// What of a block lies behind the end of its range must not be seen: the range ends where the access is clipped, or with a whole
// block, or a condition says that it does not end in this one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/certify/integers.h"
#include "compiler/symbolic/scalar.h"

namespace tkc::certify {

/// lo, lo + step, .. below hi.
struct Range {
  symbolic::Scalar lo, hi;
  int64_t step = 1;
};
using Ranges = std::map<std::string, Range>;

/// `extent` elements from `start` on, of which those from `end` on are not seen. `ahead`: iterations of the loop by which a copy is
/// ahead.
struct Clipped {
  symbolic::Scalar start;
  int64_t extent;
  symbolic::Scalar end;
  int64_t ahead = 0;
};

/// Of the ranges by name, those whose blocks the access begins in. `holding`: conditions under which it is executed; `launch`: what
/// holds of the dims and launch scalars.
bool IsClipped(const Ranges& ranges, const std::vector<symbolic::Scalar>& holding, Integers& launch, const Clipped& access);

}  // namespace tkc::certify

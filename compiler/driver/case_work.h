// SPDX-License-Identifier: MIT
// How much there is to do for the simulator in one launch, as far as dimensions and launch scalars tell.
#pragma once

#include "compiler/interp/launch.h"

namespace tkc {

struct CaseWork {
  double tiles = 0;  // of the largest grid; 0 where they depend on data
  /// Multiplications of all matrix products, and for each other operation on tiles as many as take the simulator that long: more
  /// for reductions of columns, at which all warps meet.
  double products = 0;
};

CaseWork WorkOf(const interp::Launch& launch);

}  // namespace tkc

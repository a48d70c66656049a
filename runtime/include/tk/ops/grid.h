// SPDX-License-Identifier: MIT
// Launches that overlap the end of the launch before them.
#pragma once

#include "tk/cuda/sm90/grid_dependency.h"

namespace tk {

/// Every launch overlaps the end of the launch before it. A kernel waits here before its first access to global memory, also when
/// it needs nothing of the previous grid: only then is everything before that grid complete too, and memory it overwrites no longer read.
namespace grid {
TK_DEVICE void wait_previous() { sm90::grid_dependency_wait(); }
TK_DEVICE void allow_next() { sm90::grid_dependency_launch(); }
}  // namespace grid

}  // namespace tk

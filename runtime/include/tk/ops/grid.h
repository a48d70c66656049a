// SPDX-License-Identifier: MIT
// Launches that overlap the end of the launch before them.
#pragma once

#include "tk/cuda/sm90/grid_dependency.h"

namespace tk {

namespace grid {
/// Every launch overlaps the end of the launch before it (programmatic dependent launch). A kernel waits here before its first access to
/// global memory, also when it needs nothing of the previous grid: only then is everything before that grid complete too, and memory
/// it overwrites no longer read. When a thread of each block has come here the next launch may begin: blocks of a third one would only
/// take room, and are spread unevenly where they do.
TK_DEVICE void wait_previous() {
    sm90::grid_dependency_wait();
    sm90::grid_dependency_launch();
}
}  // namespace grid

}  // namespace tk

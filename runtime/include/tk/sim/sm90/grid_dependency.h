// SPDX-License-Identifier: MIT
// Programmatic dependent launch on the simulator: launches run one after another, but who touches global memory without
// having waited is told.
#pragma once

#include "tk/platform.h"
#include "tk/sim/engine.h"

namespace tk::sm90 {

TK_DEVICE void grid_dependency_wait() { sim::grid_wait_previous(); }
TK_DEVICE void grid_dependency_launch() { sim::grid_allow_next(); }

}  // namespace tk::sm90

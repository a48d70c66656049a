// SPDX-License-Identifier: MIT
// Programmatic dependent launch: a grid may start while the one before it in the stream still runs.
#pragma once

#include "tk/platform.h"
#ifdef TK_SIM
#include "tk/sim/sm90/grid_dependency.h"
#else

namespace tk::sm90 {

/// Waits until the grids this one depends on are complete and what they wrote is visible.
TK_DEVICE void grid_dependency_wait() { TK_PTX("griddepcontrol.wait;" ::: "memory"); }

/// Lets grids that depend on this one start once every block of this one has said so or ended.
TK_DEVICE void grid_dependency_launch() { TK_PTX("griddepcontrol.launch_dependents;" ::: "memory"); }

}  // namespace tk::sm90

#endif

// SPDX-License-Identifier: MIT
// elect.sync on the simulator.
#pragma once

#include "tk/platform.h"
#include "tk/sim/engine.h"

namespace tk::sm90 {

/// The hardware seen so far chooses lane 0.
TK_DEVICE bool elect() { return sim::elected(); }

}  // namespace tk::sm90

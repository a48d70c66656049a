// SPDX-License-Identifier: MIT
// elect.sync on the simulator.
#pragma once

#include "tk/platform.h"
#include "tk/sim/engine.h"

namespace tk::sm90 {

/// Lane 0: as on the hardware seen so far.
TK_DEVICE bool elect() {
    sim::meet_warp("elect.sync", nullptr, nullptr);
    return sim::self().thread % 32 == 0;
}

}  // namespace tk::sm90

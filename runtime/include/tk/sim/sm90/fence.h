// SPDX-License-Identifier: MIT
// Fences on the simulator.
#pragma once

#include "tk/platform.h"
#include "tk/sim/engine.h"

namespace tk::sm90 {

TK_DEVICE void fence_mbarrier_init() { sim::barrier_init_fence(); }
TK_DEVICE void fence_proxy_async_shared() { sim::fence_proxy_async(); }

}  // namespace tk::sm90

// SPDX-License-Identifier: MIT
// Ordinary accesses to global memory on the simulator.
#pragma once

#include "tk/sim/sm80/global_memory.h"

namespace tk::gfx9 {

using sm80::load_global;
using sm80::load_uniform;
using sm80::store_global;

}  // namespace tk::gfx9

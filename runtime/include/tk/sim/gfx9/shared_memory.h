// SPDX-License-Identifier: MIT
// The block's shared memory on the simulator.
#pragma once

#include "tk/sim/sm80/shared_memory.h"

namespace tk::gfx9 {

using sm80::dynamic_shared_memory;
using sm80::load_shared;
using sm80::load_shared_variable;
using sm80::shared_address;
using sm80::store_shared;
using sm80::store_shared_variable;

}  // namespace tk::gfx9

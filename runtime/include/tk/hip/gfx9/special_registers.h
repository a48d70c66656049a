// SPDX-License-Identifier: MIT
// Where a thread is: indices in the block and the grid.
#pragma once

#include "tk/platform.h"

#ifdef TK_SIM
#include "tk/sim/gfx9/special_registers.h"
#else

namespace tk::gfx9 {

/// Of a wave.
inline constexpr int lanes = 64;

TK_DEVICE int thread_index() { return int(__builtin_amdgcn_workitem_id_x()); }
TK_DEVICE int block_index() { return int(__builtin_amdgcn_workgroup_id_x()); }

/// The first of the arguments that the runtime adds to those of a kernel (code objects of version 5 on).
TK_DEVICE int block_count() { return *(const __attribute__((address_space(4))) int*)(__builtin_amdgcn_implicitarg_ptr()); }

}  // namespace tk::gfx9

#endif

// SPDX-License-Identifier: MIT
// The runtime's own kernels overlap the launch before them where generated kernels do (call::device).
#pragma once

#include "tk/arch.h"

#if TK_HAS_SM90
#include "tk/ops/grid.h"
#endif

namespace tk::host::inline TK_MACHINE {

/// At a kernel's beginning.
TK_DEVICE void overlap() {
#if TK_HAS_SM90
    grid::wait_previous();
#endif
}

}  // namespace tk::host

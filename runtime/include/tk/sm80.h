// SPDX-License-Identifier: MIT
// The device side of the runtime for NVIDIA GPUs from sm_80 on: tiles and operations by scope. Launchers also include
// tk/host.h.
#pragma once

#include "tk/arch.h"
#include "tk/ops/atomic_global.h"
#include "tk/ops/barrier.h"
#include "tk/ops/copy_async.h"
#include "tk/ops/copy_guarded.h"
#include "tk/ops/elementwise.h"
#include "tk/ops/fragment_load.h"
#include "tk/ops/gather_global.h"
#include "tk/ops/interleaved.h"
#include "tk/ops/random.h"
#include "tk/ops/reduce.h"
#include "tk/ops/ring.h"
#include "tk/ops/scope.h"
#include "tk/ops/tile_order.h"
#include "tk/ops/warp_mma.h"
#include "tk/ops/warpgroup_global.h"
#include "tk/ops/warpgroup_shared.h"
#include "tk/types/dtype.h"
#include "tk/types/fragment.h"
#include "tk/types/global_tensor.h"
#include "tk/types/integer.h"
#include "tk/types/layout.h"
#include "tk/types/register_tile.h"
#include "tk/types/shared_tile.h"

// SPDX-License-Identifier: MIT
// The device side of the runtime for gfx942 (CDNA3: MI300X): tiles and operations by scope. It says for which machine the headers
// behind it are, so it is a file's first header of tk. Launchers also include tk/host.h.
#pragma once

#define TK_GFX 942

#include "tk/arch.h"
#include "tk/hip/barrier.h"
#include "tk/hip/copy_async.h"
#include "tk/hip/fragment_load.h"
#include "tk/hip/multiply.h"
#include "tk/hip/priority.h"
#include "tk/hip/staged_copy.h"
#include "tk/ops/atomic_global.h"
#include "tk/ops/copy_guarded.h"
#include "tk/ops/elementwise.h"
#include "tk/ops/gather_global.h"
#include "tk/ops/interleaved.h"
#include "tk/ops/random.h"
#include "tk/ops/reduce.h"
#include "tk/ops/ring.h"
#include "tk/ops/scan.h"
#include "tk/ops/scope.h"
#include "tk/ops/tile_order.h"
#include "tk/ops/warpgroup_global.h"
#include "tk/ops/warpgroup_shared.h"
#include "tk/types/divisor.h"
#include "tk/types/dtype.h"
#include "tk/types/global_tensor.h"
#include "tk/types/integer.h"
#include "tk/types/layout.h"
#include "tk/types/register_tile.h"
#include "tk/types/shared_tile.h"

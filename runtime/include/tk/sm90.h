// SPDX-License-Identifier: MIT
// The device side of the runtime for sm_90a: all of tk/sm80.h, and operations on what came with Hopper. It says for which
// machine the headers behind it are, so it is a file's first header of tk.
#pragma once

#if defined(TK_ARCH) && TK_ARCH != 90
#error "tk/sm90.h comes before all other headers of tk"
#endif
#define TK_ARCH 90

#include "tk/ops/cluster_barrier.h"
#include "tk/ops/cluster.h"
#include "tk/ops/cluster_store.h"
#include "tk/ops/grid.h"
#include "tk/ops/roles.h"
#include "tk/ops/split.h"
#include "tk/ops/tensor_copy.h"
#include "tk/ops/warpgroup_mma.h"
#include "tk/sm80.h"

// SPDX-License-Identifier: MIT
// Fences for what works beside the threads: barriers in shared memory, copy engine, tensor core.
#pragma once

#include "tk/platform.h"

#ifdef TK_SIM
#include "tk/sim/sm90/fence.h"
#else

namespace tk::sm90 {

/// Makes mbarrier initialisation visible to the cluster; a block or cluster barrier must follow.
TK_DEVICE void fence_mbarrier_init() { TK_PTX("fence.mbarrier_init.release.cluster;" ::: "memory"); }

/// Orders this thread's ordinary shared-memory accesses with those of the copy engine and tensor core.
TK_DEVICE void fence_proxy_async_shared() { TK_PTX("fence.proxy.async.shared::cta;" ::: "memory"); }

}  // namespace tk::sm90

#endif

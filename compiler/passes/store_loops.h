// SPDX-License-Identifier: MIT
// Loops that store tiles part by part, by way of shared memory, as select_transfer writes them:
//
//     unroll c n times { p = part x at 0, c * 32;  s = view stage;  store_shared s = p;  store_async .. = s }
//
// and such loops within one over the same parts, in which x itself is computed by parts.
#pragma once

#include <cstdint>
#include <set>

#include "compiler/ir/ir.h"

namespace tkc::passes {

/// The columns of the tiles that the operation stores by parts, each of them once; 0: it is no such loop.
int64_t ColumnsStored(const ir::Kernel& kernel, const ir::Op& loop);

/// The operations as they stand in `around`, which makes tiles `own` by as many parts as the loops among them have, or by fewer,
/// larger ones: those loops are what is left to do for one part. Stores that stage their chunks in one buffer take its places in
/// turn.
ir::Region StoresWithin(const ir::Kernel& kernel, ir::Region operations, const ir::Op& around, const std::set<ir::ValueId>& own);

}  // namespace tkc::passes

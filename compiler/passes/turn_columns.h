// SPDX-License-Identifier: MIT
// What a tensor of one axis holds is a column to the source, and a thread has neighbours of a row, not of a column. A worker that
// has columns only, long enough for each thread to have several elements, works on rows instead, which registers load and store as
// vectors:
//
//     x = read X[n : 2048]             becomes     x = read transposed X[n : 2048]
//     s = reduce cols x                            s = reduce rows x
//     store Y[n : 2048] = x                        store transposed Y[n : 2048] = x
//
// where x was f32[2048, 1] and is f32[1, 2048] now. What it receives lies in shared memory either way. Workers that send stay as
// they are.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

Result<void> TurnColumns(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
// Where the instances of a worker meet, each sends the others what they wait for. What it stores in front of that and keeps in
// registers anyway, because it is used behind the meeting as well, it stores behind the send:
//
//     h = ..                         becomes     h = ..
//     store H[m, 0 : 8192] = h                   s = reduce h
//     s = reduce h                               send s
//     send s                                     store H[m, 0 : 8192] = h
//     t = receive; .. h * t                      t = receive; .. h * t
//
// Stores are issued slowly where memory is busy: the others would wait for them. Nobody can tell the difference: what is stored is
// not read in the same grid. Only what is known to be aligned: other stores have several ways, whose conditions take registers
// beside what waits.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"

namespace tkc::passes {

Result<void> DelayStores(ir::Kernel& kernel, Diagnostics& diagnostics);

}  // namespace tkc::passes

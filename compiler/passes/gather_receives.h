// SPDX-License-Identifier: MIT
// Where threads copy for themselves, slots that are received one behind the other share a wait and a meeting of all threads. A loop
// that receives a slot of another pipe between two products receives it in front of both, as all of these slots were filled in the
// same step some iterations ago:
//
//     receive xs; receive us                 becomes     receive xs; receive us; receive vs
//     p += x @ u                                         p += x @ u
//     receive vs                                         q += x @ v
//     q += x @ v
//
// What a worker computes between receives stays between them: there is something to do until the slot is there.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

Result<void> GatherReceives(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

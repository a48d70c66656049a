// SPDX-License-Identifier: MIT
// `alternate WORKER`: of a worker's two instances one loads while the other multiplies, where each matrix unit is shared by a wave
// of either. An iteration is cut in two, and the second instance is half an iteration behind:
//
//     meeting of the second instance alone
//     for .. {
//       receive; loads of all operands; copies of later slots      beside the other's products
//       meeting
//       products                                                   beside the other's loads
//       meeting
//     }
//     meeting of the first instance alone
//
// This pass moves what loads to the front of the iteration and what multiplies behind it, and marks where each begins (kAlternate);
// insert_sync makes waits, meetings and priorities of that.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

Result<void> Alternate(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

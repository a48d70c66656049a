// SPDX-License-Identifier: MIT
// A matrix unit that multiplies for a whole group of warps takes 64 rows at a time, reads the right operand anew for each of these,
// and takes any number of columns in steps of 8. So a product of more rows than columns, or whose rows are no multiple of 64, is
// computed turned: the worker has every tile of its registers turned around, and
//
//     accumulate acc, a, b                 becomes     accumulate acc, b.T, a.T
//     bias_row = transpose bias                        bias_row = transpose bias
//     store C[m : 208, n : 64] = acc                   store transposed C[m : 208, n : 64] = acc
//     store T[n : 64, m : 208] = transpose acc         store T[n : 64, m : 208] = acc
//
// where acc was f32[208, 64] and is f32[64, 208] now. Operands lie in shared memory, which the unit reads either way. Workers that
// do more with their products than compute element by element and store it stay as they are.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

Result<void> TurnProducts(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
// A matrix unit that multiplies for a whole group of warps takes 64 rows at a time, reads the right operand anew for each of these,
// and takes any number of columns in steps of 8. So a product of more rows than columns, or whose rows are no multiple of 64, is
// computed turned: the worker has what its products add up to turned around, and all that meets it element by element, and
//
//     accumulate acc, a, b                 becomes     accumulate acc, b.T, a.T
//     r = read R[m : 208, n : 64]                      r = read transposed R[m : 208, n : 64]
//     x = acc + r                                      x = acc + r
//     s = reduce rows x                                s = reduce cols x
//     store C[m : 208, n : 64] = x                     store transposed C[m : 208, n : 64] = x
//     y = transpose x
//     store D[n : 64, m : 208] = y                     store D[n : 64, m : 208] = x
//
// where acc was f32[208, 64] and is f32[64, 208] now. What lies in shared memory is read either way. Workers that take parts of
// such tiles, send them or multiply them again stay as they are (turned_tiles.h).
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

Result<void> TurnProducts(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

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
// where acc was f32[208, 64] and is f32[64, 208] now. What lies in shared memory is read either way. An operand that is computed is
// turned like the sum: a right one becomes a left one, which the unit reads from registers, so that the product is turned for that,
// too; a left one becomes a right one and goes to shared memory, which only rows that the unit does not take are reason enough for.
// Workers that take parts of such tiles or send them stay as they are (turned_tiles.h).
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

Result<void> TurnProducts(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

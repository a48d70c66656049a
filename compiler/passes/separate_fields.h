// SPDX-License-Identifier: MIT
// Pipes of which each field, or one, becomes a pipe of its own. Tile level.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace tkc::passes {

/// A ring turns when the sends of one block have filled a slot. Where an instance sends fields in different blocks, as one in a
/// branch and another beside it, each field becomes a pipe of its own, on every target; parts of one field there are an error.
Result<void> SeparateFields(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

/// A slot of several fields goes back as one. Where a loop computes with one of them, and then multiplies what it made of that with
/// another, each has use for a slot at another time: the first could be filled again while the second is still waited for, and
/// overlap_products does the product an iteration later. So such a pipe becomes two, of which the second has the fields that only
/// the loop's last product reads:
///
///     receive kv -> k, v                     becomes     receive kv_k -> k;  receive kv_v -> v
///     s = x @ k.T;  p = f(s)
///     acc += p @ v
///
/// For targets whose matrix unit works beside the warps, and for pipes that loading workers fill.
Result<void> SeparateLateFields(ir::Kernel& kernel, const Target& target, Diagnostics& diagnostics);

}  // namespace tkc::passes

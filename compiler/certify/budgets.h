// SPDX-License-Identifier: MIT
// What the roles and arrays of a block ask of the hardware together. Each by itself is something that it has: the verifier's
// matter.
#pragma once

#include <optional>

#include "compiler/certify/finding.h"
#include "compiler/ir/ir.h"
#include "compiler/target/target.h"

namespace tkc::certify {

/// Registers within the pool of the launch, shared memory within the block's and without overlap, a cluster that the target takes,
/// each warp of one role and each warpgroup of some.
std::optional<Finding> CheckBudgets(const ir::Kernel& kernel, const Target& target);

/// A thread's, summed over the warpgroups of the block.
int64_t RegisterSum(const ir::Kernel& kernel, const Target& target);

}  // namespace tkc::certify

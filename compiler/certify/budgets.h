// SPDX-License-Identifier: MIT
// What the roles and arrays of a block ask of each other's share of the hardware. That it has each by itself, and what the launch
// asks for, is the verifier's matter.
#pragma once

#include <optional>

#include "compiler/certify/finding.h"
#include "compiler/ir/ir.h"
#include "compiler/target/target.h"

namespace tkc::certify {

/// Registers within the pool of the launch, no two arrays on one address, each warp of one role and each warpgroup of some.
std::optional<Finding> CheckBudgets(const ir::Kernel& kernel, const Target& target);

/// A thread's, summed over the warpgroups of the block.
int64_t RegisterSum(const ir::Kernel& kernel, const Target& target);

}  // namespace tkc::certify

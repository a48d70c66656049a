// SPDX-License-Identifier: MIT
// Who meets at which of the block's barriers that have numbers, or, where it has none, at the one in shared memory that stands for
// it.
#pragma once

#include <optional>

#include "compiler/certify/finding.h"
#include "compiler/certify/program.h"
#include "compiler/target/target.h"

namespace tkc::certify {

/// A warpgroup's own barrier is used by nobody else, and all are of those that the block has.
std::optional<Finding> CheckNamedBarriers(const Program& program, const Target& target);

}  // namespace tkc::certify

// SPDX-License-Identifier: MIT
// Who executes what: the replay models warps, and takes an operation for what all its threads do together, or one does.
#pragma once

#include <optional>

#include "compiler/certify/finding.h"
#include "compiler/certify/program.h"

namespace tkc::certify {

/// Each operation is executed by the threads that it is for: one, a warp, or a warpgroup; and what all must do alike, as turning a
/// ring, by all of the role.
std::optional<Finding> CheckThreads(const Program& program);

}  // namespace tkc::certify

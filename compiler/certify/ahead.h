// SPDX-License-Identifier: MIT
// Copies ahead of a loop: the blocks that its prologue copies are those that the loop itself would have copied in the iterations
// before its first, so that one rule says what lies in a slot, whoever filled it.
#pragma once

#include <optional>

#include "compiler/certify/finding.h"
#include "compiler/certify/program.h"

namespace tkc::certify {

/// Proved from the resolved indices, without a replay, which proves that each slot is filled for the turn in which it is read.
std::optional<Finding> CheckAhead(const Program& program);

}  // namespace tkc::certify

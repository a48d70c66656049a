// SPDX-License-Identifier: MIT
// What stands beside an access as known (`exists`, `aligned`) is not asked when the kernel runs: a wrong one reads or writes
// outside the tensor. Nor is it asked whether a box of the copy engine begins where the engine can take it. Each is proved here
// from the extents, the grid, the loops around and what the launcher checks.
#pragma once

#include <optional>

#include "compiler/certify/finding.h"
#include "compiler/certify/program.h"

namespace tkc::certify {

/// An axis that `exists` lies within the tensor and within its own guards; rows that are `aligned` begin at multiples of 16 bytes,
/// and their elements, or structures, follow each other. Boxes of the copy engine begin at multiples of 16 bytes of a row.
std::optional<Finding> CheckMarks(const Program& program);

/// Rows that a copy leaves out are those that its tensor does not have, and no element that is stored depends on them. That all
/// roles mean the same block by the name of a grid's axis, CheckGrid says.
std::optional<Finding> CheckMissingRows(const Program& program);

}  // namespace tkc::certify

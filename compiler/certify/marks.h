// SPDX-License-Identifier: MIT
// What stands beside an access as known (`exists`, `aligned`) is not asked when the kernel runs: a wrong one reads or writes
// outside the tensor. Each is proved here from the extents, the grid, the loops around and what the launcher checks.
#pragma once

#include <optional>

#include "compiler/certify/finding.h"
#include "compiler/certify/program.h"

namespace tkc::certify {

/// An axis that `exists` lies within the tensor and within its own guards; rows that are `aligned` begin at multiples of 16 bytes,
/// and their elements, or structures, follow each other.
std::optional<Finding> CheckMarks(const Program& program);

/// Rows that a copy leaves out read as zero: the buffer's rows from that one on are zero from the start, the copy leaves out the
/// same ones as long as the block lives, and nothing else fills the buffer.
std::optional<Finding> CheckMissingRows(const Program& program);

}  // namespace tkc::certify

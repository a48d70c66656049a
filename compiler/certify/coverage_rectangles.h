// SPDX-License-Identifier: MIT
// What the stores of one tensor that have their base in common cover: rectangles, whose places are numbers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/certify/coverage_sites.h"
#include "compiler/certify/finding.h"

namespace tkc::certify {

/// Stores of one tensor that have their base in common lie apart from each other.
std::optional<Finding> CheckApart(const std::string& tensor, const std::vector<Site>& sites);

/// The parts in which an operation stores are together one rectangle, and so are the operations of a statement, unless the source
/// leaves equal gaps between its copies; what several statements store is as the source has it.
std::optional<Finding> CheckWhole(const std::string& tensor, const std::vector<Site>& sites);

/// Whether stores hold the same elements as others. The rectangles of either lie apart from each other.
bool HoldTheSame(const std::vector<Site>& sites, const std::vector<Site>& others);

}  // namespace tkc::certify

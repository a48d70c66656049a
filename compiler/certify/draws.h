// SPDX-License-Identifier: MIT
// Tiles drawn from a counter: each number behind those of the blocks comes once, to one block, and all roles of the block take it
// in the same turn of their loops.
#pragma once

#include <optional>

#include "compiler/certify/finding.h"
#include "compiler/certify/program.h"

namespace tkc::certify {

std::optional<Finding> CheckDraws(const Program& program);

}  // namespace tkc::certify

// SPDX-License-Identifier: MIT
// Tiles drawn from a counter: each number behind those of the blocks (clusters) comes once, to one of them, and all its roles take
// it in the same turn of their loops.
#pragma once

#include <optional>

#include "compiler/certify/finding.h"
#include "compiler/certify/program.h"

namespace tkc::certify {

std::optional<Finding> CheckDraws(const Program& program);

}  // namespace tkc::certify

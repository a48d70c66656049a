// SPDX-License-Identifier: MIT
// Who stores what: every tile of the grid is taken once, and what is stored in a tile is stored once, within its own block. Proved
// from the resolved indices, without a replay.
#pragma once

#include <optional>

#include "compiler/certify/finding.h"
#include "compiler/certify/program.h"

namespace tkc::certify {

/// The map from the number of a tile to its place in the grid is one to one in every role, and the roles' loops deal the tiles out.
std::optional<Finding> CheckGrid(const Program& program);

/// No two stores of a tile meet, none leaves a hole, and each stays within its block; with and without the copy engine. Accesses to
/// a range that ends inside a tensor are clipped there.
std::optional<Finding> CheckStores(const Program& program);

}  // namespace tkc::certify

// SPDX-License-Identifier: MIT
// How many slots of each pipe a worker receives in one tile of work: what an instance that takes turns passes over for each tile of
// another.
#pragma once

#include <map>
#include <string>

#include "compiler/ir/ir.h"

namespace tkc::passes {

struct SlotsPerTile {
  std::map<std::string, ir::Scalar> of;  // pipe -> slots, in terms of what is the same for all tiles
  /// A pipe of which tiles may take different numbers, and what those depend on, in words. Empty: none.
  std::string pipe, cause;
};

/// `body` is what the worker does for one tile, below the kernel's lets.
SlotsPerTile CountSlots(const ir::Kernel& kernel, const ir::Region& body);

}  // namespace tkc::passes

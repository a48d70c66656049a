// SPDX-License-Identifier: MIT
// What an instance that takes turns does in a tile of another: its rings go past the slots that this tile takes. It is the worker's
// body without all that fills or reads slots; loops that take the same number in each iteration become a product.
#pragma once

#include "compiler/ir/ir.h"

namespace tkc::passes {

/// `body` is what the worker does for one tile, below the kernel's lets.
ir::Region PassOver(const ir::Kernel& kernel, const ir::Region& body);

}  // namespace tkc::passes

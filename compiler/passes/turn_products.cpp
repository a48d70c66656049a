// SPDX-License-Identifier: MIT
#include "compiler/passes/turn_products.h"

#include "compiler/passes/turn_tiles.h"
#include "compiler/passes/turned_tiles.h"

namespace tkc::passes {

Result<void> TurnProducts(ir::Kernel& kernel, const Target& target, Diagnostics&) {
  if (!target.has_matrix_group) return {};
  for (ir::Worker& worker : kernel.workers) {
    const TurnedTiles tiles(kernel, worker);
    if (!tiles.Pays(target)) continue;
    TurnTiles(kernel, tiles, worker);
    worker.turned = true;
  }
  return {};
}

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
#include "compiler/passes/turn_columns.h"

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/passes/turn_tiles.h"
#include "compiler/passes/turned_tiles.h"

namespace tkc::passes {
namespace {

/// Whether all tiles are columns or single elements, and the shortest column has several elements for each thread.
bool HasLongColumnsOnly(const ir::Kernel& kernel, const ir::Worker& worker, const Target& target) {
  const int64_t least = int64_t{2} * ir::kWarpsOfInstance * target.lanes;
  bool has_columns = false, are_long = true;
  ForEachOp(worker.body, [&](const ir::Op& op) {
    are_long &= op.code != ir::OpCode::kSend;
    for (const ir::ValueId value : op.results) {
      const ir::Type& type = kernel.TypeOf(value);
      if (type.rows == 1 && type.cols == 1) continue;
      has_columns = true;
      are_long &= type.cols == 1 && type.rows >= least;
    }
  });
  return has_columns && are_long;
}

}  // namespace

Result<void> TurnColumns(ir::Kernel& kernel, const Target& target, Diagnostics&) {
  for (ir::Worker& worker : kernel.workers) {
    if (!HasLongColumnsOnly(kernel, worker, target)) continue;
    const TurnedTiles tiles(kernel, worker);
    if (tiles.CanBeTurned()) TurnTiles(kernel, tiles, worker);
  }
  return {};
}

}  // namespace tkc::passes

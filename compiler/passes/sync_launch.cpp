// SPDX-License-Identifier: MIT
// Launches overlap: a block may begin while the launch before is still at work. Where a block's first tile lies is known by the
// time that one ends. A condition keeps the wait behind that: nvcc moves work behind a bare one.
#include <algorithm>
#include <iterator>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/passes/sync_roles.h"

namespace tkc::passes {

using ir::Op;
using ir::OpCode;

void WaitForLaunchesBefore(ir::Worker& worker) {
  const auto touches = [](const Op& op) { return Holds(op, ir::TouchesTensor); };
  const auto first = std::find_if(worker.body.begin(), worker.body.end(), touches);
  if (first == worker.body.end()) return;
  Op wait = MakeOp(OpCode::kWaitPrevious, "", "", 0, worker.span);
  if (first->code != OpCode::kForTiles || ir::TouchesTensor(*first)) {
    worker.body.insert(worker.body.begin(), std::move(wait));
    return;
  }
  wait.scalars = {ir::IsFirstTile(*first)};
  ir::Region& body = first->regions[0];
  auto place = std::find_if(body.begin(), body.end(), touches);
  while (place != body.begin() && std::prev(place)->code == OpCode::kComment) --place;  // which is about that operation
  body.insert(place, std::move(wait));
}

}  // namespace tkc::passes

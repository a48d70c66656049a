// SPDX-License-Identifier: MIT
// Launches overlap: a block may begin while the launch before is still at work. Where a block's first tile lies is known by the
// time that one ends. A condition keeps the wait behind that: nvcc moves work behind a bare one. Where there is nothing to divide
// for it, the wait stands in front of the loop.
#include <algorithm>
#include <iterator>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/passes/sync_roles.h"

namespace tkc::passes {

using ir::Op;
using ir::OpCode;

namespace {

bool Divides(const symbolic::Scalar& scalar) {
  using symbolic::Kind;
  return scalar && (scalar->kind == Kind::kDiv || scalar->kind == Kind::kMod || scalar->kind == Kind::kCdiv ||
                    std::ranges::any_of(scalar->args, Divides));
}

/// Whether the operation is done at once in the first tile: a variable or a number begins, or a slot is filled that nobody has
/// filled yet.
bool TakesNoTime(const Op& op) {
  switch (op.code) {
    case OpCode::kComment:
    case OpCode::kExpect:
    case OpCode::kFill:
    case OpCode::kPart:
    case OpCode::kVar:
    case OpCode::kView:
    case OpCode::kWaitEmpty: return true;
    case OpCode::kLet: return !Divides(op.scalars[0]);
    default: return false;
  }
}

}  // namespace

void WaitForLaunchesBefore(ir::Worker& worker) {
  const auto touches = [](const Op& op) { return Holds(op, ir::TouchesTensor); };
  const auto first = std::find_if(worker.body.begin(), worker.body.end(), touches);
  if (first == worker.body.end()) return;
  Op wait = MakeOp(OpCode::kWaitPrevious, "", "", 0, worker.span);
  if (first->code != OpCode::kForTiles || ir::TouchesTensor(*first)) {
    worker.body.insert(worker.body.begin(), std::move(wait));
    return;
  }
  ir::Region& body = first->regions[0];
  auto place = std::find_if(body.begin(), body.end(), touches);
  if (std::all_of(body.begin(), place, TakesNoTime)) {
    worker.body.insert(first, std::move(wait));
    return;
  }
  wait.scalars = {ir::IsFirstTile(*first)};
  while (place != body.begin() && std::prev(place)->code == OpCode::kComment) --place;  // which is about that operation
  body.insert(place, std::move(wait));
}

}  // namespace tkc::passes

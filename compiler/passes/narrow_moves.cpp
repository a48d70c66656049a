// SPDX-License-Identifier: MIT
#include "compiler/passes/narrow_moves.h"

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

class Narrowing {
 public:
  Narrowing(ir::Kernel& kernel, const ir::Worker& worker) : kernel_(kernel), body_(worker.body) {
    ForEachOp(body_, [&](const Op& op) {
      const bool shows_memory =
          op.code == OpCode::kReceive || op.code == OpCode::kRead || (IsMove(op) && IsInMemory(op.operands[0]));
      if (shows_memory) in_memory_.insert(op.results.begin(), op.results.end());
    });
  }

  /// Moves are passed one at a time, from the conversion on, until none is left.
  void Rewrite(Region& region) {
    for (size_t i = 0; i < region.size(); ++i) {
      for (Region& inner : region[i].regions) Rewrite(inner);
      size_t at = i;
      for (size_t move = MoveBefore(region, at); move != at; move = MoveBefore(region, at)) {
        Exchange(region, move, at);
        at = move;
      }
    }
  }

 private:
  static bool IsMove(const Op& op) { return ir::IsPartOrTranspose(op.code); }
  bool IsInMemory(ValueId value) const { return in_memory_.contains(value); }

  /// Parts at a place that is known here may stay with their threads.
  static bool MayStay(const Op& move) {
    return move.code == OpCode::kPart &&
           std::all_of(move.scalars.begin(), move.scalars.end(), [](const ir::Scalar& at) { return symbolic::IsInt(at, nullptr); });
  }

  /// The place of the move whose result the operation at `at` narrows, and nothing else uses; `at` if there is none.
  size_t MoveBefore(const Region& region, size_t at) const {
    const Op& convert = region[at];
    if (convert.code != OpCode::kConvert) return at;
    const ValueId moved = convert.operands[0];
    if (Bytes(kernel_.TypeOf(convert.results[0]).dtype) >= Bytes(kernel_.TypeOf(moved).dtype) || CountUses(body_, moved) != 1)
      return at;
    for (size_t i = at; i-- > 0;) {
      const Op& op = region[i];
      if (op.results.empty() || op.results[0] != moved) continue;
      return IsMove(op) && !MayStay(op) && !IsInMemory(op.operands[0]) ? i : at;
    }
    return at;
  }

  /// The conversion stands where the move stood, which follows it: a variable is moved as it is there.
  void Exchange(Region& region, size_t move_at, size_t convert_at) {
    Op move = region[move_at], convert = region[convert_at];
    ir::Type type = kernel_.TypeOf(move.operands[0]);
    type.dtype = kernel_.TypeOf(convert.results[0]).dtype;
    const ValueId narrow = kernel_.AddValueAfter(move.operands[0], "_narrow", type);
    const ValueId result = convert.results[0];
    convert.operands = move.operands;
    convert.results = {narrow};
    move.operands = {narrow};
    move.results = {result};
    region.erase(region.begin() + static_cast<std::ptrdiff_t>(convert_at));
    region[move_at] = std::move(move);
    region.insert(region.begin() + static_cast<std::ptrdiff_t>(move_at), std::move(convert));
  }

  ir::Kernel& kernel_;
  const Region& body_;
  std::set<ValueId> in_memory_;  // tiles of pipes and tensors, turned and in parts
};

}  // namespace

Result<void> NarrowMoves(ir::Kernel& kernel, Diagnostics&) {
  for (ir::Worker& worker : kernel.workers) Narrowing(kernel, worker).Rewrite(worker.body);
  return {};
}

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
#include "compiler/passes/turn_tiles.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "compiler/ir/op_traits.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

class Turning {
 public:
  Turning(ir::Kernel& kernel, const TurnedTiles& tiles) : kernel_(kernel), tiles_(tiles) {}

  void Run(ir::Worker& worker) {
    Region turned = Turned(worker.body);  // the tiles are those of the body as it was
    worker.body = std::move(turned);
    for (const ValueId value : results_) std::swap(kernel_.TypeOf(value).rows, kernel_.TypeOf(value).cols);
  }

 private:
  /// What lies in memory, turned around.
  ValueId Other(ValueId view, Region& out, Span span) {
    if (const ValueId from = tiles_.TurnedFrom(view); from != ir::kNone) return from;
    ir::Type type = kernel_.TypeOf(view);
    std::swap(type.rows, type.cols);
    Op turn{OpCode::kTranspose, {kernel_.AddValueAfter(view, "_turned", type)}, {view}};
    turn.span = span;
    out.push_back(turn);
    return turn.results[0];
  }

  Region Turned(const Region& region) {
    Region out;
    for (const Op& source : region) {
      Op op = source;
      for (Region& inner : op.regions) {
        const auto views = views_;
        inner = Turned(inner);
        views_ = views;
      }
      for (ValueId& value : op.operands) {
        if (const auto other = held_as_.find(value); other != held_as_.end()) value = other->second;
      }
      if (tiles_.IsAsHeld(source)) {
        held_as_[op.results[0]] = op.operands[0];
        continue;
      }
      for (const ValueId value : op.results) {
        if (tiles_.IsTurned(value)) results_.insert(value);
      }
      TurnOne(tiles_.IsHeldTurned(source), op, out);
      out.push_back(std::move(op));
    }
    return out;
  }

  /// `is_turned`: its tiles in registers are.
  void TurnOne(bool is_turned, Op& op, Region& out) {
    if (ir::IsProduct(op.code)) {
      ValueId &left = op.operands.end()[-2], &right = op.operands.end()[-1];
      const auto other = [&](ValueId operand) { return tiles_.IsInMemory(operand) ? Other(operand, out, op.span) : operand; };
      const ValueId new_left = other(right);
      right = other(left);
      left = new_left;
    } else if (is_turned && !ir::IsPartOrTranspose(op.code)) {
      if (op.code == OpCode::kRead || op.code == OpCode::kStore) op.SetTurned(!op.IsTurned());
      if (op.code == OpCode::kPositions || ir::ReducesOrScans(op.code)) op.SetOfRows(!op.IsOfRows());
      for (ValueId& value : op.operands) {
        if (!tiles_.IsInMemory(value)) continue;
        const auto [view, is_new] = views_.try_emplace(value);
        if (is_new) view->second = Other(value, out, op.span);
        value = view->second;
      }
    }
  }

  ir::Kernel& kernel_;
  const TurnedTiles& tiles_;
  std::set<ValueId> results_;           // in registers and turned: their types are still what they were
  std::map<ValueId, ValueId> held_as_;  // a tile that the source turns -> the tile that is held the other way round already
  std::map<ValueId, ValueId> views_;    // what lies in memory -> its view for registers: the same for all that they load at once
};

}  // namespace

void TurnTiles(ir::Kernel& kernel, const TurnedTiles& tiles, ir::Worker& worker) { Turning(kernel, tiles).Run(worker); }

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
#include "compiler/passes/turned_tiles.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/passes/matrix_unit.h"

namespace tkc::passes {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

namespace {

bool IsVector(const ir::Type& type) { return type.rows == 1 || type.cols == 1; }
bool IsPoint(const ir::Type& type) { return type.rows == 1 && type.cols == 1; }

}  // namespace

WaysOfTiles::Way WaysOfTiles::Find(ValueId value) const {
  Way way{value, false};
  for (auto next = under_.find(value); next != under_.end(); next = under_.find(way.tile))
    way = {next->second.tile, way.differs != next->second.differs};
  return way;
}

bool WaysOfTiles::Join(ValueId a, ValueId b, bool differ) {
  Way first = Find(a), second = Find(b);
  if (first.tile == second.tile) return (first.differs != second.differs) == differ;
  if (second.tile == kTurned) std::swap(first, second);
  under_[second.tile] = {first.tile, (first.differs != second.differs) != differ};
  return true;
}

std::set<ValueId> OnlyMultiplied(const Region& body) {
  std::map<ValueId, std::vector<const Op*>> users;
  ForEachOp(body, [&](const Op& op) {
    for (const ValueId value : op.operands) users[value].push_back(&op);
  });
  std::set<ValueId> found;
  const std::function<bool(ValueId)> is_only_multiplied = [&](ValueId value) {
    return std::all_of(users[value].begin(), users[value].end(), [&](const Op* user) {
      if (user->code == OpCode::kTranspose) return is_only_multiplied(user->results[0]);
      return ir::IsProduct(user->code) && (user->operands.end()[-2] == value || user->operands.back() == value);
    });
  };
  for (const auto& [value, ops] : users) {
    if (is_only_multiplied(value)) found.insert(value);
  }
  return found;
}

TurnedTiles::TurnedTiles(const ir::Kernel& kernel, const ir::Worker& worker) : kernel_(kernel), worker_(worker) {
  const std::set<ValueId> only_multiplied = OnlyMultiplied(worker.body);
  ForEachOp(worker.body, [&](const Op& op) {
    const bool is_view = ir::IsPartOrTranspose(op.code) && in_memory_.contains(op.operands[0]);
    const bool is_copied = op.code == OpCode::kRead && only_multiplied.contains(op.results[0]);
    if (op.code != OpCode::kReceive && !is_view && !is_copied) return;
    in_memory_.insert(op.results.begin(), op.results.end());
    if (op.code == OpCode::kTranspose) turned_from_[op.results[0]] = op.operands[0];
  });
  const auto note = [&](const Op& op, bool can_be) {
    if (!can_be && obstacle_ == nullptr) obstacle_ = &op;
  };
  ForEachOp(worker.body, [&](const Op& op) { note(op, Join(op)); });
  // A vector can be turned where it is read, or by way of shared memory: it is only where it is needed both ways.
  ForEachOp(worker.body, [&](const Op& op) {
    const bool turns_vector =
        IsTurnOfRegisters(op) && IsVector(kernel_.TypeOf(op.results[0])) && !IsPoint(kernel_.TypeOf(op.results[0]));
    if (turns_vector && IsComplete(op)) ways_.Join(op.operands[0], op.results[0], true);
  });
  ForEachOp(worker.body, [&](const Op& op) { note(op, CanTurn(op)); });
}

bool TurnedTiles::Pays(const Target& target) const {
  if (obstacle_ != nullptr) return false;
  bool reduces_rows = false;
  ForEachOp(worker_.body, [&](const Op& op) { reduces_rows |= ir::ReducesOrScans(op.code) && op.IsOfRows() && IsHeldTurned(op); });
  // Rows that became columns are reduced by all warps together, which wait for each other.
  const Shapes shapes = ShapesOfProducts(target);
  return shapes.fit && (shapes.need_turn || (shapes.gain && !shapes.loss && !reduces_rows));
}

TurnedTiles::Shapes TurnedTiles::ShapesOfProducts(const Target& target) const {
  const MatrixShape& unit = ShapeOf(target);
  Shapes shapes;
  ForEachOp(worker_.body, [&](const Op& op) {
    if (!ir::IsProduct(op.code)) return;
    const ir::Type& sum = kernel_.TypeOf(ir::SumOf(op));
    // The unit reads the left operand from registers, too; the right one has to go to shared memory.
    const bool left_computed = !IsInMemory(op.operands.end()[-2]), right_computed = !IsInMemory(op.operands.back());
    shapes.fit &= sum.cols % unit.m == 0 && sum.rows % unit.n_step == 0 && sum.rows <= unit.n_max;
    shapes.gain |= right_computed || sum.rows > sum.cols;
    shapes.loss |= left_computed;
    shapes.need_turn |= sum.rows % unit.m != 0;
  });
  return shapes;
}

void TurnedTiles::NoteObstacle(const Target& target, DiagnosticBuilder& report) const {
  const Shapes shapes = ShapesOfProducts(target);
  if (obstacle_ == nullptr || !shapes.fit || !shapes.need_turn) return;
  report.Note(obstacle_->span, fmt::format("but for this, products would be computed turned, as y.T @ x.T: rows in multiples of {}",
                                           ShapeOf(target).n_step));
}

ValueId TurnedTiles::TurnedFrom(ValueId view) const {
  const auto from = turned_from_.find(view);
  return from == turned_from_.end() ? ir::kNone : from->second;
}

bool TurnedTiles::IsTurnOfRegisters(const Op& op) const { return op.code == OpCode::kTranspose && !IsInMemory(op.operands[0]); }

bool TurnedTiles::IsAsHeld(const Op& op) const {
  return IsTurnOfRegisters(op) && IsTurned(op.operands[0]) != IsTurned(op.results[0]);
}

/// What meets element by element is held the same way, what the source turns the other way.
bool TurnedTiles::Join(const Op& op) {
  if (ir::IsProduct(op.code)) {
    std::vector<ValueId> tiles(op.operands.end() - 2, op.operands.end());
    std::erase_if(tiles, [&](ValueId value) { return IsInMemory(value); });
    tiles.push_back(ir::SumOf(op));
    return std::all_of(tiles.begin(), tiles.end(), [&](ValueId tile) { return ways_.Join(WaysOfTiles::kTurned, tile, false); });
  }
  if (IsTurnOfRegisters(op)) return IsVector(kernel_.TypeOf(op.results[0])) || ways_.Join(op.operands[0], op.results[0], true);
  return op.code == OpCode::kReceive || ir::IsPartOrTranspose(op.code) || JoinAll(op);
}

/// The operation's tiles in registers that look different when they are turned.
std::vector<ValueId> TurnedTiles::TilesHeld(const Op& op) const {
  std::vector<ValueId> tiles = op.operands;
  tiles.insert(tiles.end(), op.results.begin(), op.results.end());
  std::erase_if(tiles, [&](ValueId value) { return IsInMemory(value) || IsPoint(kernel_.TypeOf(value)); });
  return tiles;
}

bool TurnedTiles::JoinAll(const Op& op) {
  const std::vector<ValueId> tiles = TilesHeld(op);
  return std::all_of(tiles.begin(), tiles.end(), [&](ValueId tile) { return ways_.Join(tiles.front(), tile, false); });
}

bool TurnedTiles::IsHeldTurned(const Op& op) const {
  const std::vector<ValueId> tiles = TilesHeld(op);
  return !tiles.empty() && IsTurned(tiles.front());
}

bool TurnedTiles::CanTurn(const Op& op) const {
  if (ir::ComputesElements(op.code) || ir::ReducesOrScans(op.code)) return true;
  switch (op.code) {
    case OpCode::kFor:
    case OpCode::kIf:
    case OpCode::kLet:
    case OpCode::kReceive:
    case OpCode::kVar:
    case OpCode::kAssign: return true;
    case OpCode::kGather: return !ir::GathersRows(op);
    case OpCode::kPart: return IsInMemory(op.operands[0]);
    case OpCode::kTranspose: return !IsAsHeld(op) || IsComplete(op);
    case OpCode::kRead: return IsVector(kernel_.TypeOf(op.results[0])) || !op.axes.back().dropped;
    case OpCode::kMatmul:
    case OpCode::kAccumulate: return CanMultiplyTurned(op);
    case OpCode::kStore: return !IsHeldTurned(op) || CanStoreTurned(op);
    default: return false;
  }
}

/// Whether what is turned here is no variable that is changed behind this: the result is the same tile then.
bool TurnedTiles::IsComplete(const Op& turn) const {
  if (!kernel_.values[turn.operands[0]].is_mutable) return true;
  bool is_behind = false, is_changed = false;
  for (const Op& op : worker_.body) {
    const auto visit = [&](const auto& each) {
      each(op);
      for (const Region& region : op.regions) ForEachOp(region, each);
    };
    visit([&](const Op& each) { is_behind |= each.code == OpCode::kTranspose && each.results == turn.results; });
    if (is_behind) visit([&](const Op& each) { is_changed |= Writes(each, turn.operands[0]); });
  }
  return !is_changed;
}

/// Narrow elements are turned on their way to the copy engine, which stores floats of 16 bits; others go from registers, where
/// eight lanes hold neighbours, and bytes would be stored one by one.
bool TurnedTiles::CanStoreTurned(const Op& store) const {
  if (IsVector(kernel_.TypeOf(store.operands[0]))) return true;
  const DType dtype = FindTensor(kernel_, store.symbol).dtype;
  const bool goes_by_engine = IsFloat(dtype) && Bytes(dtype) == 2 && store.Is(typed::StoreOp::kSet);
  return !store.axes.back().dropped && (goes_by_engine || Bytes(dtype) >= 4);
}

/// The unit reads elements of 16 bits either way, and others where the terms of a sum lie side by side.
bool TurnedTiles::CanMultiplyTurned(const Op& product) const {
  const ValueId left = product.operands.end()[-2], right = product.operands.back();
  const bool is_either_way = Bytes(kernel_.TypeOf(left).dtype) == 2 && Bytes(kernel_.TypeOf(right).dtype) == 2;
  return is_either_way || (TurnedFrom(left) == ir::kNone && TurnedFrom(right) != ir::kNone);
}

}  // namespace tkc::passes

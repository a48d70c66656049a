// SPDX-License-Identifier: MIT
#include "compiler/passes/turn_products.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "compiler/passes/matrix_unit.h"
#include "compiler/passes/walk.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

bool IsVector(const ir::Type& type) { return type.rows == 1 || type.cols == 1; }
bool IsPoint(const ir::Type& type) { return type.rows == 1 && type.cols == 1; }

void Toggle(std::string& slot, const char* one, const char* other) { slot = slot == one ? other : one; }

/// Which tiles registers hold the same way round, and which the other way: sets of tiles, each with one that stands for it.
class Ways {
 public:
  /// The two are held the same way, or not. False: it is known already that this can't be.
  bool Join(ValueId a, ValueId b, bool differ) {
    Way first = Find(a), second = Find(b);
    if (first.tile == second.tile) return (first.differs != second.differs) == differ;
    if (second.tile == kTurned) std::swap(first, second);
    under_[second.tile] = {first.tile, (first.differs != second.differs) != differ};
    return true;
  }
  /// What no product says anything about is turned like the products.
  bool IsTurned(ValueId value) const { return !Find(value).differs; }

  static constexpr ValueId kTurned = ir::kNone;  // stands for all that products add up to

 private:
  struct Way {
    ValueId tile;
    bool differs;
  };
  Way Find(ValueId value) const {
    Way way{value, false};
    for (auto next = under_.find(value); next != under_.end(); next = under_.find(way.tile))
      way = {next->second.tile, way.differs != next->second.differs};
    return way;
  }
  std::map<ValueId, Way> under_;
};

class Turning {
 public:
  Turning(ir::Kernel& kernel, ir::Worker& worker) : kernel_(kernel), worker_(worker) {
    ForEachOp(worker.body, [&](const Op& op) {
      const bool is_view = IsViewOfView(op) && in_memory_.contains(op.operands[0]);
      if (op.code != OpCode::kReceive && !is_view) return;
      in_memory_.insert(op.results.begin(), op.results.end());
      if (op.code == OpCode::kTranspose) turned_from_[op.results[0]] = op.operands[0];
    });
  }

  /// Whether every product gains by being turned or loses nothing, one gains, and nothing else stands in the way.
  bool Pays() {
    if (!FindWays()) return false;
    bool gains = false, is_needed = false, can_turn = true, reduces_rows = false;
    ForEachOp(worker_.body, [&](const Op& op) {
      can_turn = can_turn && CanTurn(op);
      reduces_rows |= ir::ReducesOrScans(op.code) && op.slot == "rows" && IsHeldTurned(op);
      if (!can_turn || !IsProduct(op.code)) return;
      const ir::Type& sum = TypeOf(op.code == OpCode::kAccumulate ? op.operands[0] : op.results[0]);
      can_turn = sum.cols % kMatrixRows == 0 && sum.rows % kMatrixCols == 0 && sum.rows <= kMatrixMostCols;
      gains |= sum.rows > sum.cols;
      is_needed |= sum.rows % kMatrixRows != 0;
    });
    // Rows that became columns are reduced by all warps together, which wait for each other.
    return can_turn && (is_needed || (gains && !reduces_rows));
  }

  void Turn() {
    std::set<ValueId> results;
    worker_.turned = true;
    worker_.body = Turned(worker_.body, results);
    for (const ValueId value : results) std::swap(kernel_.values[value].type.rows, kernel_.values[value].type.cols);
  }

 private:
  const ir::Type& TypeOf(ValueId value) const { return kernel_.values[value].type; }
  bool IsInMemory(ValueId value) const { return in_memory_.contains(value); }
  bool LiesTurned(ValueId value) const { return turned_from_.contains(value); }
  bool IsTurned(ValueId value) const { return ways_.IsTurned(value); }

  bool IsTurnOfRegisters(const Op& op) const { return op.code == OpCode::kTranspose && !IsInMemory(op.operands[0]); }
  /// Whether the tile is held as its operand is, which is held the other way round.
  bool IsAsHeld(const Op& turn) const { return IsTurned(turn.operands[0]) != IsTurned(turn.results[0]); }

  /// How each tile of the registers is held, if that can be: what meets element by element the same way, what the source turns the
  /// other way. A vector can be turned where it is read.
  bool FindWays() {
    bool can_be = true;
    ForEachOp(worker_.body, [&](const Op& op) {
      if (IsTurnOfRegisters(op) && !IsVector(TypeOf(op.results[0])))
        can_be &= ways_.Join(op.operands[0], op.results[0], true);
      else if (IsProduct(op.code))
        can_be &= ways_.Join(Ways::kTurned, op.code == OpCode::kAccumulate ? op.operands[0] : op.results[0], false);
      else if (op.code != OpCode::kReceive && op.code != OpCode::kTranspose && op.code != OpCode::kPart)
        can_be &= JoinAll(op);
    });
    ForEachOp(worker_.body, [&](const Op& op) {
      if (IsTurnOfRegisters(op) && IsVector(TypeOf(op.results[0])) && !IsPoint(TypeOf(op.results[0])))
        ways_.Join(op.operands[0], op.results[0], true);
    });
    return can_be;
  }

  /// The operation's tiles in registers that look different when they are turned.
  std::vector<ValueId> TilesHeld(const Op& op) const {
    std::vector<ValueId> tiles = op.operands;
    tiles.insert(tiles.end(), op.results.begin(), op.results.end());
    std::erase_if(tiles, [&](ValueId value) { return IsInMemory(value) || IsPoint(TypeOf(value)); });
    return tiles;
  }

  bool JoinAll(const Op& op) {
    const std::vector<ValueId> tiles = TilesHeld(op);
    return std::all_of(tiles.begin(), tiles.end(), [&](ValueId tile) { return ways_.Join(tiles.front(), tile, false); });
  }

  /// Of an operation whose tiles are all held the same way.
  bool IsHeldTurned(const Op& op) const {
    const std::vector<ValueId> tiles = TilesHeld(op);
    return !tiles.empty() && ways_.IsTurned(tiles.front());
  }

  bool CanTurn(const Op& op) const {
    switch (op.code) {
      case OpCode::kFor:
      case OpCode::kIf:
      case OpCode::kLet:
      case OpCode::kReceive:
      case OpCode::kPositions:
      case OpCode::kFill:
      case OpCode::kVar:
      case OpCode::kAssign:
      case OpCode::kUnary:
      case OpCode::kBinary:
      case OpCode::kSelect:
      case OpCode::kConvert:
      case OpCode::kReduce:
      case OpCode::kCumsum: return true;
      case OpCode::kPart: return IsInMemory(op.operands[0]);
      case OpCode::kTranspose:
        return IsInMemory(op.operands[0]) || !IsAsHeld(op) || !kernel_.values[op.operands[0]].is_mutable || IsComplete(op);
      case OpCode::kRead: return IsVector(TypeOf(op.results[0])) || !op.axes.back().dropped;
      case OpCode::kMatmul:
      case OpCode::kAccumulate: return CanMultiplyTurned(op);
      case OpCode::kStore: return !IsHeldTurned(op) || CanStoreTurned(op);
      default: return false;
    }
  }

  /// Whether the variable that is turned here is changed in front of this only: the tile is the variable then.
  bool IsComplete(const Op& turn) const {
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
  bool CanStoreTurned(const Op& store) const {
    const DType dtype = FindTensor(kernel_, store.symbol).dtype;
    const bool goes_by_engine =
        IsFloat(dtype) && Bytes(dtype) == 2 && static_cast<typed::StoreOp>(store.number) == typed::StoreOp::kSet;
    return !store.axes.back().dropped && (goes_by_engine || Bytes(dtype) >= 4);
  }

  /// The unit reads elements of 16 bits either way, and others where the terms of a sum lie side by side.
  bool CanMultiplyTurned(const Op& product) const {
    const ValueId left = product.operands.end()[-2], right = product.operands.back();
    if (!IsInMemory(left) || !IsInMemory(right)) return false;
    const bool is_either_way = Bytes(TypeOf(left).dtype) == 2 && Bytes(TypeOf(right).dtype) == 2;
    return is_either_way || (!LiesTurned(left) && LiesTurned(right));
  }

  /// What lies in memory, turned around.
  ValueId Other(ValueId view, Region& out, Span span) {
    if (const auto from = turned_from_.find(view); from != turned_from_.end()) return from->second;
    ir::Type type = TypeOf(view);
    std::swap(type.rows, type.cols);
    Op turn{OpCode::kTranspose, {kernel_.AddValueAfter(view, "_turned", type)}, {view}};
    turn.span = span;
    out.push_back(turn);
    return turn.results[0];
  }

  /// `results`: those in registers that are turned, whose types are still what they were.
  Region Turned(const Region& region, std::set<ValueId>& results) {
    Region out;
    for (const Op& source : region) {
      Op op = source;
      for (Region& inner : op.regions) inner = Turned(inner, results);
      for (ValueId& value : op.operands) {
        if (const auto other = held_as_.find(value); other != held_as_.end()) value = other->second;
      }
      if (IsTurnOfRegisters(source) && IsAsHeld(source)) {
        held_as_[op.results[0]] = op.operands[0];
        continue;
      }
      for (const ValueId value : op.results) {
        if (!IsInMemory(value) && IsTurned(value)) results.insert(value);
      }
      TurnOne(IsHeldTurned(source), op, out);
      out.push_back(std::move(op));
    }
    return out;
  }

  /// `is_turned`: its tiles in registers are.
  void TurnOne(bool is_turned, Op& op, Region& out) {
    if (IsProduct(op.code)) {
      ValueId &left = op.operands.end()[-2], &right = op.operands.end()[-1];
      const ValueId new_left = Other(right, out, op.span);
      right = Other(left, out, op.span);
      left = new_left;
    } else if (is_turned && !IsViewOfView(op)) {
      if (op.code == OpCode::kRead || op.code == OpCode::kStore) Toggle(op.slot, "", "transposed");
      if (op.code == OpCode::kPositions || ir::ReducesOrScans(op.code)) Toggle(op.slot, "rows", "cols");
      for (ValueId& value : op.operands) {
        if (IsInMemory(value) && !IsPoint(TypeOf(value))) value = Other(value, out, op.span);
      }
    }
  }

  ir::Kernel& kernel_;
  ir::Worker& worker_;
  std::set<ValueId> in_memory_;             // what is received, and views of it
  std::map<ValueId, ValueId> turned_from_;  // such a view -> what it shows turned
  Ways ways_;
  std::map<ValueId, ValueId> held_as_;  // a tile that the source turns -> the tile that is held the other way round already
};

}  // namespace

Result<void> TurnProducts(ir::Kernel& kernel, const Target& target, Diagnostics&) {
  if (!target.has_matrix_group) return {};
  for (ir::Worker& worker : kernel.workers) {
    Turning turning(kernel, worker);
    if (turning.Pays()) turning.Turn();
  }
  return {};
}

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
// Which tiles of a worker registers hold turned around (turn_products.h, turn_columns.h), and what stands in the way: an operation
// that can't be done on tiles held so, or a tile that would have to be held both ways.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/support/diagnostic.h"
#include "compiler/target/target.h"

namespace tkc::passes {

/// Which tiles are held the same way round, and which the other way: sets of tiles, each with one that stands for it.
class WaysOfTiles {
 public:
  /// The two are held the same way, or not. False: it is known already that this can't be.
  bool Join(ir::ValueId a, ir::ValueId b, bool differ);
  /// What no product says anything about is turned like the products.
  bool IsTurned(ir::ValueId value) const { return !Find(value).differs; }

  static constexpr ir::ValueId kTurned = ir::kNone;  // stands for all that products add up to

 private:
  struct Way {
    ir::ValueId tile;
    bool differs;
  };
  Way Find(ir::ValueId value) const;
  std::map<ir::ValueId, Way> under_;
};

/// Tiles that are multiplied and not used otherwise, perhaps turned around: shared memory is their place.
std::set<ir::ValueId> OnlyMultiplied(const ir::Region& body);

class TurnedTiles {
 public:
  TurnedTiles(const ir::Kernel& kernel, const ir::Worker& worker);

  /// Whether nothing stands in the way.
  bool CanBeTurned() const { return obstacle_ == nullptr; }
  /// Whether every product gains by being turned or loses nothing, one gains, and nothing stands in the way.
  bool Pays(const Target& target) const;
  /// Of a product whose rows no matrix instruction takes: what stands in the way of its being turned, if that is not its shape.
  void NoteObstacle(const Target& target, DiagnosticBuilder& report) const;

  /// Received, or read to be multiplied and for nothing else; or a view of that.
  bool IsInMemory(ir::ValueId value) const { return in_memory_.contains(value); }
  /// What a view of memory shows turned around; kNone: it lies as the view shows it.
  ir::ValueId TurnedFrom(ir::ValueId view) const;
  /// Whether registers hold the tile turned around.
  bool IsTurned(ir::ValueId value) const { return !IsInMemory(value) && ways_.IsTurned(value); }
  /// Of an operation whose tiles are all held the same way.
  bool IsHeldTurned(const ir::Op& op) const;
  /// Whether the operation turns a tile that is held the other way round: no register moves.
  bool IsAsHeld(const ir::Op& op) const;

 private:
  struct Shapes {
    bool fit = true;         // the unit takes each product turned
    bool gain = false;       // one has more rows than columns, or a right operand that is computed
    bool loss = false;       // one has a left operand that is computed
    bool need_turn = false;  // of one, rows that it does not take as they are
  };
  Shapes ShapesOfProducts(const Target& target) const;
  bool IsTurnOfRegisters(const ir::Op& op) const;
  std::vector<ir::ValueId> TilesHeld(const ir::Op& op) const;
  bool Join(const ir::Op& op);
  bool JoinAll(const ir::Op& op);
  bool CanTurn(const ir::Op& op) const;
  bool IsComplete(const ir::Op& turn) const;
  bool CanStoreTurned(const ir::Op& store) const;
  bool CanMultiplyTurned(const ir::Op& product) const;

  const ir::Kernel& kernel_;
  const ir::Worker& worker_;
  std::set<ir::ValueId> in_memory_;
  std::map<ir::ValueId, ir::ValueId> turned_from_;
  WaysOfTiles ways_;
  const ir::Op* obstacle_ = nullptr;  // the first operation that can't be done on turned tiles
};

}  // namespace tkc::passes

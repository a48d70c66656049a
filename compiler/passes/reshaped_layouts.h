// SPDX-License-Identifier: MIT
// How tiles are dealt whose rows `reshape` has cut, or will join: so that each element stays in its register. Where 32 lanes of 16
// columns each have a row of 1024, 8 lanes and 2 halves have what 128 columns of it become, and 8 neighbouring lanes a number for
// each:
//
//     [4, 1024]  layout<32, 16, 1, 1, 4>               the worker's layout
//     [32, 128]  layout<8, 16, 2, 4, 4>                its rows cut; a column [32, 1] beside it
//     [4, 8]     layout<4, 1, 1, 1, 4, 1, false, 8>    that column as a number for each 128
//
// Tiles that meet in one operation are dealt alike, but for those on the two sides of a reshape. Where that can't be, the reshape
// goes through shared memory (ir::kThroughShared), and both of its tiles are dealt as others are.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "compiler/ir/ir.h"

namespace tkc::passes {

/// What rows of `cols` columns in this layout become where they are cut to rows of `cut_cols`; none, if elements would move.
std::optional<ir::RegisterLayout> CutLayout(const ir::RegisterLayout& layout, int64_t cols, int64_t cut_cols);

/// What a column in this layout becomes where each `count` neighbours of it are a row; none, if elements would move.
std::optional<ir::RegisterLayout> JoinedColumnLayout(const ir::RegisterLayout& layout, int64_t count);

class ReshapedLayouts {
 public:
  ReshapedLayouts(const ir::Kernel& kernel, const ir::Worker& worker);

  /// Of a tile that is dealt in another way than the worker's layout says; else, or where the tile was added since, null.
  const ir::RegisterLayout* Find(ir::ValueId value) const;
  /// Whether the tile is dealt as the worker's layout says, whichever that is.
  bool IsOfWorker(ir::ValueId value) const { return groups_.empty() || kinds_.count(GroupOf(value)) == 0; }
  bool AreDealtAlike(ir::ValueId one, ir::ValueId other) const;
  /// The first operation whose tiles can't all be dealt in some way.
  const ir::Op* fault() const { return fault_; }

 private:
  void Unite(const ir::Op& op);
  void CheckShapes(const ir::Kernel& kernel);
  ir::ValueId GroupOf(ir::ValueId value) const;
  void Assign(const ir::Op& reshape, ir::ValueId value, const std::optional<ir::RegisterLayout>& layout);

  std::vector<ir::ValueId> groups_;             // of values that meet: the value that stands for them, by steps; empty: no reshape
  std::map<ir::ValueId, const ir::Op*> kinds_;  // groups that are dealt in another way, and a reshape that says so
  std::map<ir::ValueId, ir::RegisterLayout> layouts_;  // of these
  const ir::Op* fault_ = nullptr;
};

}  // namespace tkc::passes

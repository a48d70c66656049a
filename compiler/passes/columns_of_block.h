// SPDX-License-Identifier: MIT
// What a worker does with a sum of which each block of a cluster finishes a part of the columns: the same, on those columns alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>

#include "compiler/ir/ir.h"

namespace tkc::passes {

class ColumnsOfBlock {
 public:
  /// `cols`: of the whole sum.
  ColumnsOfBlock(ir::Kernel& kernel, int64_t cols) : kernel_(kernel), cols_(cols) {}

  /// Finds the vectors along the columns that are turned around behind the sum, whose loop is number `loop`. False: what they are
  /// made of would have to be narrowed and whole.
  bool FindTurned(const ir::Region& body, size_t loop);

  /// Narrows what is named in front of the sum and lies along its columns, but for what the sum's loop itself asks for: that stays
  /// whole. False where that changes what an operation means.
  bool NarrowFront(ir::Region& front, const ir::Op& loop);
  /// Narrows what stands behind the sum `acc`, of which the block has `part`. Returns where an operation stands of which that
  /// changes what it means.
  std::optional<Span> NarrowTail(ir::Region& tail, ir::ValueId acc, ir::ValueId part);

 private:
  bool AddTurned(const ir::Region& body, size_t loop, int64_t rows, int64_t cols, std::set<ir::ValueId>& turned) const;
  std::optional<Span> NarrowRegion(ir::Region& region, ir::ValueId acc, ir::ValueId part);
  bool NarrowOp(ir::Op& op);
  void NarrowSource(ir::Op& op);
  bool NarrowComputed(const ir::Op& op);
  void NarrowAxis(ir::AxisRange& axis) const;
  static ir::AxisRange& AxisAlong(ir::Op& op, bool columns);
  ir::Scalar First() const;

  ir::Kernel& kernel_;
  const int64_t cols_;
  std::set<ir::ValueId> narrowed_;       // values whose columns are this block's part
  std::set<ir::ValueId> narrowed_rows_;  // columns [C, 1] that will be turned into rows [1, C], and what they are computed from
  std::set<ir::ValueId> whole_;          // rows [1, C] that will be turned into columns, and what they are computed from
};

}  // namespace tkc::passes

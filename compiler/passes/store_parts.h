// SPDX-License-Identifier: MIT
// Stores by parts of their columns or rows: what is done for a store alone, and what of it belongs to some of them. Rows are whole
// in parts of rows, so that reductions along them are done by parts, too.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "compiler/ir/ir.h"

namespace tkc::passes {

/// A store, and the operations right before it in its region that are done for it alone.
struct StoreStatement {
  size_t begin = 0, store = 0;
  std::set<size_t> own;
};

enum class PartsOf : uint8_t { kColumns, kRows };

class StoreParts {
 public:
  StoreParts(ir::Kernel& kernel, const ir::Worker& worker, PartsOf which = PartsOf::kColumns)
      : kernel_(kernel), worker_(worker), by_rows_(which == PartsOf::kRows) {}

  const ir::Kernel& kernel() const { return kernel_; }

  StoreStatement Find(ir::Region& region, size_t store) const;

  /// The most registers in use at once behind the loads of these operations, when convert_anew has done what it can.
  int64_t Kept(const ir::Region& region, size_t first, size_t end) const;

  /// Into so many equal parts of whole vectors for all lanes (of rows for all warps) it may be cut at most; 1: not at all.
  int64_t MostParts(const ir::Region& region, const StoreStatement& statement) const;

  /// The statement's operations, in parts: loads, and the rest with the store.
  struct Operations {
    ir::Region loads, others;
  };
  Operations Split(const ir::Region& region, const StoreStatement& statement) const;

  /// From now on the tiles of the statement have so many columns (rows).
  void Narrow(const Operations& operations, int64_t extent);

  /// The operations for the columns (rows) from `first` on. `parts` of tiles that stay whole stand in front of them.
  ir::Region Part(const ir::Region& operations, const Operations& statement, const ir::Scalar& first, int64_t extent);

  /// How many columns (rows) a tile has.
  int64_t ExtentOf(ir::ValueId value) const {
    const ir::Type& type = kernel_.TypeOf(value);
    return by_rows_ ? type.rows : type.cols;
  }

  /// The axis along which the columns (rows) of a tile lie in the tensor; none: it has but one column (one row).
  ir::AxisRange* AxisOf(ir::Op& access) const;

  /// Whatever was cut before has parts of its own.
  void Forget() { parts_.clear(); }

 private:
  bool MayWait(const ir::Op& op) const;
  bool TakesOthersRows(const ir::Region& region, const StoreStatement& statement) const;
  ir::ValueId PartOf(ir::ValueId tile, int64_t columns);

  ir::Kernel& kernel_;
  const ir::Worker& worker_;
  const bool by_rows_;
  std::map<ir::ValueId, ir::ValueId> parts_;  // of tiles that stay whole, for the statement at hand
};

}  // namespace tkc::passes

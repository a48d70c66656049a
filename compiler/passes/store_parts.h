// SPDX-License-Identifier: MIT
// Elementwise stores by parts of their columns: what is done for a store alone, and what of it belongs to some of its columns.
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

class StoreParts {
 public:
  StoreParts(ir::Kernel& kernel, const ir::Worker& worker) : kernel_(kernel), worker_(worker) {}

  StoreStatement Find(ir::Region& region, size_t store) const;

  /// The most registers in use at once behind the loads of these operations, when convert_anew has done what it can.
  int64_t Kept(const ir::Region& region, size_t first, size_t end) const;

  /// Into so many equal parts of whole vectors for all lanes the columns may be cut at most; 1: not at all.
  int64_t MostParts(const ir::Region& region, const StoreStatement& statement) const;

  /// The statement's operations, in parts: loads, and the rest with the store.
  struct Operations {
    ir::Region loads, others;
  };
  Operations Split(const ir::Region& region, const StoreStatement& statement) const;

  /// From now on the tiles of the statement have so many columns.
  void Narrow(const Operations& operations, int64_t columns);

  /// The operations for the columns from `first` on. `parts` of tiles that stay whole stand in front of them.
  ir::Region Part(const ir::Region& operations, const Operations& statement, const ir::Scalar& first, int64_t columns);

  /// Whatever was cut before has parts of its own.
  void Forget() { parts_.clear(); }

 private:
  int64_t Columns(ir::ValueId value) const { return kernel_.values[value].type.cols; }
  ir::ValueId PartOf(ir::ValueId tile, int64_t columns);

  ir::Kernel& kernel_;
  const ir::Worker& worker_;
  std::map<ir::ValueId, ir::ValueId> parts_;  // of tiles that stay whole, for the statement at hand
};

}  // namespace tkc::passes

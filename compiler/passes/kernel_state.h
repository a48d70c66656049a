// SPDX-License-Identifier: MIT
// What a pass that tries a rewriting of a region goes back to.
#pragma once

#include <vector>

#include "compiler/ir/ir.h"

namespace tkc::passes {

class KernelState {
 public:
  KernelState(const ir::Kernel& kernel, const ir::Region& region)
      : region_(region), values_(kernel.values), names_of_values_(kernel.names_of_values), known_values_(kernel.known_values) {}

  void Restore(ir::Kernel& kernel, ir::Region& region) const {
    region = region_;
    kernel.values = values_;
    kernel.names_of_values = names_of_values_;
    kernel.known_values = known_values_;
  }
  const ir::Region& region() const { return region_; }

 private:
  ir::Region region_;
  std::vector<ir::Value> values_;
  ir::TakenNames names_of_values_;
  size_t known_values_;
};

}  // namespace tkc::passes

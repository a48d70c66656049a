// SPDX-License-Identifier: MIT
// What a pass that tries a rewriting of a region goes back to.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"

namespace tkc::passes {

class KernelState {
 public:
  KernelState(const ir::Kernel& kernel, const ir::Region& region)
      : region_(region), values_(kernel.values), next_suffix_(kernel.next_suffix), known_values_(kernel.known_values) {}

  void Restore(ir::Kernel& kernel, ir::Region& region) const {
    region = region_;
    kernel.values = values_;
    kernel.next_suffix = next_suffix_;
    kernel.known_values = known_values_;
  }

 private:
  ir::Region region_;
  std::vector<ir::Value> values_;
  std::map<std::string, int> next_suffix_;
  size_t known_values_;
};

}  // namespace tkc::passes

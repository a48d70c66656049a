// SPDX-License-Identifier: MIT
// Loops whose products may stay in flight over the back edge: see insert_sync.h for their form and what becomes of them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/passes/slot_views.h"

namespace tkc::passes {

struct ProductsInFlight {
  std::vector<size_t> products;                          // operations of the loop's body, in order
  std::map<size_t, std::vector<std::string>> read_last;  // pipes, by the product that is the last to read what came by them
};

/// No traffic, no product, no store: nothing to be synchronised but registers, and reads of slots.
bool ComputesAside(const ir::Region& region, const SlotOfView& slot_of);

/// Empty if the loop is not of that form.
std::optional<ProductsInFlight> FindProductsInFlight(const ir::Kernel& kernel, const ir::Op& loop, const SlotOfView& slot_of);

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
// Which operations read a slot that has been received: by way of the views of it. Which fill parts of one view that lie beside each
// other.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"

namespace tkc::passes {

/// Of each view of a slot, the received value that it shows.
using SlotOfView = std::map<ir::ValueId, ir::ValueId>;
SlotOfView SlotsOfViews(const ir::Region& region);

/// Whether an operation, or one inside of it, reads one of these slots.
bool UsesSlot(const ir::Op& op, const std::vector<ir::ValueId>& slots, const SlotOfView& slot_of);

/// The last operation of the region that does, or `receive`.
size_t LastUse(const ir::Region& region, size_t receive, const std::vector<ir::ValueId>& slots, const SlotOfView& slot_of);

/// Whether the operation fills a part of a view beside those that the stores right in front of it fill: no element twice.
bool FillsBeside(const ir::Kernel& kernel, const ir::Region& region, size_t index);

/// Adds the views of the fields in `slot` that the receive brings, of those that are used.
void ViewFields(const ir::Kernel& kernel, const ir::Op& receive, const std::string& slot,
                const std::function<bool(ir::ValueId result)>& is_used, ir::Region& out);

}  // namespace tkc::passes

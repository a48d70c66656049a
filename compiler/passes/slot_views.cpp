// SPDX-License-Identifier: MIT
#include "compiler/passes/slot_views.h"

#include <algorithm>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"

namespace tkc::passes {

using ir::Op;
using ir::Region;
using ir::ValueId;

SlotOfView SlotsOfViews(const Region& region) {
  SlotOfView slot_of;
  ForEachOp(region, [&](const Op& op) {
    if (op.code == ir::OpCode::kReceive) {
      for (const ValueId value : op.results) slot_of[value] = value;
    } else if (ir::IsPartOrTranspose(op.code)) {
      const auto slot = slot_of.find(op.operands[0]);
      if (slot != slot_of.end()) slot_of[op.results[0]] = slot->second;
    }
  });
  return slot_of;
}

bool UsesSlot(const Op& op, const std::vector<ValueId>& slots, const SlotOfView& slot_of) {
  for (const ValueId operand : op.operands) {
    const auto slot = slot_of.find(operand);
    if (slot != slot_of.end() && std::find(slots.begin(), slots.end(), slot->second) != slots.end()) return true;
  }
  return std::any_of(op.regions.begin(), op.regions.end(), [&](const Region& region) {
    return std::any_of(region.begin(), region.end(), [&](const Op& inner) { return UsesSlot(inner, slots, slot_of); });
  });
}

size_t LastUse(const Region& region, size_t receive, const std::vector<ValueId>& slots, const SlotOfView& slot_of) {
  size_t last = receive;
  for (size_t i = receive + 1; i < region.size(); ++i) {
    if (UsesSlot(region[i], slots, slot_of)) last = i;
  }
  return last;
}

}  // namespace tkc::passes

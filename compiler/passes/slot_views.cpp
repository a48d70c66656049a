// SPDX-License-Identifier: MIT
#include "compiler/passes/slot_views.h"

#include <algorithm>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/passes/make_op.h"

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
  const auto is_of_these = [&](ValueId operand) {
    const auto slot = slot_of.find(operand);
    return slot != slot_of.end() && std::find(slots.begin(), slots.end(), slot->second) != slots.end();
  };
  return ir::Holds(op, [&](const Op& each) { return std::any_of(each.operands.begin(), each.operands.end(), is_of_these); });
}

size_t LastUse(const Region& region, size_t receive, const std::vector<ValueId>& slots, const SlotOfView& slot_of) {
  size_t last = receive;
  for (size_t i = receive + 1; i < region.size(); ++i) {
    if (UsesSlot(region[i], slots, slot_of)) last = i;
  }
  return last;
}

void ViewFields(const ir::Kernel& kernel, const Op& receive, const std::string& slot,
                const std::function<bool(ValueId result)>& is_used, Region& out) {
  const ir::Pipe& pipe = FindPipe(kernel, receive.symbol);
  for (size_t i = 0; i < receive.results.size(); ++i) {
    if (!is_used(receive.results[i])) continue;
    Op view = MakeOp(ir::OpCode::kView, FieldBuffer(pipe, i), slot, 0, receive.span);
    view.results = {receive.results[i]};
    out.push_back(std::move(view));
  }
}

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
#include "compiler/passes/slot_views.h"

#include <algorithm>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/passes/make_op.h"

namespace tkc::passes {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::ValueId;

SlotOfView SlotsOfViews(const Region& region) {
  SlotOfView slot_of;
  ForEachOp(region, [&](const Op& op) {
    if (op.code == OpCode::kReceive) {
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

bool FillsBeside(const ir::Kernel& kernel, const Region& region, size_t index) {
  const auto part_of = [&](const Op& store) -> const Op* {
    if (store.code != OpCode::kStoreShared) return nullptr;
    const auto makes_part = [&](const Op& op) { return op.code == OpCode::kPart && op.results[0] == store.operands[0]; };
    const auto part = std::find_if(region.begin(), region.end(), makes_part);
    return part == region.end() ? nullptr : &*part;
  };
  const auto is_apart = [&](const Op& one, const Op& other, size_t axis) {
    const auto extent = [&](const Op& part) {
      const ir::Type& type = kernel.TypeOf(part.results[0]);
      return axis == 0 ? type.rows : type.cols;
    };
    int64_t first = 0, second = 0;
    return symbolic::IsInt(one.scalars[axis], &first) && symbolic::IsInt(other.scalars[axis], &second) &&
           (first + extent(one) <= second || second + extent(other) <= first);
  };
  const Op* const part = part_of(region[index]);
  bool found = false;
  for (size_t i = index; part && i-- > 0;) {
    if (region[i].code == OpCode::kPart) continue;
    const Op* const other = part_of(region[i]);
    if (!other || other->operands != part->operands) break;
    if (!is_apart(*other, *part, 0) && !is_apart(*other, *part, 1)) return false;
    found = true;
  }
  return found;
}

void ViewFields(const ir::Kernel& kernel, const Op& receive, const std::string& slot,
                const std::function<bool(ValueId result)>& is_used, Region& out) {
  const ir::Pipe& pipe = FindPipe(kernel, receive.symbol);
  for (size_t i = 0; i < receive.results.size(); ++i) {
    if (!is_used(receive.results[i])) continue;
    Op view = MakeOp(OpCode::kView, FieldBuffer(pipe, i), slot, 0, receive.span);
    view.results = {receive.results[i]};
    out.push_back(std::move(view));
  }
}

}  // namespace tkc::passes

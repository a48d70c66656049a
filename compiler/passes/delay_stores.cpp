// SPDX-License-Identifier: MIT
#include "compiler/passes/delay_stores.h"

#include <algorithm>
#include <optional>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;

/// Whether the store can't stand behind the operation: that may touch the same tensor, or change what is stored or where. Loops and
/// branches are not looked into.
bool StopsStore(const Op& op, const Op& store) {
  if (op.code == OpCode::kReceive || !op.regions.empty()) return true;
  if (!op.axes.empty() && op.symbol == store.symbol) return true;
  return Writes(op, store.operands[0]) || DefinesScalarOf(op, store);
}

/// The last send in front of the next receive, if it is for a meeting: what it sends is received further down.
std::optional<size_t> MeetingBehind(const Region& region, size_t store) {
  std::optional<size_t> send;
  for (size_t i = store + 1; i < region.size() && !StopsStore(region[i], region[store]); ++i) {
    if (region[i].code == OpCode::kSend) send = i;
  }
  if (!send) return std::nullopt;
  const auto receives = [&](const Op& op) { return op.code == OpCode::kReceive && op.symbol == region[*send].symbol; };
  const auto behind = region.begin() + static_cast<std::ptrdiff_t>(*send) + 1;
  return std::any_of(behind, region.end(), receives) ? send : std::nullopt;
}

bool IsUsedBehind(const Region& region, size_t place, ir::ValueId value) {
  const auto behind = region.begin() + static_cast<std::ptrdiff_t>(place) + 1;
  return std::any_of(behind, region.end(), [&](const Op& op) { return Uses(op, value); });
}

void Delay(Region& region) {
  for (Op& op : region) {
    for (Region& inner : op.regions) Delay(inner);
  }
  for (size_t i = region.size(); i-- > 0;) {
    if (region[i].code != OpCode::kStore || !region[i].axes.back().aligned) continue;
    const std::optional<size_t> send = MeetingBehind(region, i);
    if (!send || !IsUsedBehind(region, *send, region[i].operands[0])) continue;
    const auto store = region.begin() + static_cast<std::ptrdiff_t>(i);
    std::rotate(store, store + 1, region.begin() + static_cast<std::ptrdiff_t>(*send) + 1);
  }
}

}  // namespace

Result<void> DelayStores(ir::Kernel& kernel, Diagnostics&) {
  for (ir::Worker& worker : kernel.workers) {
    if (worker.Computes()) Delay(worker.body);
  }
  return {};
}

}  // namespace tkc::passes

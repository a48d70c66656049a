// SPDX-License-Identifier: MIT
#include "compiler/passes/hoist_reads.h"

#include <algorithm>
#include <iterator>

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;

/// Makes a wider tile of another; a conversion that narrows stays where it is, as its operand would have to be kept.
bool Widens(const ir::Kernel& kernel, const Op& op) {
  return op.code == OpCode::kConvert &&
         Bytes(kernel.values[op.operands[0]].type.dtype) <= Bytes(kernel.values[op.results[0]].type.dtype);
}

void Hoist(const ir::Kernel& kernel, Region& region) {
  for (auto op = region.begin(); op != region.end(); ++op) {
    for (Region& inner : op->regions) Hoist(kernel, inner);
    if (op->code != OpCode::kRead && op->code != OpCode::kReadParts) continue;
    auto place = op;
    while (place != region.begin() && Widens(kernel, *std::prev(place))) --place;
    std::rotate(place, op, std::next(op));
  }
}

}  // namespace

Result<void> HoistReads(ir::Kernel& kernel, Diagnostics&) {
  for (ir::Worker& worker : kernel.workers) {
    if (worker.kind == ir::RoleKind::kCompute) Hoist(kernel, worker.body);
  }
  return {};
}

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
#include "compiler/passes/hoist_reads.h"

#include "compiler/ir/op_traits.h"

#include <algorithm>
#include <iterator>

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;

int64_t Elements(const ir::Type& type) { return type.rows * type.cols; }

/// Whether a read of this type may as well stand above the operation: a conversion, unless it narrows, as its operand would have to
/// be kept; a reshape, which does nothing; and what is computed of tiles larger than a row or column that is read.
bool Passes(const ir::Kernel& kernel, const Op& op, const ir::Type& read) {
  if (op.code == OpCode::kConvert) return Bytes(kernel.TypeOf(op.operands[0]).dtype) <= Bytes(kernel.TypeOf(op.results[0]).dtype);
  if (ir::IsElementwise(op.code)) return Elements(read) < Elements(kernel.TypeOf(op.results[0]));
  return op.code == OpCode::kReshape;
}

void Hoist(const ir::Kernel& kernel, Region& region) {
  for (auto op = region.begin(); op != region.end(); ++op) {
    for (Region& inner : op->regions) Hoist(kernel, inner);
    if (op->code != OpCode::kRead && op->code != OpCode::kReadParts) continue;
    auto place = op;
    const ir::Type& type = kernel.TypeOf(op->results[0]);
    while (place != region.begin() && Passes(kernel, *std::prev(place), type)) --place;
    std::rotate(place, op, std::next(op));
  }
}

}  // namespace

Result<void> HoistReads(ir::Kernel& kernel, Diagnostics&) {
  for (ir::Worker& worker : kernel.workers) {
    if (worker.Computes()) Hoist(kernel, worker.body);
  }
  return {};
}

}  // namespace tkc::passes

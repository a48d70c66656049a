// SPDX-License-Identifier: MIT
#include "compiler/passes/index_facts.h"

#include "compiler/passes/walk.h"

namespace tkc::passes {

IndexFacts::IndexFacts(const ir::Kernel& kernel) {
  constexpr IntRange kNonNegative{0, IntRange::kMost};
  for (const std::string& dim : kernel.dims) known_.Learn(dim, kNonNegative);
  Learn(kernel.lets);
  for (const ir::GridAxis& axis : kernel.axes) known_.DefineSteps(axis.name, axis.lo, axis.step);
  for (const ir::Worker& worker : kernel.workers) {
    if (!worker.instance_name.empty()) known_.DefineWithin(worker.instance_name, kNonNegative);
    Learn(worker.body);
  }
}

void IndexFacts::Learn(const ir::Region& region) {
  ForEachOp(region, [&](const ir::Op& op) {
    if (op.code == ir::OpCode::kFor) known_.DefineSteps(op.symbol, op.scalars[0], op.number);
    if (op.code == ir::OpCode::kUnroll) known_.DefineWithin(op.symbol, {0, op.number - 1});
    if (op.code == ir::OpCode::kLet && op.scalars[0]->dtype == DType::kI64)
      known_.Define(op.symbol, op.scalars[0], op.number != ir::kStays);
  });
}

int64_t IndexFacts::Divisor(const ir::Scalar& scalar) const { return known_.Divisor(scalar); }

bool IndexFacts::IsNonNegative(const ir::Scalar& scalar) const { return known_.Of(scalar).lo >= 0; }

}  // namespace tkc::passes

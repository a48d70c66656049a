// SPDX-License-Identifier: MIT
#include "compiler/passes/guard_padding.h"

#include <utility>

#include "compiler/ir/queries.h"
#include "compiler/passes/index_facts.h"
#include "compiler/passes/make_op.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::Scalar;

class Guarding {
 public:
  Guarding(const ir::Kernel& kernel, const ir::Worker& worker, const ir::GridAxis& axis)
      : kernel_(kernel), facts_(kernel, worker), axis_(axis) {}

  void Rewrite(Region& region) const {
    for (Op& op : region) {
      for (Region& inner : op.regions) Rewrite(inner);
      if (op.code == OpCode::kStore && !EndsWithAxis(op)) op = Guarded(std::move(op));
    }
  }

 private:
  /// Whether an axis of the tensor shows blocks of the grid axis's range, or of a part of it, and ends where that does.
  bool EndsWithAxis(const Op& store) const {
    const ir::TensorParam& tensor = FindTensor(kernel_, store.symbol);
    for (size_t i = 0; i < store.axes.size(); ++i) {
      const Scalar& end = store.axes[i].hi ? store.axes[i].hi : tensor.extents[i];
      const Scalar behind = symbolic::Sub(facts_.WithoutLets(store.axes[i].start), symbolic::Name(axis_.name));
      if (symbolic::Equal(end, axis_.hi) && facts_.IsNonNegative(behind)) return true;
    }
    return false;
  }

  Op Guarded(Op store) const {
    const Span span = store.span;
    return If(symbolic::Kind::kLt, symbolic::Name(axis_.name), axis_.hi, {std::move(store)}, span);
  }

  const ir::Kernel& kernel_;
  IndexFacts facts_;
  const ir::GridAxis& axis_;  // along which the blocks of a cluster lie
};

}  // namespace

Result<void> GuardPadding(ir::Kernel& kernel, const Target& target, Diagnostics&) {
  const std::optional<size_t> axis = kernel.ClusterAxis();
  if (!axis || !target.UsesClusters()) return {};
  for (ir::Worker& worker : kernel.workers) Guarding(kernel, worker, kernel.axes[*axis]).Rewrite(worker.body);
  return {};
}

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
#include "compiler/passes/guard_padding.h"

#include <utility>

#include "compiler/passes/index_facts.h"
#include "compiler/passes/walk.h"

namespace tkc::passes {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Region;
using ir::Scalar;

class Guarding {
 public:
  Guarding(const ir::Kernel& kernel, const ir::Worker& worker, const ir::GridAxis& rows)
      : kernel_(kernel), facts_(kernel, worker), rows_(rows) {}

  void Rewrite(Region& region) const {
    for (Op& op : region) {
      for (Region& inner : op.regions) Rewrite(inner);
      if (op.code == OpCode::kStore && !EndsWithRows(op)) op = Guarded(std::move(op));
    }
  }

 private:
  /// Whether an axis of the tensor shows blocks of the rows' range, or of a part of it, and ends where that does.
  bool EndsWithRows(const Op& store) const {
    const ir::TensorParam& tensor = FindTensor(kernel_, store.symbol);
    for (size_t i = 0; i < store.axes.size(); ++i) {
      const Scalar& end = store.axes[i].hi ? store.axes[i].hi : tensor.extents[i];
      const Scalar behind = symbolic::Sub(facts_.WithoutLets(store.axes[i].start), symbolic::Name(rows_.name));
      if (symbolic::Equal(end, rows_.hi) && facts_.IsNonNegative(behind)) return true;
    }
    return false;
  }

  Op Guarded(Op store) const {
    Op exists{OpCode::kIf, {}, {}, {symbolic::Make(symbolic::Kind::kLt, DType::kBool, {symbolic::Name(rows_.name), rows_.hi})}};
    exists.span = store.span;
    exists.regions = {{std::move(store)}, {}};
    return exists;
  }

  const ir::Kernel& kernel_;
  IndexFacts facts_;
  const ir::GridAxis& rows_;
};

}  // namespace

Result<void> GuardPadding(ir::Kernel& kernel, const Target& target, Diagnostics&) {
  if (kernel.cluster == 1 || kernel.SharesTile() || kernel.axes.empty() || !target.has_clusters || target.folds_copies) return {};
  const ir::GridAxis& rows = kernel.axes[kernel.axes.size() >= 2 ? kernel.axes.size() - 2 : 0];
  for (ir::Worker& worker : kernel.workers) Guarding(kernel, worker, rows).Rewrite(worker.body);
  return {};
}

}  // namespace tkc::passes

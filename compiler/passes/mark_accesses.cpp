// SPDX-License-Identifier: MIT
#include "compiler/passes/mark_accesses.h"

#include <algorithm>

#include "compiler/passes/known_ranges.h"
#include "compiler/passes/walk.h"

namespace tkc::passes {
namespace {

using ir::AxisRange;
using ir::Op;
using ir::OpCode;

constexpr int64_t kVector = 16;  // bytes

class Marking {
 public:
  explicit Marking(const ir::Kernel& kernel) : kernel_(kernel) {
    for (const std::string& dim : kernel.dims) known_.Learn(dim, {0, IntRange::kMost});
    if (kernel.when) known_.Assume(kernel.when);
    for (const ir::Scalar& require : kernel.launch_requires) known_.Assume(require);
    Learn(kernel.lets);
    for (const ir::GridAxis& axis : kernel.axes) known_.DefineSteps(axis.name, axis.lo, axis.step);
    known_.Learn("cluster::rank", {0, kernel.cluster - 1});
    for (const ir::Worker& worker : kernel.workers) {
      if (!worker.instance_name.empty()) known_.DefineWithin(worker.instance_name, {0, worker.instances - 1});
      Learn(worker.body);
    }
  }

  void Mark(Op& access) const {
    const ir::TensorParam& tensor = FindTensor(kernel_, access.symbol);
    for (size_t i = 0; i < access.axes.size(); ++i) {
      AxisRange& axis = access.axes[i];
      axis.exists = !axis.dropped && !axis.lo && !axis.hi && Exists(axis, tensor.extents[i]);
    }
    AxisRange& last = access.axes.back();
    const auto kept = std::count_if(access.axes.begin(), access.axes.end(), [](const AxisRange& axis) { return !axis.dropped; });
    const bool lies_in_rows = access.slot.empty() || kept == 1;  // a vector turned around is a row as it was
    last.aligned =
        !tensor.is_work && !last.dropped && lies_in_rows && known_.Divisor(last.start) * Bytes(tensor.dtype) % kVector == 0;
  }

 private:
  void Learn(const ir::Region& region) {
    ForEachOp(region, [&](const Op& op) {
      if (op.code == OpCode::kFor) known_.DefineSteps(op.symbol, op.scalars[0], op.number);
      if (op.code == OpCode::kUnroll) known_.DefineWithin(op.symbol, {0, op.number - 1});
      if (op.code == OpCode::kLet && op.scalars[0]->dtype == DType::kI64) known_.Define(op.symbol, op.scalars[0]);
    });
  }

  /// Whether all of the range lies within an axis of `extent` elements: by the bounds of both, or as a block of a grid whose last
  /// block is as long as the others.
  bool Exists(const AxisRange& range, const ir::Scalar& extent) const {
    const IntRange start = known_.Of(range.start), least = known_.Of(extent);
    if (start.lo < 0) return false;
    if (start.hi != IntRange::kMost && start.hi + range.extent <= least.lo) return true;
    if (kernel_.cluster > 1 && !kernel_.SharesTile()) return false;  // there may be blocks past the last one
    return std::any_of(kernel_.axes.begin(), kernel_.axes.end(), [&](const ir::GridAxis& axis) {
      return symbolic::Equal(range.start, symbolic::Name(axis.name)) && symbolic::Equal(axis.hi, extent) &&
             symbolic::IsInt(axis.lo) && axis.lo->int_value == 0 && range.extent <= axis.step &&
             known_.Divisor(extent) % axis.step == 0;
    });
  }

  const ir::Kernel& kernel_;
  KnownRanges known_;
};

}  // namespace

Result<void> MarkAccesses(ir::Kernel& kernel, Diagnostics&) {
  if (!ir::IsAligned(kernel)) return {};  // where rows may begin anywhere, other ways have to be there
  const Marking marking(kernel);
  for (ir::Worker& worker : kernel.workers) {
    if (worker.kind != ir::RoleKind::kCompute) continue;
    ForEachOp(worker.body, [&](Op& op) {
      if (op.code == OpCode::kRead || op.code == OpCode::kStore) marking.Mark(op);
    });
  }
  return {};
}

}  // namespace tkc::passes

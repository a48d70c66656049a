// SPDX-License-Identifier: MIT
#include "compiler/passes/mark_accesses.h"

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/passes/index_facts.h"

namespace tkc::passes {
namespace {

using ir::AxisRange;
using ir::Op;
using ir::OpCode;
using ir::Scalar;

class MarkingAccesses {
 public:
  MarkingAccesses(const ir::Kernel& kernel, const ir::Worker& worker) : kernel_(kernel), facts_(kernel, worker) {}

  void Mark(Op& access) const {
    const ir::TensorParam& tensor = FindTensor(kernel_, access.symbol);
    const bool has_parts = access.code == OpCode::kReadParts || access.code == OpCode::kStoreParts;
    const size_t rank = access.axes.size() - (has_parts ? 1 : 0);  // without the axis that counts parts, all of which are taken
    for (size_t i = 0; i < rank; ++i) {
      AxisRange& axis = access.axes[i];
      axis.exists = !axis.lo && !axis.hi && !axis.chosen && Exists(axis, tensor.extents[i]);
    }
    const bool is_inside = std::all_of(access.axes.begin(), access.axes.begin() + static_cast<std::ptrdiff_t>(rank),
                                       [](const AxisRange& axis) { return axis.exists; });
    const bool is_read = access.code == OpCode::kRead || access.code == OpCode::kReadParts;
    if (is_read && is_inside) access.scalars.clear();  // nothing is filled
    access.axes.back().aligned = IsAligned(access, tensor, rank);
  }

  /// The end of a loop within a block of the grid that is as long as the others: `min(m + 8, M)` is m + 8.
  void MarkEnd(Op& loop) const {
    Scalar& end = loop.scalars[1];
    if (end->kind != symbolic::Kind::kMin) return;
    for (const size_t i : {0, 1}) {
      if (!Exists(end->args[i], 0, end->args[1 - i])) continue;
      end = Scalar(end->args[i]);
      return;
    }
  }

 private:
  using Steps = IndexFacts::Steps;

  /// Whether rows of the access begin at multiples of a vector. A row is made of elements, or of structures.
  bool IsAligned(const Op& access, const ir::TensorParam& tensor, size_t rank) const {
    const auto kept = std::count_if(access.axes.begin(), access.axes.end(), [](const AxisRange& axis) { return !axis.dropped; });
    // A vector turned around is a row as it was.
    if (access.axes[rank - 1].dropped || (access.IsTurned() && kept > 1)) return false;
    if (tensor.is_work) return ir::HasAlignedRows(tensor) && BeginsWithVector(access.axes, tensor, rank);
    return (ir::IsAligned(kernel_) && BeginsWithVector(access.axes, tensor, rank)) ||
           (ir::IsContiguous(kernel_) && LiesAtVectors(access.axes, tensor, rank));
  }

  /// The same, where rows of the tensor do.
  bool BeginsWithVector(const std::vector<AxisRange>& axes, const ir::TensorParam& tensor, size_t rank) const {
    const AxisRange& last = axes[rank - 1];
    const int64_t parts = ir::StructureParts(tensor);
    const int64_t row_bytes = parts * Bytes(tensor.dtype);
    if (rank < axes.size()) return facts_.Divisor(last.start) * row_bytes % typed::kAlignedBytes == 0;
    return facts_.Divisor(last.start) * Bytes(tensor.dtype) % typed::kAlignedBytes == 0 &&
           (parts == 1 || row_bytes % typed::kAlignedBytes == 0);
  }

  /// The same, where the tensor does and has no gaps: then a row may begin anywhere, and the access so many columns before or
  /// behind.
  bool LiesAtVectors(const std::vector<AxisRange>& axes, const ir::TensorParam& tensor, size_t rank) const {
    const auto are_vectors = [&](const Scalar& elements) {
      return facts_.Divisor(facts_.WithoutSteps(elements)) * Bytes(tensor.dtype) % typed::kAlignedBytes == 0;
    };
    Scalar first = symbolic::Int(0);
    for (size_t i = 0; i < axes.size(); ++i) {
      const Scalar stride = ir::ContiguousStride(tensor, i);
      first = symbolic::Add(first, symbolic::Mul(axes[i].start, stride));
      if (i + 1 < rank && (axes[i].extent > 1 || axes[i].chosen) && !are_vectors(stride)) return false;
    }
    return are_vectors(first);
  }

  bool Exists(const AxisRange& range, const Scalar& extent) const {
    return facts_.IsNonNegative(range.start) && Exists(range.start, range.extent, extent);
  }

  /// Whether `count` elements from `start` on end within an axis of `extent` elements: by the bounds of both, or as part of a step
  /// of a loop or of the grid whose last step is as long as the others.
  bool Exists(const Scalar& named, int64_t count, const Scalar& extent) const {
    const Scalar start = facts_.WithoutLets(named);
    const int64_t most = facts_.Of(start).hi;
    if (most != IntRange::kMost && most + count <= facts_.Of(extent).lo) return true;
    if (kernel_.cluster > 1 && !kernel_.SharesTile()) return false;  // there may be blocks past the last one
    return std::any_of(facts_.AllSteps().begin(), facts_.AllSteps().end(), [&](const Steps& steps) {
      const Scalar offset = symbolic::Substitute(start, steps.name, symbolic::Int(0));
      if (!symbolic::Equal(start, symbolic::Add(symbolic::Name(steps.name), offset)) || !EndWithin(steps.name, extent))
        return false;
      const IntRange range = facts_.Of(offset);
      return range.lo >= 0 && range.hi <= steps.step - count;
    });
  }

  /// Whether the name is one of steps only, all of which end within `extent` elements: a worker may give it to several things.
  bool EndWithin(const std::string& name, const Scalar& extent) const {
    const auto ends_within = [&](const Steps& steps) {
      if (steps.name != name) return true;
      const bool are_whole = steps.step == 1 || facts_.Divisor(symbolic::Sub(steps.end, steps.first)) % steps.step == 0;
      return are_whole && (symbolic::Equal(steps.end, extent) || IsLeastOf(steps.end, extent));
    };
    return facts_.IsOfStepsOnly(name) && std::all_of(facts_.AllSteps().begin(), facts_.AllSteps().end(), ends_within);
  }

  /// Whether `least` is the minimum of `scalar` and something else.
  static bool IsLeastOf(const Scalar& least, const Scalar& scalar) {
    return least->kind == symbolic::Kind::kMin &&
           std::any_of(least->args.begin(), least->args.end(), [&](const Scalar& arg) { return symbolic::Equal(arg, scalar); });
  }

  const ir::Kernel& kernel_;
  IndexFacts facts_;
};

}  // namespace

Result<void> MarkAccesses(ir::Kernel& kernel, Diagnostics&) {
  if (!ir::IsAligned(kernel) && !ir::IsContiguous(kernel)) return {};  // where rows may begin anywhere, other ways have to be there
  for (ir::Worker& worker : kernel.workers) {
    const MarkingAccesses marking(kernel, worker);
    const bool computes = worker.Computes();
    ForEachOp(worker.body, [&](Op& op) {
      switch (op.code) {
        case OpCode::kRead:
        case OpCode::kReadParts:
        case OpCode::kStore:
        case OpCode::kStoreParts:
          if (computes) marking.Mark(op);
          return;
        case OpCode::kGather:
          if (computes && ir::GathersRows(op)) marking.Mark(op);
          return;
        case OpCode::kFor: return marking.MarkEnd(op);
        default: return;
      }
    });
  }
  return {};
}

}  // namespace tkc::passes

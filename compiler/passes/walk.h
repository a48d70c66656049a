// SPDX-License-Identifier: MIT
// Walking and querying regions: what the passes share.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "compiler/ir/ir.h"

namespace tkc::passes {

/// Calls `visit` for every operation of the region, outer ones first, in program order.
template <typename RegionType, typename Visit>
void ForEachOp(RegionType& region, const Visit& visit) {
  for (auto& op : region) {
    visit(op);
    for (auto& inner : op.regions) ForEachOp(inner, visit);
  }
}

/// Calls `change` on every scalar of the operation itself.
template <typename Change>
void ForEachScalar(ir::Op& op, const Change& change) {
  for (ir::Scalar& scalar : op.scalars) change(scalar);
  for (ir::AxisRange& axis : op.axes) {
    change(axis.start);
    if (axis.lo) change(axis.lo);
    if (axis.hi) change(axis.hi);
  }
}

/// Whether the operation or one inside it uses `value` (reads it, or changes it in place).
bool Uses(const ir::Op& op, ir::ValueId value);

/// Whether a scalar of the operation, or one that says where it reads or stores, names one of these.
bool NamesScalar(const ir::Op& op, const std::set<std::string>& names);

/// Whether both are absent, or equal.
bool SameScalar(const ir::Scalar& a, const ir::Scalar& b);

/// Whether they are the same elements of an axis.
bool SameRange(const ir::AxisRange& a, const ir::AxisRange& b);

/// Whether two reads bring the same elements, and turned alike, while the tensor and what says where stay as they are.
bool BringSame(const ir::Op& a, const ir::Op& b);

/// Whether the region holds an operation of this code, at any depth.
bool Contains(const ir::Region& region, ir::OpCode code);

/// Whether the operation is such a one, or holds one at any depth.
template <typename IsSuch>
bool Holds(const ir::Op& op, const IsSuch& is_such) {
  const auto holds = [&](const ir::Op& inner) { return Holds(inner, is_such); };
  return is_such(op) || std::any_of(op.regions.begin(), op.regions.end(),
                                    [&](const ir::Region& region) { return std::any_of(region.begin(), region.end(), holds); });
}

/// Whether a part of the scalar, which may be absent, is an element of a tensor.
bool MentionsElement(const ir::Scalar& scalar);

/// Whether the operation itself reads or writes global memory: a tensor's, if only to know a scalar, or the counter of drawn tiles.
bool TouchesTensor(const ir::Op& op);

/// Whether the region holds a matrix product.
bool Multiplies(const ir::Region& region);

/// Moves the operations behind those of `to`.
void Append(ir::Region& to, ir::Region more);

/// Of a loop over tiles that instances take in turn: what an instance does in a tile of its own, and in others.
ir::Region& OwnTurn(ir::Op& tiles);
ir::Region& OthersTurns(ir::Op& tiles);

/// The operations of the region, at any depth, that use `value`.
int CountUses(const ir::Region& region, ir::ValueId value);

/// Whether the operation writes into the view of shared memory that is its first operand.
bool FillsShared(const ir::Op& op);

/// Whether register values written by the operation include `value` (results, and what it changes in place).
bool Writes(const ir::Op& op, ir::ValueId value);

/// Whether the tensor is as it was while the grid runs: what a grid both reads and writes is `inout`.
bool KeepsTensor(const ir::Kernel& kernel, const std::string& name);

const ir::Pipe& FindPipe(const ir::Kernel& kernel, const std::string& name);
ir::Pipe& FindPipe(ir::Kernel& kernel, const std::string& name);
const ir::Buffer& FindBuffer(const ir::Kernel& kernel, const std::string& name);
const ir::TensorParam& FindTensor(const ir::Kernel& kernel, const std::string& name);
const ir::TensorMap& FindMap(const ir::Kernel& kernel, const std::string& name);

/// The name of the buffer that holds field `field` of a pipe.
std::string FieldBuffer(const ir::Pipe& pipe, size_t field);

/// Whether the buffer is a field of some pipe's slots.
bool IsField(const ir::Kernel& kernel, const ir::Buffer& buffer);

/// Of all fields of a slot.
int64_t SlotBytes(const ir::Pipe& pipe);

/// What is left of the shared memory of a block that has `bytes` of it, beside the slots that no pipe can do without and all
/// buffers that are no slots.
int64_t BytesBesideBuffers(const ir::Kernel& kernel, int64_t bytes);

/// The buffer that each view of the region shows: of what is received, of views, and of their parts.
std::map<ir::ValueId, std::string> BuffersOfViews(const ir::Kernel& kernel, const ir::Region& region);

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
// Walking regions and asking about them: what passes, certificate and printer share.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "compiler/ir/ir.h"

namespace tkc::ir {

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
void ForEachScalar(Op& op, const Change& change) {
  for (Scalar& scalar : op.scalars) change(scalar);
  for (AxisRange& axis : op.axes) {
    change(axis.start);
    if (axis.lo) change(axis.lo);
    if (axis.hi) change(axis.hi);
  }
}

/// Whether the operation or one inside it uses `value` (reads it, or changes it in place).
bool Uses(const Op& op, ValueId value);

/// Whether one of the scalars, some of which may be absent, mentions one of the names.
bool MentionsAny(const std::vector<Scalar>& scalars, const std::set<std::string>& names);

/// Whether a scalar of the operation, or one that says where it reads or stores, names one of these.
bool NamesScalar(const Op& op, const std::set<std::string>& names);

/// Adds the names of the scalars that the operation itself gives values to: lets, tests, loops, drawn tiles, tile positions.
void AddScalarsMade(const Op& op, std::set<std::string>& names);

/// Whether the operation gives a scalar a value that `other` names.
bool DefinesScalarOf(const Op& op, const Op& other);

/// Whether the two are equal, or both absent.
bool SameScalar(const Scalar& a, const Scalar& b);

/// Whether both ranges are the same elements of an axis.
bool SameRange(const AxisRange& a, const AxisRange& b);

/// Whether two reads bring the same elements the same way around, as long as neither the tensor nor the scalars that say where
/// change between them.
bool BringSame(const Op& a, const Op& b);

/// Whether the region contains an operation of this code, at any depth.
bool Contains(const Region& region, OpCode code);

/// Whether `is_such` is true of the operation or of one inside it, at any depth.
template <typename IsSuch>
bool Holds(const Op& op, const IsSuch& is_such) {
  const auto holds = [&](const Op& inner) { return Holds(inner, is_such); };
  return is_such(op) || std::any_of(op.regions.begin(), op.regions.end(),
                                    [&](const Region& region) { return std::any_of(region.begin(), region.end(), holds); });
}

template <typename IsSuch>
bool Holds(const Region& region, const IsSuch& is_such) {
  return std::any_of(region.begin(), region.end(), [&](const Op& op) { return Holds(op, is_such); });
}

/// Whether the operation itself reads or writes global memory: a tensor's, if only to know a scalar, or the counter of drawn tiles.
bool TouchesTensor(const Op& op);

/// Whether the region holds a matrix product.
bool Multiplies(const Region& region);

/// In a loop over tiles that instances take in turn: what an instance does for a tile of its own, and for a tile of another.
Region& OwnTurn(Op& tiles);
Region& OthersTurns(Op& tiles);

/// The operations of the region, at any depth, that use `value`.
int CountUses(const Region& region, ValueId value);

/// Whether the operation makes `value` or changes it in place.
bool Writes(const Op& op, ValueId value);

/// Whether what is read of the tensor stays the same while the grid runs: a tensor that a grid both reads and writes is `inout`.
bool KeepsTensor(const Kernel& kernel, const std::string& name);

const Pipe& FindPipe(const Kernel& kernel, const std::string& name);
Pipe& FindPipe(Kernel& kernel, const std::string& name);
const Buffer& FindBuffer(const Kernel& kernel, const std::string& name);
const TensorParam& FindTensor(const Kernel& kernel, const std::string& name);
const TensorMap& FindMap(const Kernel& kernel, const std::string& name);

/// Whether the region sends into the pipe, or receives from it, at any depth.
bool SendsInto(const Region& region, const std::string& pipe);
bool ReceivesFrom(const Region& region, const std::string& pipe);

/// Which field of the slot operand `number` of a send, or result `number` of a receive, is.
size_t FieldOf(const Op& traffic, size_t number);

/// The name of the buffer that holds field `field` of a pipe.
std::string FieldBuffer(const Pipe& pipe, size_t field);

/// Whether the buffer is a field of some pipe's slots.
bool IsField(const Kernel& kernel, const Buffer& buffer);

/// Bytes of one slot, with all its fields.
int64_t SlotBytes(const Pipe& pipe);

/// How much of a block's `bytes` of shared memory is left once each pipe has its fewest slots and every other buffer is placed.
int64_t BytesBesideBuffers(const Kernel& kernel, int64_t bytes);

/// For each value of the region that shows shared memory (received, a view, or a part of one), the name of its buffer.
std::map<ValueId, std::string> BuffersOfViews(const Kernel& kernel, const Region& region);

}  // namespace tkc::ir

// SPDX-License-Identifier: MIT
// What a kernel's operations mention: decides which parameters it gets and which scalars need no variable.
#include <algorithm>

#include "compiler/codegen/emit_op.h"
#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"

namespace tkc::codegen {

using ir::OpCode;

void KernelUses::Scalar(const ir::Scalar& scalar) {
  if (!scalar) return;
  if (scalar->kind == symbolic::Kind::kName) names.insert(scalar->name);
  if (scalar->kind == symbolic::Kind::kElement) tensors.insert(scalar->name);
  const bool divides = (scalar->kind == symbolic::Kind::kDiv || scalar->kind == symbolic::Kind::kMod) && !IsFloat(scalar->dtype);
  if (divides && scalar->args[1]->kind == symbolic::Kind::kName) divided_by_.insert(scalar->args[1]->name);
  for (const ir::Scalar& arg : scalar->args) Scalar(arg);
}

bool IsUnusedScalar(const ir::Op& op, const std::set<std::string, std::less<>>& used) {
  if (op.code == OpCode::kTilePosition) {
    const auto [row, col] = ir::NamesOfPosition(op);
    return !used.contains(row) && !used.contains(col);
  }
  return (op.code == OpCode::kTest || op.code == OpCode::kLet) && !used.contains(op.symbol);
}

/// Backwards, so that a `let` or a read is seen after all its uses and counts only if it has one.
void KernelUses::Region(const ir::Region& region) {
  for (auto op = region.rbegin(); op != region.rend(); ++op) {
    for (auto inner = op->regions.rbegin(); inner != op->regions.rend(); ++inner) Region(*inner);
    if (IsUnusedScalar(*op, names)) continue;
    if (IsPure(*op) && values[op->results[0]] == 0) continue;
    for (ir::ValueId value : op->operands) ++values[value];
    for (const ir::Scalar& scalar : op->scalars) Scalar(scalar);
    if (const std::string instance = ir::PlaceOfSlot(op->SlotIfAny()).instance; !instance.empty()) names.insert(instance);
    for (const ir::AxisRange& axis : op->axes) {
      Scalar(axis.start);
      Scalar(axis.lo);
      Scalar(axis.hi);
    }
    const bool names_tensor = op->code == OpCode::kPieces || (ir::AccessesGlobal(op->code) && !ir::IsEngineCopy(op->code));
    if (names_tensor) tensors.insert(op->code == OpCode::kDrawTile ? op->Counter() : op->symbol);
    if (op->code == OpCode::kRing) rings.insert(op->symbol);
  }
}

const Target& TargetOf(const ir::Kernel& kernel) {
  const Target* target = FindTarget(kernel.target);
  return target ? *target : Targets().front();
}

namespace {

/// Whether anything but its own changes mentions a scalar.
bool IsMentioned(const std::string& name, const ir::Region& region) {
  const auto names_it = [&](const ir::Scalar& scalar) { return scalar && symbolic::Mentions(scalar, name); };
  return std::any_of(region.begin(), region.end(), [&](const ir::Op& op) {
    if (op.code == OpCode::kLet && op.symbol == name) return false;
    if (op.SlotIfAny() == name || ir::PlaceOfSlot(op.SlotIfAny()).instance == name) return true;
    const auto is_at = [&](const ir::AxisRange& axis) { return names_it(axis.start) || names_it(axis.lo) || names_it(axis.hi); };
    return std::any_of(op.scalars.begin(), op.scalars.end(), names_it) || std::any_of(op.axes.begin(), op.axes.end(), is_at) ||
           std::any_of(op.regions.begin(), op.regions.end(), [&](const ir::Region& inner) { return IsMentioned(name, inner); });
  });
}

/// Whether a buffer is used of which each instance has one of its own.
bool UsesOwnBuffer(const ir::Kernel& kernel, const ir::Region& region) {
  bool uses = false;
  ir::ForEachOp(region, [&](const ir::Op& op) {
    const auto is_it = [&](const ir::Buffer& buffer) { return buffer.name == op.symbol && buffer.instances > 1; };
    uses |= (op.code == OpCode::kView || ir::ReducesOrScans(op.code)) &&
            std::any_of(kernel.buffers.begin(), kernel.buffers.end(), is_it);
  });
  return uses;
}

}  // namespace

KernelUses::KernelUses(const ir::Kernel& kernel) : values(kernel.values.size(), 0) {
  std::set<std::string, std::less<>> all;
  for (const ir::Worker& role : kernel.workers) {
    names.clear();  // a role's own: what another one needs is no use of it
    // In a loop what changes a number may stand behind what reads it.
    ir::ForEachOp(role.body, [&](const ir::Op& op) {
      if (op.code == OpCode::kLet && op.Is(ir::kMayChange) && IsMentioned(op.symbol, role.body)) names.insert(op.symbol);
    });
    Region(role.body);
    all.insert(names.begin(), names.end());
    names_of[&role] = std::move(names);
  }
  names = std::move(all);
  for (const auto& [name, count] : kernel.launch_lets) {
    if (divided_by_.contains(name)) divisors.insert(name);
  }
}

std::string InstanceName(const ir::Kernel& kernel, const ir::Worker& role) {
  return role.instance_name.empty() ? kernel.UsedNames().Free("w") : role.instance_name;
}

bool UsesInstance(const ir::Kernel& kernel, const ir::Worker& role) {
  if (!role.warps_meet.empty() && role.instances > 1) return true;
  return UsesOwnBuffer(kernel, role.body) || IsMentioned(InstanceName(kernel, role), role.body);
}

}  // namespace tkc::codegen

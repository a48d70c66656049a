// SPDX-License-Identifier: MIT
#include "compiler/ir/queries.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/ir/op_traits.h"
#include "compiler/support/internal_error.h"

namespace tkc::ir {
namespace {

template <typename List>
auto& Named(List& list, const std::string& name, const char* what) {
  if (auto* item = FindNamed(list, name)) return *item;
  InternalError(fmt::format("no {} named {}", what, name));
}

Op& TurnOf(Op& tiles) {
  const auto is_turn = [&](const Op& op) { return op.code == OpCode::kIf && symbolic::Mentions(op.scalars[0], tiles.WhoseTurn()); };
  const auto turn = std::find_if(tiles.regions[0].begin(), tiles.regions[0].end(), is_turn);
  Ensure(turn != tiles.regions[0].end(), "a loop of turns without the turn", tiles.span);
  return *turn;
}

}  // namespace

bool Uses(const Op& op, ValueId value) {
  return Holds(op,
               [&](const Op& each) { return std::find(each.operands.begin(), each.operands.end(), value) != each.operands.end(); });
}

bool MentionsAny(const std::vector<Scalar>& scalars, const std::set<std::string>& names) {
  return std::any_of(scalars.begin(), scalars.end(), [&](const Scalar& scalar) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return symbolic::Mentions(scalar, name); });
  });
}

bool NamesScalar(const Op& op, const std::set<std::string>& names) {
  return MentionsAny(op.scalars, names) || std::any_of(op.axes.begin(), op.axes.end(), [&](const AxisRange& axis) {
           return MentionsAny({axis.start, axis.lo, axis.hi}, names);
         });
}

void AddScalarsMade(const Op& op, std::set<std::string>& names) {
  ForEachScalarDefined(op, [&](const std::string& name) { names.insert(name); });
  if (IsLoop(op.code)) names.insert(op.symbol);
  if (op.code == OpCode::kForTiles && op.TakesTurns()) names.insert(op.WhoseTurn());
}

bool DefinesScalarOf(const Op& op, const Op& other) {
  bool defines = false;
  ForEachScalarDefined(op, [&](const std::string& name) { defines |= NamesScalar(other, {name}); });
  return defines;
}

bool SameScalar(const Scalar& a, const Scalar& b) { return a && b ? symbolic::Equal(a, b) : !a && !b; }

bool SameRange(const AxisRange& a, const AxisRange& b) {
  return SameScalar(a.start, b.start) && a.extent == b.extent && a.dropped == b.dropped && SameScalar(a.lo, b.lo) &&
         SameScalar(a.hi, b.hi) && a.is_slice == b.is_slice;
}

bool BringSame(const Op& a, const Op& b) {
  return a.symbol == b.symbol && a.raw_slot == b.raw_slot && a.raw_number == b.raw_number &&
         std::equal(a.axes.begin(), a.axes.end(), b.axes.begin(), b.axes.end(), SameRange) &&
         std::equal(a.scalars.begin(), a.scalars.end(), b.scalars.begin(), b.scalars.end(), SameScalar);
}

bool Contains(const Region& region, OpCode code) {
  return Holds(region, [&](const Op& op) { return op.code == code; });
}

bool TouchesTensor(const Op& op) {
  const auto mentions = [](const AxisRange& axis) {
    return symbolic::MentionsElement(axis.start) || symbolic::MentionsElement(axis.lo) || symbolic::MentionsElement(axis.hi);
  };
  return AccessesGlobal(op.code) || std::any_of(op.scalars.begin(), op.scalars.end(), symbolic::MentionsElement) ||
         std::any_of(op.axes.begin(), op.axes.end(), mentions);
}

bool Multiplies(const Region& region) {
  return Holds(region, [](const Op& op) { return IsProduct(op.code); });
}

Region& OwnTurn(Op& tiles) { return TurnOf(tiles).regions[0]; }
Region& OthersTurns(Op& tiles) { return TurnOf(tiles).regions[1]; }

int CountUses(const Region& region, ValueId value) {
  int count = 0;
  ForEachOp(region, [&](const Op& op) { count += static_cast<int>(std::count(op.operands.begin(), op.operands.end(), value)); });
  return count;
}

bool Writes(const Op& op, ValueId value) {
  if (std::find(op.results.begin(), op.results.end(), value) != op.results.end()) return true;
  return (Assigns(op.code) || AddsProduct(op.code)) && op.operands[0] == value;
}

bool KeepsTensor(const Kernel& kernel, const std::string& name) {
  return FindTensor(kernel, name).mode != typed::TensorMode::kInOut;
}

const Pipe& FindPipe(const Kernel& kernel, const std::string& name) { return Named(kernel.pipes, name, "pipe"); }
Pipe& FindPipe(Kernel& kernel, const std::string& name) { return Named(kernel.pipes, name, "pipe"); }
const Buffer& FindBuffer(const Kernel& kernel, const std::string& name) { return Named(kernel.buffers, name, "buffer"); }
const TensorParam& FindTensor(const Kernel& kernel, const std::string& name) { return Named(kernel.tensors, name, "tensor"); }
const TensorMap& FindMap(const Kernel& kernel, const std::string& name) { return Named(kernel.maps, name, "map"); }

bool SendsInto(const Region& region, const std::string& pipe) {
  return Holds(region, [&](const Op& op) { return op.code == OpCode::kSend && op.symbol == pipe; });
}

bool ReceivesFrom(const Region& region, const std::string& pipe) {
  return Holds(region, [&](const Op& op) { return op.code == OpCode::kReceive && op.symbol == pipe; });
}

size_t FieldOf(const Op& traffic, size_t number) {
  return traffic.code == OpCode::kSend && !traffic.SendsAllFields() ? static_cast<size_t>(traffic.Field()) : number;
}

std::string FieldBuffer(const Pipe& pipe, size_t field) {
  const std::string& name = pipe.fields[field].name;
  if (!name.empty()) return pipe.name + "_" + name;
  return pipe.fields.size() == 1 ? pipe.name + "_slot" : pipe.name + "_" + std::to_string(field);
}

int64_t SlotBytes(const Pipe& pipe) {
  int64_t bytes = 0;
  for (const PipeField& field : pipe.fields) bytes += field.Bytes();
  return bytes;
}

std::map<ValueId, std::string> BuffersOfViews(const Kernel& kernel, const Region& region) {
  std::map<ValueId, std::string> buffers;
  ForEachOp(region, [&](const Op& op) {
    if (op.code == OpCode::kReceive) {
      const Pipe& pipe = FindPipe(kernel, op.symbol);
      for (size_t i = 0; i < op.results.size(); ++i) buffers[op.results[i]] = FieldBuffer(pipe, i);
    }
    if (op.code == OpCode::kView) buffers[op.results[0]] = op.symbol;
    if (IsPartOrTranspose(op.code)) {
      const auto under = buffers.find(op.operands[0]);
      if (under != buffers.end()) buffers[op.results[0]] = std::string(under->second);
    }
  });
  return buffers;
}

bool IsField(const Kernel& kernel, const Buffer& buffer) {
  for (const Pipe& pipe : kernel.pipes) {
    for (size_t i = 0; i < pipe.fields.size(); ++i) {
      if (FieldBuffer(pipe, i) == buffer.name) return true;
    }
  }
  return false;
}

int64_t BytesBesideBuffers(const Kernel& kernel, int64_t bytes) {
  for (const Pipe& pipe : kernel.pipes) bytes -= SlotBytes(pipe) * pipe.rings * pipe.least_slots;
  for (const Buffer& buffer : kernel.buffers) {
    if (!IsField(kernel, buffer)) bytes -= buffer.TileBytes() * buffer.count * buffer.instances;
  }
  return bytes;
}

}  // namespace tkc::ir

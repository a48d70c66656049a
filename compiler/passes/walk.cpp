// SPDX-License-Identifier: MIT
#include "compiler/passes/walk.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "compiler/ir/op_traits.h"
#include "compiler/support/internal_error.h"

namespace tkc::passes {
namespace {

template <typename List>
auto& Named(List& list, const std::string& name, const char* what) {
  if (auto* item = ir::FindNamed(list, name)) return *item;
  InternalError(fmt::format("no {} named {}", what, name));
}

ir::Op& TurnOf(ir::Op& tiles) {
  const auto is_turn = [&](const ir::Op& op) {
    return op.code == ir::OpCode::kIf && symbolic::Mentions(op.scalars[0], tiles.slot);
  };
  const auto turn = std::find_if(tiles.regions[0].begin(), tiles.regions[0].end(), is_turn);
  Ensure(turn != tiles.regions[0].end(), "a loop of turns without the turn", tiles.span);
  return *turn;
}

}  // namespace

bool Uses(const ir::Op& op, ir::ValueId value) {
  if (std::find(op.operands.begin(), op.operands.end(), value) != op.operands.end()) return true;
  for (const ir::Region& region : op.regions) {
    for (const ir::Op& inner : region) {
      if (Uses(inner, value)) return true;
    }
  }
  return false;
}

bool NamesScalar(const ir::Op& op, const std::set<std::string>& names) {
  const auto is_named = [&](const ir::Scalar& scalar) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return symbolic::Mentions(scalar, name); });
  };
  return std::any_of(op.scalars.begin(), op.scalars.end(), is_named) ||
         std::any_of(op.axes.begin(), op.axes.end(),
                     [&](const ir::AxisRange& axis) { return is_named(axis.start) || is_named(axis.lo) || is_named(axis.hi); });
}

bool SameScalar(const ir::Scalar& a, const ir::Scalar& b) { return a && b ? symbolic::Equal(a, b) : !a && !b; }

bool SameRange(const ir::AxisRange& a, const ir::AxisRange& b) {
  return SameScalar(a.start, b.start) && a.extent == b.extent && a.dropped == b.dropped && SameScalar(a.lo, b.lo) &&
         SameScalar(a.hi, b.hi) && a.is_slice == b.is_slice;
}

bool BringSame(const ir::Op& a, const ir::Op& b) {
  return a.symbol == b.symbol && a.slot == b.slot && a.number == b.number &&
         std::equal(a.axes.begin(), a.axes.end(), b.axes.begin(), b.axes.end(), SameRange) &&
         std::equal(a.scalars.begin(), a.scalars.end(), b.scalars.begin(), b.scalars.end(), SameScalar);
}

bool Contains(const ir::Region& region, ir::OpCode code) {
  bool found = false;
  ForEachOp(region, [&](const ir::Op& op) { found |= op.code == code; });
  return found;
}

bool MentionsElement(const ir::Scalar& scalar) {
  return scalar &&
         (scalar->kind == symbolic::Kind::kElement || std::any_of(scalar->args.begin(), scalar->args.end(), MentionsElement));
}

bool TouchesTensor(const ir::Op& op) {
  const auto mentions = [](const ir::AxisRange& axis) {
    return MentionsElement(axis.start) || MentionsElement(axis.lo) || MentionsElement(axis.hi);
  };
  return ir::AccessesGlobal(op.code) || std::any_of(op.scalars.begin(), op.scalars.end(), MentionsElement) ||
         std::any_of(op.axes.begin(), op.axes.end(), mentions);
}

bool Multiplies(const ir::Region& region) {
  bool found = false;
  ForEachOp(region, [&](const ir::Op& op) { found |= ir::IsProduct(op.code); });
  return found;
}

void Append(ir::Region& to, ir::Region more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

ir::Region& OwnTurn(ir::Op& tiles) { return TurnOf(tiles).regions[0]; }
ir::Region& OthersTurns(ir::Op& tiles) { return TurnOf(tiles).regions[1]; }

int CountUses(const ir::Region& region, ir::ValueId value) {
  int count = 0;
  ForEachOp(region,
            [&](const ir::Op& op) { count += static_cast<int>(std::count(op.operands.begin(), op.operands.end(), value)); });
  return count;
}

bool FillsShared(const ir::Op& op) {
  switch (op.code) {
    case ir::OpCode::kPutTile:
    case ir::OpCode::kPutTileCluster:
    case ir::OpCode::kStoreShared:
    case ir::OpCode::kStoreCluster:
    case ir::OpCode::kCopyToShared:
    case ir::OpCode::kCopyAsync:
    case ir::OpCode::kLoadAsync:
    case ir::OpCode::kLoadRows:
    case ir::OpCode::kLoadMulticast:
    case ir::OpCode::kLoadRowsMulticast: return true;
    default: return false;
  }
}

bool Writes(const ir::Op& op, ir::ValueId value) {
  if (std::find(op.results.begin(), op.results.end(), value) != op.results.end()) return true;
  return (ir::Assigns(op.code) || ir::AddsProduct(op.code)) && op.operands[0] == value;
}

bool KeepsTensor(const ir::Kernel& kernel, const std::string& name) {
  return FindTensor(kernel, name).mode != typed::TensorMode::kInOut;
}

const ir::Pipe& FindPipe(const ir::Kernel& kernel, const std::string& name) { return Named(kernel.pipes, name, "pipe"); }
ir::Pipe& FindPipe(ir::Kernel& kernel, const std::string& name) { return Named(kernel.pipes, name, "pipe"); }
const ir::Buffer& FindBuffer(const ir::Kernel& kernel, const std::string& name) { return Named(kernel.buffers, name, "buffer"); }
const ir::TensorParam& FindTensor(const ir::Kernel& kernel, const std::string& name) {
  return Named(kernel.tensors, name, "tensor");
}
const ir::TensorMap& FindMap(const ir::Kernel& kernel, const std::string& name) { return Named(kernel.maps, name, "map"); }

std::string FieldBuffer(const ir::Pipe& pipe, size_t field) {
  const std::string& name = pipe.fields[field].name;
  if (!name.empty()) return pipe.name + "_" + name;
  return pipe.fields.size() == 1 ? pipe.name + "_slot" : pipe.name + "_" + std::to_string(field);
}

int64_t SlotBytes(const ir::Pipe& pipe) {
  int64_t bytes = 0;
  for (const ir::PipeField& field : pipe.fields) bytes += field.rows * field.cols * Bytes(field.dtype);
  return bytes;
}

std::map<ir::ValueId, std::string> BuffersOfViews(const ir::Kernel& kernel, const ir::Region& region) {
  std::map<ir::ValueId, std::string> buffers;
  ForEachOp(region, [&](const ir::Op& op) {
    if (op.code == ir::OpCode::kReceive) {
      const ir::Pipe& pipe = FindPipe(kernel, op.symbol);
      for (size_t i = 0; i < op.results.size(); ++i) buffers[op.results[i]] = FieldBuffer(pipe, i);
    }
    if (op.code == ir::OpCode::kView) buffers[op.results[0]] = op.symbol;
    if (ir::IsPartOrTranspose(op.code)) {
      const auto under = buffers.find(op.operands[0]);
      if (under != buffers.end()) buffers[op.results[0]] = std::string(under->second);
    }
  });
  return buffers;
}

bool IsField(const ir::Kernel& kernel, const ir::Buffer& buffer) {
  for (const ir::Pipe& pipe : kernel.pipes) {
    for (size_t i = 0; i < pipe.fields.size(); ++i) {
      if (FieldBuffer(pipe, i) == buffer.name) return true;
    }
  }
  return false;
}

int64_t BytesBesideBuffers(const ir::Kernel& kernel, int64_t bytes) {
  for (const ir::Pipe& pipe : kernel.pipes) bytes -= SlotBytes(pipe) * pipe.rings * pipe.least_slots;
  for (const ir::Buffer& buffer : kernel.buffers) {
    if (!IsField(kernel, buffer)) bytes -= buffer.TileBytes() * buffer.count * buffer.instances;
  }
  return bytes;
}

}  // namespace tkc::passes

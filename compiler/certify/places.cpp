// SPDX-License-Identifier: MIT
#include "compiler/certify/places.h"

#include <algorithm>

#include "compiler/certify/sets_apart.h"
#include "compiler/ir/derived_names.h"
#include "compiler/ir/op_traits.h"

namespace tkc::certify {

using ir::Op;
using ir::OpCode;

void Places::NotKnown(const Op& op, std::string what) { program_.unknowns.push_back({op.span, std::move(what)}); }

void Places::Derive(const Op& op) {
  const auto base = views_.find(op.operands[0]);
  if (base == views_.end()) return NotKnown(op, "a part of what is no view");
  View view = base->second;
  if (op.code == OpCode::kTranspose) {
    view.is_transposed = !view.is_transposed;
  } else if (view.is_reshaped) {
    view.is_exact = false;  // anywhere in the view
  } else {
    const ir::Type& type = kernel_.TypeOf(op.results[0]);
    const std::optional<int64_t> row = Constant(scope_.Resolve(op.scalars[0])), col = Constant(scope_.Resolve(op.scalars[1]));
    // A place that is not known here is taken to be anywhere in the view.
    int64_t r = row.value_or(0), c = col.value_or(0), rows = type.rows, cols = type.cols;
    const Rect& whole = base->second.rect;
    if (view.is_transposed) {
      std::swap(r, c);
      std::swap(rows, cols);
    }
    const bool knows_rows = view.is_transposed ? col.has_value() : row.has_value();
    const bool knows_cols = view.is_transposed ? row.has_value() : col.has_value();
    if (knows_rows) view.rect.r0 = whole.r0 + r, view.rect.r1 = view.rect.r0 + rows;
    if (knows_cols) view.rect.c0 = whole.c0 + c, view.rect.c1 = view.rect.c0 + cols;
    view.is_exact = view.is_exact && (knows_rows || rows == whole.r1 - whole.r0) && (knows_cols || cols == whole.c1 - whole.c0);
    if (!whole.Covers(view.rect)) NotKnown(op, "a part that lies outside its tile");
  }
  views_[op.results[0]] = view;
}

int Places::RingOf(const Op& op, const std::string& slot, int64_t* offset) {
  const ir::SlotPlace place = ir::PlaceOfSlot(slot);
  *offset = place.where == ir::SlotPlace::Where::kPrevious ? -1 : place.ahead;
  if (!place.ahead_name.empty()) {
    *offset = Constant(scope_.Resolve(symbolic::Name(place.ahead_name))).value_or(-1);
    if (*offset < 0) NotKnown(op, "how many slots ahead is meant");
  }
  for (size_t i = 0; i < agent_.rings.size(); ++i) {
    if (agent_.rings[i].symbol == place.ring) return static_cast<int>(i);
  }
  return -1;
}

int Places::BarrierOf(const std::string& name) const {
  for (size_t i = 0; i < kernel_.barriers.size(); ++i) {
    if (kernel_.barriers[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

int Places::BufferOf(const std::string& name) const {
  for (size_t i = 0; i < kernel_.buffers.size(); ++i) {
    if (kernel_.buffers[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

std::string Places::ArrayOf(const Op& op, const std::string& array) const {
  const std::string instance = ir::PlaceOfSlot(op.Slot()).instance;
  if (instance.empty()) return array;
  return NameInSet(WithoutSet(array), Constant(scope_.Resolve(symbolic::Name(instance))).value_or(-1));
}

void Places::ElementOf(const Op& op, Step& step, size_t scalar) {
  if (!op.Slot().empty()) {
    step.ring = RingOf(op, op.Slot(), &step.offset);
    if (step.ring < 0 && op.code == OpCode::kView) step.ring = RingOf(op, "@" + op.symbol, &step.offset);
    if (step.ring >= 0) return;
    // A pipe of one slot needs no ring.
    if (op.code == OpCode::kView && kernel_.buffers[static_cast<size_t>(step.buffer)].count == 1) return;
    const std::optional<int64_t> element = Constant(scope_.Resolve(symbolic::Name(op.Slot())));
    if (!element) return NotKnown(op, "which element is meant");
    step.element = *element;
    return;
  }
  if (op.scalars.size() <= scalar) return;
  const std::optional<int64_t> element = Constant(scope_.Resolve(op.scalars[scalar]));
  if (!element) return NotKnown(op, "which element is meant");
  step.element = *element;
}

void Places::BlockOf(const Op& op, Step& step) {
  const std::optional<int64_t> block = Constant(scope_.Resolve(op.scalars[0]));
  if (!block || *block < 0 || *block >= program_.blocks) return NotKnown(op, "in which block it arrives");
  step.block = static_cast<int>(*block);
}

bool Places::FillBarrier(const Op& op, Step& step, const std::string& name) {
  step.barrier = BarrierOf(name);
  if (step.barrier < 0) NotKnown(op, "whose slot is meant");
  return step.barrier >= 0;
}

void Places::FillView(const Op& op, Step& step) {
  step.buffer = BufferOf(ArrayOf(op, op.symbol));
  if (step.buffer < 0) return NotKnown(op, "whose slot is meant");
  step.root = agent_.roots++;
  ElementOf(op, step, 0);
  agent_.ring_of_root.push_back(step.ring);
  agent_.leads.push_back(step.ring >= 0 && step.offset < 0 ? agent_.rings[static_cast<size_t>(step.ring)].slots : 0);
  const ir::Buffer& buffer = kernel_.buffers[static_cast<size_t>(step.buffer)];
  const ir::Type& type = kernel_.TypeOf(op.results[0]);
  const bool is_reshaped = type.rows != buffer.rows && type.cols != buffer.cols;
  views_[op.results[0]] = {step.root, {0, buffer.rows, 0, buffer.cols}, false, is_reshaped};
}

void Places::FillAdvance(const Op& op, Step& step) {
  step.ring = RingOf(op, op.symbol, &step.offset);
  if (op.scalars.empty()) return;
  const std::optional<int64_t> amount = Constant(scope_.Resolve(op.scalars[0]));
  if (!amount) return NotKnown(op, "how many slots are passed over");
  step.amount = *amount;
}

void Places::FillNamed(const Op& op, Step& step) {
  if (op.scalars.empty()) return;
  const std::optional<int64_t> id = Constant(scope_.Resolve(op.scalars[0]));
  if (!id) return NotKnown(op, "which named barrier is meant");
  step.element = *id;
}

void Places::AddAccesses(const Op& op, Step& step) {
  for (const ir::ValueId value : op.operands) {
    const auto view = views_.find(value);
    if (view != views_.end())
      step.accesses.push_back({view->second.root, view->second.rect, view->second.is_exact});
    else if (kernel_.TypeOf(value).space == ir::Space::kShared)
      NotKnown(op, "a view that was never made");
  }
}

void Places::Fill(const Op& op, Step& step) {
  switch (op.code) {
    case OpCode::kView: return FillView(op, step);
    case OpCode::kAdvance: return FillAdvance(op, step);
    case OpCode::kSyncRole:
    case OpCode::kNamedSync:
    case OpCode::kNamedArrive: return FillNamed(op, step);
    case OpCode::kWaitFull:
    case OpCode::kWaitEmpty:
    case OpCode::kExpect:
    case OpCode::kArrive:
      if (!FillBarrier(op, step, ArrayOf(op, op.symbol))) return;
      ElementOf(op, step, op.scalars.size());
      if (!op.scalars.empty()) BlockOf(op, step);
      return;
    case OpCode::kSplitWait:
    case OpCode::kSplitSend:
    case OpCode::kSplitCollect:
      if (!FillBarrier(op, step, op.code == OpCode::kSplitWait ? op.symbol : ir::SharesBarrier(op.symbol))) return;
      step.buffer = BufferOf(op.symbol);
      ElementOf(op, step, 0);
      return;
    case OpCode::kLoadAsync:
    case OpCode::kLoadRows:
    case OpCode::kLoadMulticast:
    case OpCode::kLoadRowsMulticast:
      if (!FillBarrier(op, step, ArrayOf(op, kernel_.barriers[static_cast<size_t>(op.Barrier())].name))) return;
      if (!op.Slot().empty()) ElementOf(op, step, op.scalars.size());
      return AddAccesses(op, step);
    case OpCode::kStoreCluster:
    case OpCode::kPutTileCluster:
      if (!FillBarrier(op, step, op.symbol)) return;
      ElementOf(op, step, op.scalars.size());
      return AddAccesses(op, step);
    case OpCode::kReduce:
    case OpCode::kReduceThreads:
    case OpCode::kCumsum:
      if (!op.symbol.empty()) step.buffer = BufferOf(op.symbol);
      return AddAccesses(op, step);
    default:
      AddAccesses(op, step);
      if (!step.accesses.empty() && !ir::IsReplayed(op.code)) NotKnown(op, "what an operation on registers does to shared memory");
      return;
  }
}

}  // namespace tkc::certify

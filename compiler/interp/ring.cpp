// SPDX-License-Identifier: MIT
#include "compiler/interp/ring.h"

#include <algorithm>

#include "compiler/interp/operators.h"

namespace tkc::interp {

using typed::Type;

Ring::Ring(const typed::Pipe& pipe, int64_t consumers)
    : pipe_(pipe), limit_(pipe.slots > 0 ? pipe.slots : kDefaultSlots), received_(static_cast<size_t>(consumers), 0) {}

bool Ring::IsFree(const Slot& slot, const std::vector<RingPart>& parts) const {
  for (const RingPart& part : parts) {
    const Type& shape = part.value.type();
    for (const Rectangle& other : slot.filled) {
      const bool apart = part.field != other.field || part.row >= other.row + other.rows || other.row >= part.row + shape.rows ||
                         part.col >= other.col + other.cols || other.col >= part.col + shape.cols;
      if (!apart) return false;
    }
  }
  return true;
}

bool Ring::TrySend(const std::vector<RingPart>& parts) {
  size_t index = 0;
  while (index < slots_.size() && !IsFree(slots_[index], parts)) ++index;
  if (index == slots_.size()) {
    if (held() >= limit_) return false;
    Slot& slot = slots_.emplace_back();
    for (const typed::PipeField& field : pipe_.fields) {
      slot.fields.push_back(Value::Zero(Type::Tile(field.dtype, field.rows, field.cols)));
      slot.missing += field.rows * field.cols;
    }
  }
  Slot& slot = slots_[index];
  for (const RingPart& part : parts) {
    const Type& shape = part.value.type();
    Value& field = slot.fields[part.field];
    const bool whole = shape.rows == field.type().rows && shape.cols == field.type().cols;
    if (whole && part.value.type() == field.type()) {
      field = part.value;  // shares the elements
    } else {
      AssignPart(field, part.row, part.col, part.value);
    }
    slot.filled.push_back({part.field, part.row, part.col, shape.rows, shape.cols});
    slot.missing -= shape.rows * shape.cols;
  }
  return true;
}

bool Ring::TryReceive(int64_t consumer, std::vector<Value>& fields) {
  int64_t& next = received_[static_cast<size_t>(consumer)];
  const auto index = static_cast<size_t>(next - first_);
  if (index >= slots_.size() || slots_[index].missing > 0) return false;
  fields = slots_[index].fields;
  ++next;
  DropReceived();
  return true;
}

void Ring::DropReceived() {
  const int64_t oldest = *std::min_element(received_.begin(), received_.end());
  while (first_ < oldest) {
    slots_.pop_front();
    ++first_;
  }
}

bool Ring::IsPartlyFilled(int64_t consumer) const {
  const auto index = static_cast<size_t>(received_[static_cast<size_t>(consumer)] - first_);
  return index < slots_.size() && slots_[index].missing > 0;
}

bool Ring::WaitsFor(int64_t consumer) const { return !slots_.empty() && received_[static_cast<size_t>(consumer)] == first_; }

}  // namespace tkc::interp

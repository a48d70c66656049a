// SPDX-License-Identifier: MIT
// One bounded ring of a pipe: slots in order of sequence numbers 0, 1, 2, ... A slot is a set of parts: it is full when
// the parts sent cover every field. Every consumer receives every slot; a slot is free when all have. A ring knows
// nothing of fibers: it says whether an operation can proceed now.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "compiler/interp/value.h"
#include "compiler/sema/typed.h"

namespace tkc::interp {

inline constexpr int64_t kDefaultSlots = 2;

/// A rectangle of one field, about to be sent.
struct RingPart {
  size_t field = 0;
  int64_t row = 0;
  int64_t col = 0;
  Value value;
};

class Ring {
 public:
  /// `consumers`: how many instances receive from this ring.
  Ring(const typed::Pipe& pipe, int64_t consumers);

  /// Puts the parts into the first slot in which their places are still empty; false if that slot is not free yet.
  bool TrySend(const std::vector<RingPart>& parts);
  /// The next slot for `consumer` (0 ..), one value per field; false if it is not full yet.
  bool TryReceive(int64_t consumer, std::vector<Value>& fields);

  /// No slot is filled, not even in part, and every consumer has received every slot.
  bool IsEmpty() const { return slots_.empty(); }
  int64_t slot_limit() const { return limit_; }
  /// Slots that are filled, at least in part, and not yet free.
  int64_t held() const { return static_cast<int64_t>(slots_.size()); }
  /// Whether the next slot for `consumer` has some of its parts, but not all.
  bool IsPartlyFilled(int64_t consumer) const;
  /// Whether the oldest slot still waits to be received by `consumer`.
  bool WaitsFor(int64_t consumer) const;

 private:
  struct Rectangle {
    size_t field;
    int64_t row, col, rows, cols;
  };
  struct Slot {
    std::vector<Value> fields;
    std::vector<Rectangle> filled;
    int64_t missing = 0;  // elements
  };
  bool IsFree(const Slot& slot, const std::vector<RingPart>& parts) const;
  void DropReceived();

  const typed::Pipe& pipe_;
  int64_t limit_;
  int64_t first_ = 0;  // sequence number of slots_.front()
  std::deque<Slot> slots_;
  std::vector<int64_t> received_;  // by consumer: sequence number of its next slot
};

}  // namespace tkc::interp

// SPDX-License-Identifier: MIT
// One operation of the IR, and its fields by meaning.
//
// Two fields mean something else in each kind of operation: `raw_slot` and `raw_number`. op.def says beside each operation what
// they are, and the functions of Op read and write them by that meaning; one that this operation does not have is an internal
// error. The verifier checks that they hold what op.def says. Only what treats all operations alike (text, comparison) uses the raw
// fields.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "compiler/ir/op_number.h"
#include "compiler/sema/typed.h"
#include "compiler/support/dtype.h"
#include "compiler/support/source.h"
#include "compiler/symbolic/scalar.h"

namespace tkc::ir {

using symbolic::Scalar;
using ValueId = int;
inline constexpr int kNone = -1;

enum class OpCode : uint8_t {
#define TKC_OP(code, text, traits, threads, slot, number) code,
#include "compiler/ir/op.def"
#undef TKC_OP
};

inline constexpr size_t kOpCodes = 0
#define TKC_OP(code, text, traits, threads, slot, number) +1
#include "compiler/ir/op.def"
#undef TKC_OP
    ;

/// What Op::raw_slot is.
enum class SlotMeaning : uint8_t {
  kNoSlot,
  kElement,     // which element of an array of buffers or barriers: the text of a SlotPlace, or "": the only one
  kAxis,        // "rows": one result for each row, from all of its columns; "cols": one for each column
  kTurned,      // "transposed": the tile lies turned in the tensor; else ""
  kScalarSide,  // of two operands the one that is a scalar: "left", "right", or "": none
  kScalarArms,  // of each arm, then and else: 't', a tile, or 's', a scalar
  kWhoseTurn,   // the scalar that says which instance takes the tile; "": no instances take turns
  kPipe,        // the pipe whose slots the ring counts, where it has another name
  kBuffer,      // a buffer
  kTensor,      // a tensor
  kHowFar,      // how far stores are to be: "read" out of shared memory, or "done"
};

inline constexpr std::array<SlotMeaning, kOpCodes> kSlotMeanings = [] {
  using enum SlotMeaning;
  return std::array{
#define TKC_OP(code, text, traits, threads, slot, number) slot,
#include "compiler/ir/op.def"
#undef TKC_OP
  };
}();
constexpr SlotMeaning MeaningOfSlot(OpCode code) { return kSlotMeanings[static_cast<size_t>(code)]; }

/// Whether Op::raw_number is a `Number`: of the enumerations and counts of op_number.h, or of typed::Op and typed::StoreOp.
template <typename Number>
inline constexpr std::array<bool, kOpCodes> kNumberIs = {
#define TKC_OP(code, text, traits, threads, slot, number) std::is_same_v<number, Number>,
#include "compiler/ir/op.def"
#undef TKC_OP
};
template <typename Number>
constexpr bool NumberIs(OpCode code) {
  return kNumberIs<Number>[static_cast<size_t>(code)];
}

/// What a slot's text says: the ring's present slot, "ab", the one before it, "ab.previous", or one ahead, "ab+2" or "ab+stage";
/// each of the set that an instance has for itself, "ab[w]".
struct SlotPlace {
  enum class Where : uint8_t { kPresent, kPrevious, kAhead };
  std::string ring;
  Where where = Where::kPresent;
  int64_t ahead = 0;         // kAhead, where it is a number
  std::string ahead_name{};  // kAhead, where a scalar says how far
  std::string instance{};    // the scalar that says whose, or ""
};
SlotPlace PlaceOfSlot(std::string_view slot);
std::string RingOf(std::string_view slot);

/// One axis of a tensor access: elements start .. start + extent. Those outside the tensor, or outside lo .. hi where these are
/// set, do not exist.
struct AxisRange {
  Scalar start{};
  int64_t extent = 1;
  bool dropped = false;
  Scalar lo{}, hi{};
  bool is_slice = false;  // not a block of a loop or of the grid, so that it does not end where their ranges end
  bool chosen = false;    // of a gather, dropped: element i of the next operand says which index row i has; `start` is 0
  bool exists = false;    // known at compile time that all of it exists; mark_accesses
  /// Of the last axis: its elements (the structures, where it is dropped) are contiguous, and rows of them are aligned.
  bool aligned = false;
};

struct Op;
using Region = std::vector<Op>;

/// One operation. Which fields it uses is written above its code in op.def.
struct Op {
  OpCode code;
  std::vector<ValueId> results{};
  std::vector<ValueId> operands{};
  std::vector<Scalar> scalars{};
  std::string symbol{};    // what it acts on: tensor, pipe, buffer, barrier, ring, function, scalar name
  std::string raw_slot{};  // by SlotMeaning
  int64_t raw_number = 0;  // by the last column of op.def
  std::vector<AxisRange> axes{};
  std::vector<Region> regions{};
  Span span{};                 // the .tk statement it comes from
  std::vector<Span> joined{};  // other statements that it does as well

  // ---- choices: enumerations of op_number.h, typed::Op and typed::StoreOp
  template <typename Choice>
    requires std::is_enum_v<Choice>
  Choice As() const {
    return static_cast<Choice>(Number<Choice>());
  }
  template <typename Choice>
    requires std::is_enum_v<Choice>
  bool Is(Choice choice) const {
    return As<Choice>() == choice;
  }
  template <typename Choice>
    requires std::is_enum_v<Choice>
  void Set(Choice choice) {
    SetNumber<Choice>(static_cast<int64_t>(choice));
  }
  /// Of what computes on elements, reduces or scans.
  typed::Op Function() const { return As<typed::Op>(); }

  // ---- counts
  int64_t Step() const { return Number<StepSize>(); }
  void SetStep(int64_t step) { SetNumber<StepSize>(step); }
  int64_t Trips() const { return Number<TripCount>(); }
  void SetTrips(int64_t trips) { SetNumber<TripCount>(trips); }
  int64_t Group() const { return Number<GroupSize>(); }
  void SetGroup(int64_t rows) { SetNumber<GroupSize>(rows); }
  /// Of a send: which field, or kAllFields.
  int64_t Field() const { return Number<FieldNumber>(); }
  bool SendsAllFields() const { return Field() == kAllFields; }
  void SetField(int64_t field) { SetNumber<FieldNumber>(field); }
  /// How many groups (or copies, where the target counts these) may be unfinished behind it.
  int64_t Unfinished() const { return Number<UnfinishedCount>(); }
  int64_t Blocks() const { return Number<BlockCount>(); }
  void SetBlocks(int64_t blocks) { SetNumber<BlockCount>(blocks); }
  int64_t Slots() const { return Number<SlotCount>(); }
  int64_t Bytes() const { return Number<ByteCount>(); }
  /// Index in Kernel::barriers of the one on which a copy completes.
  int64_t Barrier() const { return Number<BarrierNumber>(); }
  void SetBarrier(int64_t barrier) { SetNumber<BarrierNumber>(barrier); }
  int64_t MeetingThreads() const { return Number<ThreadCount>(); }
  int64_t Priority() const { return Number<PriorityLevel>(); }

  // ---- slots
  /// Which element of an array of buffers or barriers it is about: PlaceOfSlot reads it.
  const std::string& Slot() const { return SlotOf(SlotMeaning::kElement, "slot"); }
  void SetSlot(const std::string& slot) { SlotOf(SlotMeaning::kElement, "slot") = slot; }
  /// The same of any operation: "" of one that is about no such element.
  std::string_view SlotIfAny() const { return MeaningOfSlot(code) == SlotMeaning::kElement ? raw_slot : std::string_view(); }
  /// One result for each row, from all columns of it, not one for each column.
  bool IsOfRows() const { return SlotOf(SlotMeaning::kAxis, "axis") == "rows"; }
  void SetOfRows(bool of_rows) { SlotOf(SlotMeaning::kAxis, "axis") = of_rows ? "rows" : "cols"; }
  /// Whether the tile's rows are columns of the tensor: of any operation, as some accesses never have it so.
  bool IsTurned() const { return MeaningOfSlot(code) == SlotMeaning::kTurned && !raw_slot.empty(); }
  void SetTurned(bool turned) { SlotOf(SlotMeaning::kTurned, "way to lie") = turned ? "transposed" : ""; }
  bool HasScalarLeft() const { return SlotOf(SlotMeaning::kScalarSide, "side of a scalar") == "left"; }
  bool HasScalarRight() const { return SlotOf(SlotMeaning::kScalarSide, "side of a scalar") == "right"; }
  void SetScalarLeft() { SlotOf(SlotMeaning::kScalarSide, "side of a scalar") = "left"; }
  void SetScalarRight() { SlotOf(SlotMeaning::kScalarSide, "side of a scalar") = "right"; }
  /// Of a select: whether an arm is a tile, 0 if the condition holds, 1 if not.
  bool IsTileArm(size_t arm) const { return SlotOf(SlotMeaning::kScalarArms, "arms")[arm] == 't'; }
  void SetTileArms(bool then_is_tile, bool else_is_tile) {
    SlotOf(SlotMeaning::kScalarArms, "arms") = {then_is_tile ? 't' : 's', else_is_tile ? 't' : 's'};
  }
  /// Of a loop over tiles: whether instances take these in turn, how many, and the scalar that says whose turn it is.
  bool TakesTurns() const { return !WhoseTurn().empty(); }
  int64_t Turns() const { return Number<InstanceCount>(); }
  const std::string& WhoseTurn() const { return SlotOf(SlotMeaning::kWhoseTurn, "turns"); }
  void SetTurns(std::string whose, int64_t instances) {
    SlotOf(SlotMeaning::kWhoseTurn, "turns") = std::move(whose);
    SetNumber<InstanceCount>(instances);
  }
  /// Of a ring: the pipe whose slots it counts.
  const std::string& PipeOfRing() const {
    const std::string& pipe = SlotOf(SlotMeaning::kPipe, "pipe");
    return pipe.empty() ? symbol : pipe;
  }
  /// Of pieces: the buffer into which they are copied.
  const std::string& BufferOfPieces() const { return SlotOf(SlotMeaning::kBuffer, "buffer"); }
  void SetBufferOfPieces(const std::string& buffer) { SlotOf(SlotMeaning::kBuffer, "buffer") = buffer; }
  /// Of a draw of tiles: the tensor that counts those that are taken.
  const std::string& Counter() const { return SlotOf(SlotMeaning::kTensor, "counter"); }
  /// Of a wait for stores: until they are visible, not only read out of shared memory.
  bool WaitsUntilDone() const { return SlotOf(SlotMeaning::kHowFar, "end of stores") == "done"; }

 private:
  [[noreturn]] void Lacks(std::string_view what) const;
  template <typename Meaning>
  int64_t Number() const {
    if (!NumberIs<Meaning>(code)) [[unlikely]]
      Lacks("number of this meaning");
    return raw_number;
  }
  template <typename Meaning>
  void SetNumber(int64_t number) {
    if (!NumberIs<Meaning>(code)) [[unlikely]]
      Lacks("number of this meaning");
    raw_number = number;
  }
  const std::string& SlotOf(SlotMeaning meaning, std::string_view what) const {
    if (MeaningOfSlot(code) != meaning) [[unlikely]]
      Lacks(what);
    return raw_slot;
  }
  std::string& SlotOf(SlotMeaning meaning, std::string_view what) {
    return const_cast<std::string&>(std::as_const(*this).SlotOf(meaning, what));
  }
};

}  // namespace tkc::ir

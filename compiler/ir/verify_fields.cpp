// SPDX-License-Identifier: MIT
// Whether the fields that mean something else in each operation hold what op.def says. Whoever asks for their meaning may then take
// it as it is.
#include "compiler/ir/op_format.h"
#include "compiler/ir/verify_impl.h"

namespace tkc::ir {
namespace {

bool AreArms(const std::string& slot) { return slot.size() == 2 && slot.find_first_not_of("ts") == std::string::npos; }

}  // namespace

bool Verifier::CheckFields(const Op& op) {
  const size_t before = faults_.size();
  const int64_t number = op.raw_number, choices = Choices(op.code);
  if (NumberIs<NoNumber>(op.code) && number != 0) OpFault(op, "it has no number, such as {}", number);
  if (choices > 0 && (number < 0 || number >= choices)) OpFault(op, "{} is none of its {} choices", number, choices);
  const std::string& slot = op.raw_slot;
  switch (MeaningOfSlot(op.code)) {
    case SlotMeaning::kNoSlot:
      if (!slot.empty()) OpFault(op, "it has no slot, such as `{}`", slot);
      break;
    case SlotMeaning::kAxis:
      if (slot != "rows" && slot != "cols") OpFault(op, "`{}` is neither `rows` nor `cols`", slot);
      break;
    case SlotMeaning::kTurned:
      if (!slot.empty() && slot != "transposed") OpFault(op, "`{}` is no way for a tile to lie", slot);
      break;
    case SlotMeaning::kScalarSide:
      if (!slot.empty() && slot != "left" && slot != "right") OpFault(op, "`{}` is no side of a scalar", slot);
      break;
    case SlotMeaning::kScalarArms:
      if (!AreArms(slot)) OpFault(op, "`{}` does not say which arms are tiles", slot);
      break;
    case SlotMeaning::kHowFar:
      if (slot != "read" && slot != "done") OpFault(op, "`{}` is neither `read` nor `done`", slot);
      break;
    case SlotMeaning::kElement:
    case SlotMeaning::kWhoseTurn:
    case SlotMeaning::kPipe:
    case SlotMeaning::kBuffer:
    case SlotMeaning::kTensor: break;  // names, which are looked up where the operation is checked
  }
  return faults_.size() == before;
}

}  // namespace tkc::ir

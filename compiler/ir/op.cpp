// SPDX-License-Identifier: MIT
#include "compiler/ir/op.h"

#include <charconv>

#include <fmt/format.h>

#include "compiler/ir/op_traits.h"
#include "compiler/support/internal_error.h"

namespace tkc::ir {

void Op::Lacks(std::string_view what) const { InternalError(fmt::format("`{}` has no {}", OpText(code), what), span); }

SlotPlace PlaceOfSlot(std::string_view slot) {
  size_t end = slot.find_first_of(".+[");
  SlotPlace place{std::string(slot.substr(0, end))};
  if (end != std::string::npos && slot[end] == '[') {
    const size_t close = slot.find(']', end);
    place.instance = slot.substr(end + 1, close == std::string::npos ? close : close - end - 1);
    end = close == std::string::npos || close + 1 == slot.size() ? std::string::npos : close + 1;
  }
  if (end == std::string::npos) return place;
  place.where = slot[end] == '.' ? SlotPlace::Where::kPrevious : SlotPlace::Where::kAhead;
  if (place.where == SlotPlace::Where::kPrevious) return place;
  const std::string_view ahead = slot.substr(end + 1);
  const auto [rest, error] = std::from_chars(ahead.data(), ahead.data() + ahead.size(), place.ahead);
  if (error != std::errc() || rest != ahead.data() + ahead.size()) {
    place.ahead = 0;
    place.ahead_name = ahead;
  }
  return place;
}

std::string RingOf(std::string_view slot) { return PlaceOfSlot(slot).ring; }

}  // namespace tkc::ir

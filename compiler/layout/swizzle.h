// SPDX-License-Identifier: MIT
// The swizzles of shared tiles: their widths and their names in texts.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tkc::layout {

/// Where the bytes of a shared tile lie within panels that are so many bytes wide: bits of the row's number choose among chunks of
/// 16. kT128 is of 128 bytes, too, for AMD's loads that transpose, and other bits choose.
enum class Swizzle : uint8_t { kNone = 0, k32 = 32, k64 = 64, k128 = 128, kT128 = 129 };

/// Of a row of a panel; 0: there are none, and rows lie whole.
constexpr int64_t PanelBytes(Swizzle swizzle) { return swizzle == Swizzle::kT128 ? 128 : static_cast<int64_t>(swizzle); }

/// What stands for it in texts.
constexpr std::string_view Name(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::kNone: return "0";
    case Swizzle::k32: return "32";
    case Swizzle::k64: return "64";
    case Swizzle::k128: return "128";
    case Swizzle::kT128: return "t128";
  }
  return "";
}
constexpr std::optional<Swizzle> SwizzleOf(std::string_view name) {
  for (const Swizzle swizzle : {Swizzle::kNone, Swizzle::k32, Swizzle::k64, Swizzle::k128, Swizzle::kT128}) {
    if (Name(swizzle) == name) return swizzle;
  }
  return std::nullopt;
}

}  // namespace tkc::layout

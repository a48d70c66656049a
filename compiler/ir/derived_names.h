// SPDX-License-Identifier: MIT
// Names at schedule level that follow from those of what they belong to: passes make them, the verifier, the certificate and
// codegen look for them. (RowsMap, of a map, is in ir.h.)
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tkc::ir {

inline constexpr std::string_view kUsableSuffix = "_usable";

/// Behind the name of a tile: the copy of it that the matrix unit reads.
inline constexpr std::string_view kOperandSuffix = "_operand";

/// The `bool` of the launcher: whether the copy engine can store through `map` for these arguments.
inline std::string UsableFlag(std::string_view map) { return std::string(map).append(kUsableSuffix); }

/// The map whose flag `name` is; nothing if it is none.
inline std::optional<std::string> MapOfUsableFlag(std::string_view name) {
  if (!name.ends_with(kUsableSuffix)) return std::nullopt;
  return std::string(name.substr(0, name.size() - kUsableSuffix.size()));
}

/// The barrier that counts what the other blocks of a cluster send of a sum into `buffer`.
inline std::string SharesBarrier(const std::string& buffer) { return buffer + "_full"; }

}  // namespace tkc::ir

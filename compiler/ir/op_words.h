// SPDX-License-Identifier: MIT
// The words of the IR's text for enumerations. Printing indexes these lists, parsing searches them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "compiler/sema/typed.h"

namespace tkc::ir {

/// In the order of typed::Op.
inline constexpr std::string_view kOpWords[] = {
    "none", "neg", "not",     "add",   "sub",  "mul",   "div",    "mod", "eq",   "ne",  "lt",     "le",   "gt",
    "ge",   "and", "or",      "min",   "max",  "cdiv",  "abs",    "exp", "exp2", "log", "log2",   "sqrt", "rsqrt",
    "tanh", "erf", "sigmoid", "floor", "ceil", "round", "finite", "pow", "sin",  "cos", "random", "any",  "all"};
/// Of a function, abs to random, also its name in the language and in the runtime.
constexpr std::string_view OpWord(typed::Op op) { return kOpWords[static_cast<size_t>(op)]; }
/// typed::StoreOp.
inline constexpr std::string_view kStoreWords[] = {"set", "add", "max", "min"};
/// typed::TensorMode.
inline constexpr std::string_view kModeWords[] = {"in", "out", "inout"};
/// typed::GridOrder.
inline constexpr std::string_view kOrderWords[] = {"rows", "columns", "grouped"};
/// RoleKind.
inline constexpr std::string_view kRoleWords[] = {"unassigned", "copy_thread", "copy_warp", "compute"};

inline std::optional<int64_t> FindWord(std::span<const std::string_view> words, std::string_view word) {
  const auto place = std::find(words.begin(), words.end(), word);
  if (place == words.end()) return std::nullopt;
  return place - words.begin();
}

}  // namespace tkc::ir

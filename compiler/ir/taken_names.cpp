// SPDX-License-Identifier: MIT
#include "compiler/ir/taken_names.h"

#include <fmt/format.h>

namespace tkc::ir {

std::string TakenNames::Free(const std::string& base) const {
  const auto taken = next_suffix_.find(base);
  if (taken == next_suffix_.end()) return base;
  for (int suffix = taken->second;; ++suffix) {
    std::string name = fmt::format("{}_{}", base, suffix);
    if (!Contains(name)) return name;
  }
}

std::string TakenNames::TakeFree(const std::string& base) {
  const auto [taken, is_new] = next_suffix_.try_emplace(base, 1);
  if (is_new) return base;
  for (;;) {
    std::string name = fmt::format("{}_{}", base, taken->second++);
    if (Take(name)) return name;
  }
}

}  // namespace tkc::ir

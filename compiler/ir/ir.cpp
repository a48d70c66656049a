// SPDX-License-Identifier: MIT
// The values of a kernel: names stay what the source said, with _1, _2, ... where one is taken.
#include "compiler/ir/ir.h"

#include <fmt/format.h>

#include <utility>

namespace tkc::ir {

ValueId Kernel::AddValue(std::string name, Type type, bool is_mutable) {
  if (name.empty()) name = "t";
  if (next_suffix.size() < values.size()) {  // values that were not added here
    for (const Value& value : values) next_suffix.try_emplace(value.name, 1);
  }
  std::string unique = name;
  while (!next_suffix.try_emplace(unique, 1).second) unique = fmt::format("{}_{}", name, next_suffix[name]++);
  values.push_back({std::move(unique), type, is_mutable});
  return static_cast<ValueId>(values.size()) - 1;
}

}  // namespace tkc::ir

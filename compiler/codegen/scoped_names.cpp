// SPDX-License-Identifier: MIT
#include "compiler/codegen/scoped_names.h"

#include <fmt/format.h>

namespace tkc::codegen {

bool ScopedNames::IsTaken(const std::string& name, bool is_of_source) const {
  return always_.Contains(name) || in_scope_.contains(name) || (!is_of_source && of_source_.contains(name));
}

std::string ScopedNames::TakeFree(const std::string& base, bool is_of_source) {
  int& number = numbers_[base];
  const int before = number;
  std::string name = base;
  while (IsTaken(name, is_of_source)) name = fmt::format("{}_{}", base, ++number);
  in_scope_.insert(name);
  taken_.push_back({name, base, before});
  return name;
}

void ScopedNames::EndScope(size_t begin) {
  for (; taken_.size() > begin; taken_.pop_back()) {
    in_scope_.erase(taken_.back().name);
    numbers_[taken_.back().base] = taken_.back().number_before;
  }
}

}  // namespace tkc::codegen

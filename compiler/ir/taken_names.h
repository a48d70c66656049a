// SPDX-License-Identifier: MIT
// The names that are taken in one scope, and new ones beside them.
#pragma once

#include <initializer_list>
#include <map>
#include <string>

namespace tkc::ir {

class TakenNames {
 public:
  TakenNames() = default;
  TakenNames(std::initializer_list<std::string> names) {
    for (const std::string& name : names) Take(name);
  }

  bool Contains(const std::string& name) const { return next_suffix_.contains(name); }
  /// False: it was taken before.
  bool Take(const std::string& name) { return next_suffix_.try_emplace(name, 1).second; }
  template <typename Names>
  void TakeAll(const Names& names) {
    for (const auto& name : names) Take(name);
  }
  void TakeAll(const TakenNames& others) {
    for (const auto& [name, suffix] : others.next_suffix_) Take(name);
  }

  /// `base`, or with _1, _2, .. where that is taken.
  std::string Free(const std::string& base) const;
  /// The same, taken from now on: the next one of this base is counted on from there.
  std::string TakeFree(const std::string& base);

 private:
  std::map<std::string, int> next_suffix_;  // to try for each name that is taken
};

}  // namespace tkc::ir

// SPDX-License-Identifier: MIT
// Names of the values that a role's code defines: a number only where two of the same name meet in one scope.
#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/ir/taken_names.h"

namespace tkc::codegen {

class ScopedNames {
 public:
  ScopedNames() = default;
  /// `always`: names that belong to others everywhere.
  explicit ScopedNames(ir::TakenNames always) : always_(std::move(always)) {}

  /// From now on only for what the source calls so.
  void Reserve(const std::string& name) { of_source_.insert(name); }
  /// `base`, or with _1, _2, .. where that is taken, until its scope ends.
  std::string TakeFree(const std::string& base, bool is_of_source);
  bool IsInScope(const std::string& name) const { return in_scope_.contains(name); }

  /// Where a scope begins, for EndScope.
  size_t BeginScope() const { return taken_.size(); }
  void EndScope(size_t begin);

 private:
  struct Taken {
    std::string name, base;
    int number_before;
  };
  bool IsTaken(const std::string& name, bool is_of_source) const;

  ir::TakenNames always_;
  std::set<std::string> of_source_, in_scope_;
  std::unordered_map<std::string, int> numbers_;  // the last one that a base has in the scopes that are open
  std::vector<Taken> taken_;                      // in the scopes that are open
};

}  // namespace tkc::codegen

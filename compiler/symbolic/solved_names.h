// SPDX-License-Identifier: MIT
// Names in terms of others, as requirements say: `BT` as `B * T` where `BT == B * T`, `N` as 64 times another number where
// `N % 64 == 0`. With these put in, formulas that are equal on every launch look alike.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/symbolic/scalar.h"

namespace tkc::symbolic {

class SolvedNames {
 public:
  /// `is_count`: names that may be solved for, none of them negative.
  SolvedNames(const std::vector<Scalar>& requirements, std::function<bool(std::string_view name)> is_count);

  Scalar PutIn(Scalar scalar) const;

  /// Whether the name is one of the others: it stands for a number that is not negative.
  static bool IsQuotient(std::string_view name) { return name.ends_with(kQuotient); }

 private:
  static constexpr std::string_view kQuotient = "'";

  void SolveEqual(const Scalar& requirement);
  bool SolveProduct(const Scalar& product, const Scalar& value);
  void SolveMultiple(const Scalar& requirement);
  bool IsCount(const Scalar& scalar) const;
  void Add(const std::string& name, const Scalar& value);

  std::function<bool(std::string_view)> is_count_;
  std::vector<std::pair<std::string, Scalar>> values_;  // which mention no name that is solved
};

}  // namespace tkc::symbolic

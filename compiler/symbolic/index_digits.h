// SPDX-License-Identifier: MIT
// Quotients and remainders of indices, `z / H` and `z % H` of `z in B * H`, as integers of their own: in formulas that are linear
// otherwise, each has a name, and where all that say which index it is are known, so is the index.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/symbolic/digits.h"

namespace tkc::symbolic {

/// An index: first, first + step, .. below hi.
struct IndexRange {
  std::string name;
  Scalar first, hi;
  int64_t step = 1;
};

struct IndexDigit {
  std::string name;
  size_t number = 0;  // of those made before
  Digit digit;
  bool begins_at_zero = false;      // and is not below
  std::optional<Polynomial> end{};  // below which it stays
  // What it is a digit of: an integer that is a multiple of `base_divisor` and, where they are known, lies within so many that
  // follow each other, from zero up to its end.
  Polynomial base{};
  int64_t base_divisor = 1;
  std::optional<Polynomial> base_span{};
  std::optional<Polynomial> base_end{};
  std::set<std::string> indices{};  // in it, also within other digits
};

class IndexDigits {
 public:
  /// `is_count`: names that are not negative; `name_of`: of the n-th digit.
  IndexDigits(std::function<bool(std::string_view name)> is_count, std::function<std::string(size_t number)> name_of)
      : is_count_(std::move(is_count)), name_of_(std::move(name_of)) {}

  /// The same with names for the digits of the indices `around`, whose divisors mention none of these.
  Scalar Replace(const Scalar& scalar, const std::vector<IndexRange>& around);

  /// The digits so far of some of these indices and no others.
  std::vector<std::shared_ptr<const IndexDigit>> Of(const std::vector<IndexRange>& around) const;

 private:
  std::string NameOf(Digit digit, std::set<std::string> indices, const std::vector<IndexRange>& around, const Polynomial& base);

  std::function<bool(std::string_view)> is_count_;
  std::function<std::string(size_t)> name_of_;
  std::vector<std::shared_ptr<const IndexDigit>> digits_;
  std::map<std::string, size_t> places_;  // by what they are
};

/// The integers of which those of the digits that are known say which they are.
std::vector<Scalar> DeterminedBases(const std::vector<const IndexDigit*>& known);

}  // namespace tkc::symbolic

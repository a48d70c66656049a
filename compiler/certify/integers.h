// SPDX-License-Identifier: MIT
// What inequalities show of integers, whatever their names stand for: names are replaced by their bounds, the one that was made
// known last first, until a number is left (Fourier 1826, Motzkin 1936, for one inequality). Quotients, remainders, minima and
// choices are names of their own, bounded by what they are made of.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/symbolic/polynomial.h"
#include "compiler/symbolic/scalar.h"

namespace tkc::certify {

class Integers {
 public:
  /// What holds of the dims and launch scalars wherever the kernel is launched.
  static Integers OfLaunch(const ir::Kernel& kernel);

  /// `name` is at least `least`; nothing is known of how large it is.
  void KnowLeast(const std::string& name, const symbolic::Scalar& least);
  /// `name` is one of lo, lo + step, .. up to `hi`, which it does not reach.
  void KnowSteps(const std::string& name, const symbolic::Scalar& lo, const symbolic::Scalar& hi, int64_t step);
  /// As KnowSteps, without an end.
  void KnowSteps(const std::string& name, const symbolic::Scalar& lo, int64_t step);
  /// `condition` holds: of its conjuncts, comparisons of integers and `name % number == 0` are kept.
  void Assume(const symbolic::Scalar& condition);

  /// False also where the bounds do not show it.
  bool IsNonNegative(const symbolic::Scalar& scalar);
  bool IsMultiple(const symbolic::Scalar& scalar, int64_t number);

 private:
  /// scale * name >= value, or <= value; scale is positive, and `value` mentions names that were known before only.
  struct Bound {
    int64_t scale;
    symbolic::Scalar value;
  };
  struct Side {
    std::vector<Bound> bounds{};
    bool is_one_of = false;  // one of them holds, not all
  };
  struct Known {
    std::string name;
    Side least{}, most{};
    int64_t divisor = 1;
  };

  Known& Find(const std::string& name);
  /// Of the names in it, where the one lies that was made known last.
  std::optional<size_t> Last(const symbolic::Polynomial& terms) const;
  void AssumeNonNegative(const symbolic::Scalar& scalar);
  /// Sums and products of names only.
  symbolic::Scalar Flatten(const symbolic::Scalar& scalar);
  symbolic::Scalar FlattenTerm(const symbolic::Scalar& scalar, const std::vector<symbolic::Scalar>& args);
  void BoundTerm(Known& term, symbolic::Kind kind, const std::vector<symbolic::Scalar>& args);
  bool FitsI32(const symbolic::Scalar& flat);
  int64_t Divisor(const symbolic::Scalar& flat) const;
  bool IsFlatNonNegative(const symbolic::Scalar& flat) const;
  bool HoldsAtBound(const symbolic::Scalar& flat, const Known& name) const;

  std::vector<Known> known_;
  std::map<std::string, size_t> place_;
};

}  // namespace tkc::certify

// SPDX-License-Identifier: MIT
// What scalars say of a worker's masks of positions, whichever way these are written. Each comparison becomes sums that are at most
// zero where it holds:
//
//     j + cols < rows + window               cols - rows - window + 1 <= 0
//     abs(rows - cols) <= reach              rows - cols - reach <= 0 and cols - rows - reach <= 0
//
// The least and the most that positions hold then decide for a whole block.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/passes/known_ranges.h"

namespace tkc::passes {

class MaskConditions {
 public:
  MaskConditions(const ir::Kernel& kernel, const ir::Worker& worker);

  /// Whether the operation has the same result further on: no variable that it mentions can have changed.
  bool IsFixed(const ir::Op& op) const;

  /// A condition without which all elements of the mask are `truth`. Empty if there is none that scalars could decide.
  std::optional<ir::Scalar> HasOther(ir::ValueId mask, bool truth) const;

 private:
  /// What a sum adds or subtracts: positions from the least to the most, or a number that all elements share. `range`: where either
  /// lies.
  struct Term {
    ir::Scalar least, most;
    IntRange range;
    bool is_position;
  };
  /// An integer of each element. `wraps`: the sum is none where one of these holds.
  struct Sum {
    std::vector<Term> added, subtracted;
    int64_t number = 0;
    IntRange range{0, 0};
    std::vector<ir::Scalar> wraps;
  };
  /// True where all, or any, of the sums are at most zero.
  struct Bounds {
    std::vector<Sum> sums;
    bool all;
  };

  const ir::Op* MakerOf(ir::ValueId value) const;
  std::optional<ir::Scalar> OperandHasOther(const ir::Op& op, size_t side, bool truth) const;
  /// What makes operand `side` of a comparison, if it is an absolute value.
  const ir::Op* MagnitudeOf(const ir::Op& comparison, size_t side) const;
  std::optional<Bounds> BoundsOf(const ir::Op& comparison) const;
  std::optional<Sum> SumOf(ir::ValueId value) const;
  std::optional<Sum> SumOfScalar(const ir::Scalar& scalar) const;
  /// Of operand `side`, 0 or 1, of an operation on two, either of which may be a scalar.
  std::optional<Sum> SumOfSide(const ir::Op& op, size_t side) const;
  Sum SumOfPositions(const ir::Scalar& first, const ir::Type& type) const;
  std::optional<Sum> Combined(const ir::Op& op) const;

  static Sum Plus(const Sum& a, const Sum& b, bool subtracts);
  static Sum Number(int64_t number) { return {{}, {}, number, {number, number}, {}}; }
  static Sum Negative(const Sum& sum) { return Plus(Number(0), sum, true); }
  static std::optional<ir::Scalar> IsAboveZero(const Sum& sum);
  static std::optional<ir::Scalar> Compared(const std::vector<Term>& added, const std::vector<Term>& subtracted, int64_t number);

  const ir::Kernel& kernel_;
  KnownRanges known_;
  std::set<std::string> changing_;  // scalars
  std::map<ir::ValueId, ir::Op> maker_;
};

}  // namespace tkc::passes

// SPDX-License-Identifier: MIT
// A block of a tensor that an operation copies or fetches, by its resolved bounds: two operations may mean the same one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/certify/program.h"

namespace tkc::certify {

struct TensorBlock {
  const ir::Op* op = nullptr;
  std::vector<ir::Scalar> bounds{};  // of each axis start, lo, hi
  std::vector<int64_t> extents{};    // 0: of an axis that is dropped

  static TensorBlock Of(const ir::Op& op, const Scope& scope);

  /// Whether it begins and ends where the other does, whose bounds are of what `scope` resolves.
  bool LiesAt(const TensorBlock& other, const Scope& scope) const;
  /// The same elements in the same order.
  bool IsSame(const TensorBlock& other, const Scope& scope) const;

  /// Moves it so many rows and columns on.
  void Shift(const std::vector<ir::Scalar>& by);
  /// As it is in iteration `iteration` of the loop whose ordinal has this name.
  TensorBlock In(const std::string& ordinal, const ir::Scalar& iteration) const;
};

}  // namespace tkc::certify

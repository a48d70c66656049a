// SPDX-License-Identifier: MIT
// A value for the length of a block.
#pragma once

#include <utility>

namespace tkc {

/// Gives a variable another value until the end of the block, however that is left.
template <typename T>
class Scoped {
 public:
  Scoped(T& variable, T value) : variable_(variable), outer_(std::exchange(variable, std::move(value))) {}
  ~Scoped() { variable_ = std::move(outer_); }
  Scoped(const Scoped&) = delete;
  Scoped& operator=(const Scoped&) = delete;

 private:
  T& variable_;
  T outer_;
};

}  // namespace tkc

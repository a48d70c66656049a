// SPDX-License-Identifier: MIT
// A value, or a failure that has already been reported to Diagnostics. It carries no error of its own:
// whoever fails has written the diagnostic, whoever receives a failure just passes it on.
#pragma once

#include <optional>
#include <utility>

namespace tkc {

/// Returned where a Result is expected: `return Failure{};`
struct Failure {};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(Failure) {}
  Result(T value) : value_(std::move(value)) {}

  explicit operator bool() const { return value_.has_value(); }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  /// Moves the value out; only after a test for success.
  T Take() { return std::move(*value_); }

 private:
  std::optional<T> value_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Failure) : ok_(false) {}
  explicit operator bool() const { return ok_; }

 private:
  bool ok_ = true;
};

}  // namespace tkc

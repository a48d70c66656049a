// SPDX-License-Identifier: MIT
// Quotients and remainders as digits of an integer in mixed radix: `z / (H * G)`, `z / G % H` and `z % G` are the three of z, and
// whoever knows them knows z. With x / 0 = 0 and x % 0 = x, as the language has it, this holds of any radices.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "compiler/symbolic/polynomial.h"

namespace tkc::symbolic {

/// base / place % radix
struct Digit {
  Scalar base;                        // no quotient or remainder that could be taken apart further
  Polynomial place;                   // 1: the lowest
  std::optional<Polynomial> radix{};  // none: all that lies above `place`
  bool is_positive = false;           // no divisor is negative
};

/// The digit that a quotient or a remainder of integers is, of a divisor of which `is_fixed` holds; nothing for other scalars.
/// `is_count`: names that are not negative.
std::optional<Digit> DigitOf(const Scalar& scalar, const std::function<bool(const Scalar& divisor)>& is_fixed,
                             const std::function<bool(std::string_view name)>& is_count);

/// Whether these digits of one base say which integer it is: one that is a multiple of `divisor` and, if it is known, one of `span`
/// that follow each other.
bool DetermineBase(const std::vector<const Digit*>& digits, int64_t divisor, const std::optional<Polynomial>& span);

/// The quotient of polynomials where it is one, whatever the names stand for.
std::optional<Polynomial> ExactQuotient(const Polynomial& polynomial, const Polynomial& divisor);

}  // namespace tkc::symbolic

// SPDX-License-Identifier: MIT
// Infix operators of scalar text and how tightly they bind (larger: tighter). Printing and parsing share the table.
#pragma once

#include <string_view>

#include "compiler/symbolic/scalar.h"

namespace tkc::symbolic {

struct Infix {
  Kind kind;
  std::string_view text;
  int precedence;
  bool chains;  // a - b - c is (a - b) - c; a < b < c is not a scalar
};

inline constexpr int kNotPrecedence = 3;
inline constexpr int kNegPrecedence = 7;

inline constexpr Infix kInfixes[] = {
    {Kind::kOr, "or", 1, true},  {Kind::kAnd, "and", 2, true}, {Kind::kEq, "==", 4, false}, {Kind::kNe, "!=", 4, false},
    {Kind::kLe, "<=", 4, false}, {Kind::kGe, ">=", 4, false},  {Kind::kLt, "<", 4, false},  {Kind::kGt, ">", 4, false},
    {Kind::kAdd, "+", 5, true},  {Kind::kSub, "-", 5, true},   {Kind::kMul, "*", 6, true},  {Kind::kDiv, "/", 6, true},
    {Kind::kMod, "%", 6, true},
};

inline const Infix* FindInfix(Kind kind) {
  for (const Infix& infix : kInfixes) {
    if (infix.kind == kind) return &infix;
  }
  return nullptr;
}

inline const Infix* FindInfix(std::string_view text) {
  for (const Infix& infix : kInfixes) {
    if (infix.text == text) return &infix;
  }
  return nullptr;
}

}  // namespace tkc::symbolic

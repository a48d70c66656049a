// SPDX-License-Identifier: MIT
// Leaves and conversions of scalar trees, and the questions asked of them. Make (simplify.cpp) builds the operations.
#include "compiler/symbolic/scalar.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>

#include "compiler/symbolic/int_range.h"
#include "compiler/symbolic/node.h"
#include "compiler/symbolic/polynomial.h"
#include "compiler/symbolic/round.h"

namespace tkc::symbolic {
namespace {

Scalar IntLiteral(int64_t value, DType dtype) {
  auto node = NewNode(Kind::kInt, dtype);
  node->int_value = value;
  return node;
}

/// A literal converted at compile time, or null where the result depends on more than the value (overflow, NaN to integer).
Scalar ConvertLiteral(const Scalar& literal, DType dtype) {
  if (literal->kind == Kind::kInt) {
    if (IsFloat(dtype)) return Float(RoundInteger(literal->int_value, dtype), dtype);
    if (Holds(dtype, literal->int_value)) return IntLiteral(literal->int_value, dtype);
  }
  if (literal->kind == Kind::kFloat) {
    if (IsFloat(dtype)) return Float(literal->float_value, dtype);
    const double whole = std::trunc(literal->float_value);
    if (std::abs(whole) < 9e18 && Holds(dtype, static_cast<int64_t>(whole))) {
      return IntLiteral(static_cast<int64_t>(whole), dtype);
    }
  }
  if (literal->kind == Kind::kBool && dtype != DType::kBool) return ConvertLiteral(Int(literal->int_value), dtype);
  return nullptr;
}

/// All but the arguments.
bool IsSameOperation(const Node& a, const Node& b) {
  return a.kind == b.kind && a.dtype == b.dtype && a.int_value == b.int_value && a.name == b.name &&
         std::bit_cast<uint64_t>(a.float_value) == std::bit_cast<uint64_t>(b.float_value);
}

/// Whether `wide` has more bits and every integer of `narrow`.
bool HoldsAll(DType wide, DType narrow) {
  const bool are_integers = !IsFloat(wide) && IsInteger(narrow);
  return are_integers && Bytes(wide) > Bytes(narrow) && (Info(wide).is_signed || !Info(narrow).is_signed);
}

}  // namespace

Scalar Int(int64_t value) { return IntLiteral(value, DType::kI64); }

Scalar Float(double value, DType dtype) {
  auto node = NewNode(Kind::kFloat, dtype);
  node->float_value = Round(value, dtype);
  return node;
}

Scalar Bool(bool value) {
  auto node = NewNode(Kind::kBool, DType::kBool);
  node->int_value = value;
  return node;
}

Scalar Name(std::string name, DType dtype) {
  auto node = NewNode(Kind::kName, dtype);
  node->name = std::move(name);
  return node;
}

Scalar Element(std::string tensor, DType dtype, std::vector<Scalar> indices) {
  auto node = NewNode(Kind::kElement, dtype);
  node->name = std::move(tensor);
  node->args = std::move(indices);
  return node;
}

Scalar Call(std::string name, DType dtype, std::vector<Scalar> args) {
  auto node = NewNode(Kind::kCall, dtype);
  node->name = std::move(name);
  node->args = std::move(args);
  return node;
}

Scalar Convert(Scalar value, DType dtype) {
  if (value->dtype == dtype) return value;
  if (Scalar literal = ConvertLiteral(value, dtype)) return literal;
  const bool is_back = value->kind == Kind::kConvert && value->args[0]->dtype == dtype && HoldsAll(value->dtype, dtype);
  if (is_back) return value->args[0];
  auto node = NewNode(Kind::kConvert, dtype);
  node->args = {std::move(value)};
  return node;
}

bool IsInt(const Scalar& scalar, int64_t* value) {
  if (!scalar || scalar->kind != Kind::kInt) return false;
  if (value) *value = scalar->int_value;
  return true;
}

bool Equal(const Scalar& a, const Scalar& b) {
  if (a == b) return true;
  if (!a || !b || a->dtype != b->dtype) return false;
  if (IsSameTree(a, b)) return true;
  if (IsSum(a) || IsSum(b)) return IsSum(a) && IsSum(b) && ConstantDifference(a, b) == 0;
  if (!IsSameOperation(*a, *b) || a->args.size() != b->args.size()) return false;
  if (std::equal(a->args.begin(), a->args.end(), b->args.begin(), Equal)) return true;
  return IsCommutative(a->kind) && Equal(a->args[0], b->args[1]) && Equal(a->args[1], b->args[0]);
}

bool IsSameTree(const Scalar& a, const Scalar& b) {
  return a == b ||
         (IsSameOperation(*a, *b) && std::equal(a->args.begin(), a->args.end(), b->args.begin(), b->args.end(), IsSameTree));
}

bool Mentions(const Scalar& scalar, const std::string& name) {
  if (!scalar) return false;
  if (scalar->kind == Kind::kName) return scalar->name == name;
  for (const Scalar& arg : scalar->args) {
    if (Mentions(arg, name)) return true;
  }
  return false;
}

bool MentionsElement(const Scalar& scalar) {
  return scalar && (scalar->kind == Kind::kElement || std::any_of(scalar->args.begin(), scalar->args.end(), MentionsElement));
}

void AddConjuncts(const Scalar& condition, std::vector<Scalar>& conjuncts) {
  if (condition->kind != Kind::kAnd) return conjuncts.push_back(condition);
  for (const Scalar& part : condition->args) AddConjuncts(part, conjuncts);
}

void AddNames(const Scalar& scalar, std::set<std::string>& names) {
  if (!scalar) return;
  if (scalar->kind == Kind::kName) names.insert(scalar->name);
  for (const Scalar& arg : scalar->args) AddNames(arg, names);
}

void AddMaxima(const Scalar& scalar, const Scalar& least, std::vector<Scalar>& maxima) {
  if (!scalar) return;
  const std::function<bool(const Scalar&)> reaches = [&](const Scalar& part) {
    return Equal(part, least) || (part->kind == Kind::kMax && std::any_of(part->args.begin(), part->args.end(), reaches));
  };
  if (scalar->kind == Kind::kMax && reaches(scalar)) maxima.push_back(scalar);
  for (const Scalar& arg : scalar->args) AddMaxima(arg, least, maxima);
}

Scalar WithArgs(const Scalar& scalar, std::vector<Scalar> args) {
  if (args.empty()) return scalar;
  switch (scalar->kind) {
    case Kind::kElement: return Element(scalar->name, scalar->dtype, std::move(args));
    case Kind::kCall: return Call(scalar->name, scalar->dtype, std::move(args));
    case Kind::kConvert: return Convert(args[0], scalar->dtype);
    default: return Make(scalar->kind, scalar->dtype, std::move(args));
  }
}

Scalar Substitute(const Scalar& scalar, const std::string& name, const Scalar& value) {
  if (!scalar || !Mentions(scalar, name)) return scalar;
  if (scalar->kind == Kind::kName) return value;
  std::vector<Scalar> args;
  for (const Scalar& arg : scalar->args) args.push_back(Substitute(arg, name, value));
  return WithArgs(scalar, std::move(args));
}

}  // namespace tkc::symbolic

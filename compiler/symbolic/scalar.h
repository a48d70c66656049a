// SPDX-License-Identifier: MIT
// Scalar expressions: the integers, floats and booleans that every worker of a block can compute: extents, indices, conditions,
// launch scalars. Immutable trees, shared; names stand for values (unique in a kernel). Integer division and modulus floor.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "compiler/support/dtype.h"

namespace tkc::symbolic {

enum class Kind : uint8_t {
  kInt,
  kFloat,
  kBool,     // literals
  kName,     // a dim, launch scalar, loop variable, `let`, or builtin
  kElement,  // name[args...]: an element of a tensor
  kNeg,
  kNot,
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMod,
  kMin,
  kMax,
  kCdiv,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kAnd,
  kOr,
  kSelect,   // args: condition, then, else
  kCall,     // name(args...): a scalar function of the runtime (tk::name)
  kConvert,  // args[0] as dtype
};

inline bool IsComparison(Kind kind) { return kind >= Kind::kEq && kind <= Kind::kGe; }

struct Node;
using Scalar = std::shared_ptr<const Node>;

struct Node {
  Kind kind;
  DType dtype = DType::kI64;  // kI64 is the mathematical integer of the language
  int64_t int_value = 0;
  double float_value = 0;
  std::string name;
  std::vector<Scalar> args;
};

Scalar Int(int64_t value);
Scalar Float(double value, DType dtype = DType::kF32);
Scalar Bool(bool value);
Scalar Name(std::string name, DType dtype = DType::kI64);
Scalar Element(std::string tensor, DType dtype, std::vector<Scalar> indices);
Scalar Call(std::string name, DType dtype, std::vector<Scalar> args);
/// A wider integer made of `value` and back is the value itself.
Scalar Convert(Scalar value, DType dtype);
/// Builds an operation and simplifies it: folds constants, drops + 0, * 1, * 0, x - x, cdiv by 1, selects on constants.
Scalar Make(Kind kind, DType dtype, std::vector<Scalar> args);

inline Scalar Add(Scalar a, Scalar b) { return Make(Kind::kAdd, DType::kI64, {a, b}); }
inline Scalar Sub(Scalar a, Scalar b) { return Make(Kind::kSub, DType::kI64, {a, b}); }
inline Scalar Mul(Scalar a, Scalar b) { return Make(Kind::kMul, DType::kI64, {a, b}); }
inline Scalar Cdiv(Scalar a, Scalar b) { return Make(Kind::kCdiv, DType::kI64, {a, b}); }

bool IsInt(const Scalar& scalar, int64_t* value = nullptr);  // a literal integer (its value)
bool Equal(const Scalar& a, const Scalar& b);                // same linear normal form over names; other terms structurally
bool IsSameTree(const Scalar& a, const Scalar& b);           // the same operations of the same leaves
bool Mentions(const Scalar& scalar, const std::string& name);
bool MentionsElement(const Scalar& scalar);                         // an element of a tensor is a part of it
void AddNames(const Scalar& scalar, std::set<std::string>& names);  // all that it mentions
/// Adds the parts of a conjunction, or what is none.
void AddConjuncts(const Scalar& condition, std::vector<Scalar>& conjuncts);
/// Adds the maxima in `scalar` of which `least` is an argument: none of them is below it.
void AddMaxima(const Scalar& scalar, const Scalar& least, std::vector<Scalar>& maxima);
Scalar WithArgs(const Scalar& scalar, std::vector<Scalar> args);  // the same operation of other arguments
Scalar Substitute(const Scalar& scalar, const std::string& name, const Scalar& value);

/// The text of the IR: infix with minimal parentheses; `cdiv(a, b)`, `min(a, b)`, `select(c, a, b)`, `t[i, j]`, `@name(args)` for
/// calls, `f32(x)` for conversions, floats with a `.` or exponent and their shortest round-trip digits.
std::string ToString(const Scalar& scalar);
/// The same for people: numbers without their types, as a source has them.
std::string SourceText(const Scalar& scalar);

}  // namespace tkc::symbolic

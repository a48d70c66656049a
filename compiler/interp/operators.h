// SPDX-License-Identifier: MIT
// The operations of the language on values: plain loops. Operands may have different shapes where the language lets
// them broadcast ([R,C] with [R,1], [1,C], [1,1], scalar). Float results are computed in double and rounded once to
// the result's type; Rounding::kLater leaves that to the caller, for sums that take up a matrix product.
// min and max ignore a NaN operand, as the hardware's do; comparisons with NaN are false, `!=` is true.
#pragma once

#include "compiler/interp/faults.h"
#include "compiler/interp/value.h"

namespace tkc::interp {

enum class Rounding : uint8_t { kNow, kLater };

/// kNeg, kNot and the functions of one argument.
Value ApplyUnary(typed::Op op, const Value& x, const typed::Type& type);

/// Arithmetic, comparison, logic and the functions of two arguments. Of a division of integers
/// by zero the quotient is 0 and the remainder what is divided.
Value ApplyBinary(typed::Op op, const Value& x, const Value& y, const typed::Type& type, Rounding rounding, Span span);

/// Subnormal numbers of f32 as zeros of their sign.
Value WithoutSubnormals(Value x);

Value Select(const Value& condition, const Value& if_true, const Value& if_false, const typed::Type& type);

/// Sums in double, rounded once: the order of a reduction is unspecified, the oracle takes the most exact one. A scalar
/// `type` asks for all elements.
Value Reduce(typed::Op op, const Value& x, int axis, const typed::Type& type);

/// Inclusive running sums along `axis`; each is the exact sum rounded once.
Value Cumsum(const Value& x, int axis, const typed::Type& type);

Value Transpose(const Value& x);

/// The part of `x` that starts at (row, col) and has the shape of `type`; inside `x`.
/// The same elements, row by row.
Value Reshape(const Value& x, const typed::Type& type);
Value Part(const Value& x, int64_t row, int64_t col, const typed::Type& type);

/// Writes `part` into `target` at (row, col), converted to the target's type; inside `target`.
void AssignPart(Value& target, int64_t row, int64_t col, const Value& part);

/// a[R,K] @ b[K,N]: products of 16-bit operands are exact in double, their sum is rounded once to f32 (or left).
Value MatMul(const Value& a, const Value& b, const typed::Type& type, Rounding rounding);

/// i32[n, 1]: start, start + 1, ...
Value Positions(int64_t start, const typed::Type& type);

}  // namespace tkc::interp

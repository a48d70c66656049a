// SPDX-License-Identifier: MIT
// Operations that look at a tile as a whole: reductions, running sums, parts, transposes, matrix products.
#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/interp/operators.h"
#include "compiler/support/internal_error.h"
#include "compiler/support/number.h"

namespace tkc::interp {
namespace {

using typed::Op;
using typed::Type;

double ReduceReals(Op op, const double* from, int64_t count, int64_t stride) {
  double result = op == Op::kAdd   ? 0.0
                  : op == Op::kMax ? -std::numeric_limits<double>::infinity()
                                   : std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < count; ++i) {
    const double x = from[i * stride];
    switch (op) {
      case Op::kAdd: result += x; break;
      case Op::kMax: result = i == 0 ? x : std::fmax(result, x); break;
      case Op::kMin: result = i == 0 ? x : std::fmin(result, x); break;
      default: InternalError("not a reduction of floats");
    }
  }
  return result;
}

int64_t ReduceIntegers(Op op, DType dtype, const int64_t* from, int64_t count, int64_t stride) {
  __int128 result = op == Op::kAll ? 1 : 0;
  for (int64_t i = 0; i < count; ++i) {
    const __int128 x = IntegerValue(dtype, from[i * stride]);
    switch (op) {
      case Op::kAdd: result += x; break;
      case Op::kMax: result = i == 0 ? x : std::max(result, x); break;
      case Op::kMin: result = i == 0 ? x : std::min(result, x); break;
      case Op::kAny: result = result != 0 || x != 0 ? 1 : 0; break;
      case Op::kAll: result = result != 0 && x != 0 ? 1 : 0; break;
      default: InternalError("not a reduction");
    }
  }
  // Wrapped to 64 bits here, to the result's type by the caller.
  return static_cast<int64_t>(static_cast<uint64_t>(result));
}

/// Copies a rows x cols rectangle between row-major arrays.
template <typename T>
void CopyRectangle(T* to, int64_t to_pitch, const T* from, int64_t from_pitch, int64_t rows, int64_t cols) {
  for (int64_t row = 0; row < rows; ++row) std::copy_n(from + row * from_pitch, cols, to + row * to_pitch);
}

}  // namespace

Value Reduce(Op op, const Value& x, int axis, const Type& type) {
  const Type& shape = x.type();
  const bool all = !type.is_tile;  // `any` and `all` of a whole tile: one line of all its elements
  const int64_t lines = all ? 1 : axis == 1 ? shape.rows : shape.cols;
  const int64_t length = all ? x.size() : axis == 1 ? shape.cols : shape.rows;
  const int64_t line_stride = axis == 1 ? shape.cols : 1;
  const int64_t stride = all || axis == 1 ? 1 : shape.cols;
  Value result = Value::Zero(type);
  if (x.is_float()) {
    double* to = result.MutableReals();
    for (int64_t line = 0; line < lines; ++line) to[line] = ReduceReals(op, x.Reals() + line * line_stride, length, stride);
    RoundReals(type.dtype, to, lines);
    return result;
  }
  int64_t* to = result.MutableIntegers();
  for (int64_t line = 0; line < lines; ++line) {
    const int64_t* from = x.Integers() + line * line_stride;
    to[line] = WrapInteger(type.dtype, ReduceIntegers(op, shape.dtype, from, length, stride));
  }
  return result;
}

Value Cumsum(const Value& x, int axis, const Type& type) {
  const int64_t lines = axis == 1 ? type.rows : type.cols;
  const int64_t length = axis == 1 ? type.cols : type.rows;
  const int64_t line_stride = axis == 1 ? type.cols : 1;
  const int64_t stride = axis == 1 ? 1 : type.cols;
  Value result = Value::Zero(type);
  for (int64_t line = 0; line < lines; ++line) {
    double real_sum = 0;
    __int128 integer_sum = 0;
    for (int64_t i = 0; i < length; ++i) {
      const int64_t index = line * line_stride + i * stride;
      if (IsFloat(type.dtype)) {
        real_sum += x.Reals()[index];
        result.MutableReals()[index] = RoundReal(type.dtype, real_sum);
      } else {
        integer_sum += IntegerValue(x.type().dtype, x.Integers()[index]);
        result.MutableIntegers()[index] = WrapInteger(type.dtype, integer_sum);
      }
    }
  }
  return result;
}

Value Transpose(const Value& x) {
  const Type& from = x.type();
  const Type type = Type::Tile(from.dtype, from.cols, from.rows);
  Value result = Value::Zero(type);
  const auto copy = [&](auto* to, const auto* source) {
    for (int64_t row = 0; row < type.rows; ++row) {
      for (int64_t col = 0; col < type.cols; ++col) to[row * type.cols + col] = source[col * from.cols + row];
    }
  };
  if (x.is_float()) {
    copy(result.MutableReals(), x.Reals());
  } else {
    copy(result.MutableIntegers(), x.Integers());
  }
  return result;
}

Value Reshape(const Value& x, const Type& type) {
  Value result = Value::Zero(type);
  if (x.is_float()) {
    std::copy_n(x.Reals(), x.size(), result.MutableReals());
  } else {
    std::copy_n(x.Integers(), x.size(), result.MutableIntegers());
  }
  return result;
}

Value Part(const Value& x, int64_t row, int64_t col, const Type& type) {
  Ensure(row >= 0 && col >= 0 && row + type.rows <= x.type().rows && col + type.cols <= x.type().cols,
         "a part that sticks out of its tile");
  Value result = Value::Zero(Type::Tile(x.type().dtype, type.rows, type.cols));
  const int64_t offset = row * x.type().cols + col;
  if (x.is_float()) {
    CopyRectangle(result.MutableReals(), type.cols, x.Reals() + offset, x.type().cols, type.rows, type.cols);
  } else {
    CopyRectangle(result.MutableIntegers(), type.cols, x.Integers() + offset, x.type().cols, type.rows, type.cols);
  }
  return result.ConvertedTo(type.dtype);
}

void AssignPart(Value& target, int64_t row, int64_t col, const Value& part) {
  const Type type = target.type();
  const Type& shape = part.type();
  Ensure(row >= 0 && col >= 0 && row + shape.rows <= type.rows && col + shape.cols <= type.cols,
         "a part that sticks out of its tile");
  const Value converted = part.ConvertedTo(type.dtype);
  const int64_t offset = row * type.cols + col;
  if (target.is_float()) {
    CopyRectangle(target.MutableReals() + offset, type.cols, converted.Reals(), shape.cols, shape.rows, shape.cols);
  } else {
    CopyRectangle(target.MutableIntegers() + offset, type.cols, converted.Integers(), shape.cols, shape.rows, shape.cols);
  }
}

Value MatMul(const Value& a, const Value& b, const Type& type, Rounding rounding) {
  const int64_t depth = a.type().cols;
  Ensure(depth == b.type().rows && type.rows == a.type().rows && type.cols == b.type().cols,
         "shapes of a matrix product do not meet");
  Value result = Value::Zero(type);
  // Row times scalar into row: the innermost loop runs over contiguous elements of b and of the result.
  const auto multiply = [&](auto* to, const auto* left, const auto* right) {
    for (int64_t row = 0; row < type.rows; ++row) {
      auto* to_row = to + row * type.cols;
      for (int64_t k = 0; k < depth; ++k) {
        const auto scale = left[row * depth + k];
        const auto* right_row = right + k * type.cols;
        for (int64_t col = 0; col < type.cols; ++col) to_row[col] += scale * right_row[col];
      }
    }
  };
  if (IsFloat(type.dtype)) {
    multiply(result.MutableReals(), a.Reals(), b.Reals());
    if (rounding == Rounding::kNow) RoundReals(type.dtype, result.MutableReals(), result.size());
    return result;
  }
  multiply(result.MutableIntegers(), a.Integers(), b.Integers());  // 8-bit operands: no overflow of 64 bits
  int64_t* to = result.MutableIntegers();
  for (int64_t i = 0; i < result.size(); ++i) to[i] = WrapInteger(type.dtype, to[i]);
  return result;
}

Value Positions(int64_t start, const Type& type) {
  Value result = Value::Zero(type);
  int64_t* to = result.MutableIntegers();
  for (int64_t i = 0; i < result.size(); ++i) to[i] = WrapInteger(type.dtype, static_cast<__int128>(start) + i);
  return result;
}

}  // namespace tkc::interp

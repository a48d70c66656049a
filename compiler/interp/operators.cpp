// SPDX-License-Identifier: MIT
// Elementwise operations; reductions, products and parts are in operators_tile.cpp.
#include <algorithm>
#include <cmath>

#include "compiler/interp/operators.h"
#include "compiler/support/internal_error.h"
#include "compiler/support/number.h"

namespace tkc::interp {
namespace {

using typed::Op;
using typed::Type;

double RealUnary(Op op, double x) {
  switch (op) {
    case Op::kNeg: return -x;
    case Op::kAbs: return std::fabs(x);
    case Op::kExp: return std::exp(x);
    case Op::kExp2: return std::exp2(x);
    case Op::kLog: return std::log(x);
    case Op::kLog2: return std::log2(x);
    case Op::kSqrt: return std::sqrt(x);
    case Op::kRsqrt: return 1.0 / std::sqrt(x);
    case Op::kTanh: return std::tanh(x);
    case Op::kErf: return std::erf(x);
    case Op::kSigmoid: return 1.0 / (1.0 + std::exp(-x));
    case Op::kFloor: return std::floor(x);
    case Op::kCeil: return std::ceil(x);
    case Op::kRound: return std::nearbyint(x);
    case Op::kFinite: return std::isfinite(x) ? x : 0.0;
    case Op::kSin: return std::sin(x);
    case Op::kCos: return std::cos(x);
    default: InternalError("not an operation on one float");
  }
}

__int128 IntegerUnary(Op op, __int128 x) {
  switch (op) {
    case Op::kNeg: return -x;
    case Op::kNot: return x == 0 ? 1 : 0;
    case Op::kAbs: return x < 0 ? -x : x;
    case Op::kFloor:
    case Op::kCeil: return x;
    default: InternalError("not an operation on one integer");
  }
}

double RealBinary(Op op, double x, double y) {
  switch (op) {
    case Op::kAdd: return x + y;
    case Op::kSub: return x - y;
    case Op::kMul: return x * y;
    case Op::kDiv: return x / y;
    case Op::kMod: return x - y * std::floor(x / y);
    case Op::kMin: return std::fmin(x, y);
    case Op::kMax: return std::fmax(x, y);
    case Op::kPow: return std::pow(x, y);
    default: InternalError("not an operation on two floats");
  }
}

__int128 FloorDivide(__int128 x, __int128 y) {
  const __int128 quotient = x / y;
  return quotient * y != x && (x < 0) != (y < 0) ? quotient - 1 : quotient;
}

/// Modulo 2^128, of which results keep the low bits: the product of two u64 may need all 128.
__int128 WrappingProduct(__int128 x, __int128 y) {
  return static_cast<__int128>(static_cast<unsigned __int128>(x) * static_cast<unsigned __int128>(y));
}

/// Word `index` mod 4 of Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3; SC 2011) under the
/// key `seed` at the counter `index` div 4.
uint32_t Philox(uint64_t seed, uint64_t index) {
  constexpr uint64_t kMultiplier[2] = {0xD2511F53, 0xCD9E8D57};
  constexpr uint32_t kWeyl[2] = {0x9E3779B9, 0xBB67AE85};
  uint32_t counter[4] = {static_cast<uint32_t>(index >> 2), static_cast<uint32_t>(index >> 34), 0, 0};
  uint32_t key[2] = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  for (int round = 0; round < 10; ++round) {
    const uint64_t first = kMultiplier[0] * counter[0], second = kMultiplier[1] * counter[2];
    const uint32_t next[4] = {static_cast<uint32_t>(second >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(second),
                              static_cast<uint32_t>(first >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(first)};
    std::copy(std::begin(next), std::end(next), std::begin(counter));
    for (int i = 0; i < 2; ++i) key[i] += kWeyl[i];
  }
  return counter[index & 3];
}

bool Divides(Op op) { return op == Op::kDiv || op == Op::kMod || op == Op::kCdiv; }

__int128 IntegerBinary(Op op, __int128 x, __int128 y) {
  switch (op) {
    case Op::kAdd: return x + y;
    case Op::kSub: return x - y;
    case Op::kMul: return WrappingProduct(x, y);
    case Op::kDiv: return FloorDivide(x, y);
    case Op::kMod: return x - y * FloorDivide(x, y);
    case Op::kCdiv: return -FloorDivide(-x, y);
    case Op::kMin: return x < y ? x : y;
    case Op::kMax: return x < y ? y : x;
    case Op::kAnd: return x != 0 && y != 0 ? 1 : 0;
    case Op::kOr: return x != 0 || y != 0 ? 1 : 0;
    case Op::kRandom: return Philox(static_cast<uint64_t>(x), static_cast<uint64_t>(y));
    default: InternalError("not an operation on two integers");
  }
}

/// Calls `f(result index, x index, y index)` for each element of a result of `type`.
template <typename F>
void ForEach(const Type& type, const Value& x, const Value& y, F f) {
  const Broadcast at_x = BroadcastOf(x.type());
  const Broadcast at_y = BroadcastOf(y.type());
  for (int64_t row = 0; row < type.rows; ++row) {
    for (int64_t col = 0; col < type.cols; ++col) f(row * type.cols + col, at_x.At(row, col), at_y.At(row, col));
  }
}

/// `x` with elements held as doubles; integers become the nearest double.
Value AsReals(const Value& x) { return x.is_float() ? x : x.ConvertedTo(DType::kF64); }

Value CompareValues(Op op, const Value& x, const Value& y, const Type& type) {
  Value result = Value::Zero(type);
  int64_t* to = result.MutableIntegers();
  if (x.is_float() || y.is_float()) {
    const Value real_x = AsReals(x);
    const Value real_y = AsReals(y);
    const double* from_x = real_x.Reals();
    const double* from_y = real_y.Reals();
    ForEach(type, x, y, [&](int64_t i, int64_t ix, int64_t iy) { to[i] = Compare(op, from_x[ix], from_y[iy]); });
    return result;
  }
  const int64_t* from_x = x.Integers();
  const int64_t* from_y = y.Integers();
  ForEach(type, x, y, [&](int64_t i, int64_t ix, int64_t iy) {
    to[i] = Compare(op, IntegerValue(x.type().dtype, from_x[ix]), IntegerValue(y.type().dtype, from_y[iy]));
  });
  return result;
}

Value ComputeReals(Op op, const Value& x, const Value& y, const Type& type, Rounding rounding) {
  Value result = Value::Zero(type);
  double* to = result.MutableReals();
  const Value real_x = AsReals(x);
  const Value real_y = AsReals(y);
  const double* from_x = real_x.Reals();
  const double* from_y = real_y.Reals();
  ForEach(type, x, y, [&](int64_t i, int64_t ix, int64_t iy) { to[i] = RealBinary(op, from_x[ix], from_y[iy]); });
  if (rounding == Rounding::kNow) RoundReals(type.dtype, to, result.size());
  return result;
}

}  // namespace

Value ApplyUnary(Op op, const Value& x, const Type& type) {
  Value result = Value::Zero(type);
  const int64_t count = result.size();
  if (IsFloat(type.dtype)) {
    const Value real = AsReals(x);
    const double* from = real.Reals();
    double* to = result.MutableReals();
    for (int64_t i = 0; i < count; ++i) to[i] = RealUnary(op, from[i]);
    RoundReals(type.dtype, to, count);
    return result;
  }
  int64_t* to = result.MutableIntegers();
  if (x.is_float()) {  // floor or ceil straight to an integer
    for (int64_t i = 0; i < count; ++i) to[i] = IntegerFromReal(type.dtype, RealUnary(op, x.Reals()[i]));
    return result;
  }
  for (int64_t i = 0; i < count; ++i) {
    to[i] = WrapInteger(type.dtype, IntegerUnary(op, IntegerValue(x.type().dtype, x.Integers()[i])));
  }
  return result;
}

Value ApplyBinary(Op op, const Value& x, const Value& y, const Type& type, Rounding rounding, Span span) {
  if (IsComparison(op)) return CompareValues(op, x, y, type);
  if (IsFloat(type.dtype)) return ComputeReals(op, x, y, type, rounding);
  Ensure(!x.is_float() && !y.is_float(), "an integer result of float operands", span);
  Value result = Value::Zero(type);
  int64_t* to = result.MutableIntegers();
  const int64_t* from_x = x.Integers();
  const int64_t* from_y = y.Integers();
  ForEach(type, x, y, [&](int64_t i, int64_t ix, int64_t iy) {
    if (Divides(op) && from_y[iy] == 0) {
      if (op == Op::kMod) to[i] = from_x[ix];  // the quotient stays 0
      return;
    }
    const __int128 exact = IntegerBinary(op, IntegerValue(x.type().dtype, from_x[ix]), IntegerValue(y.type().dtype, from_y[iy]));
    to[i] = WrapInteger(type.dtype, exact);
  });
  return result;
}

Value WithoutSubnormals(Value x) {
  if (!IsFloat(x.type().dtype)) return x;
  double* values = x.MutableReals();
  for (int64_t i = 0; i < x.size(); ++i) values[i] = std::fabs(values[i]) < 0x1p-126 ? std::copysign(0.0, values[i]) : values[i];
  return x;
}

Value Select(const Value& condition, const Value& if_true, const Value& if_false, const Type& type) {
  Value result = Value::Zero(type);
  const Value yes = if_true.ConvertedTo(type.dtype);
  const Value no = if_false.ConvertedTo(type.dtype);
  const Broadcast at_condition = BroadcastOf(condition.type());
  const int64_t* chosen = condition.Integers();
  const auto copy = [&](auto* to, const auto* from_yes, const auto* from_no) {
    const Broadcast at_yes = BroadcastOf(yes.type());
    const Broadcast at_no = BroadcastOf(no.type());
    for (int64_t row = 0; row < type.rows; ++row) {
      for (int64_t col = 0; col < type.cols; ++col) {
        to[row * type.cols + col] =
            chosen[at_condition.At(row, col)] != 0 ? from_yes[at_yes.At(row, col)] : from_no[at_no.At(row, col)];
      }
    }
  };
  if (IsFloat(type.dtype)) {
    copy(result.MutableReals(), yes.Reals(), no.Reals());
  } else {
    copy(result.MutableIntegers(), yes.Integers(), no.Integers());
  }
  return result;
}

}  // namespace tkc::interp

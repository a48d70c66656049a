// SPDX-License-Identifier: MIT
// Make: every operation is built here, already simplified. Rules must be stable: building a result again gives the same tree,
// so that text read back is the text that was printed. Integers of dtype kI64 are mathematical; the other integer types and the
// floats fold only literals (x - x is not 0 for a NaN).

#include "compiler/support/floor_div.h"
#include "compiler/symbolic/node.h"
#include "compiler/symbolic/polynomial.h"
#include "compiler/symbolic/scalar.h"

namespace tkc::symbolic {
namespace {

template <typename... Args>
Scalar Raw(Kind kind, DType dtype, const Args&... args) {
  auto node = NewNode(kind, dtype);
  node->args.reserve(sizeof...(args));
  (node->args.push_back(args), ...);
  return node;
}

template <typename T>
bool Compare(Kind kind, T a, T b) {
  switch (kind) {
    case Kind::kEq: return a == b;
    case Kind::kNe: return a != b;
    case Kind::kLt: return a < b;
    case Kind::kLe: return a <= b;
    case Kind::kGt: return a > b;
    default: return a >= b;
  }
}

/// Null if the result is not an int64 (overflow, division by zero).
Scalar FoldInts(Kind kind, int64_t a, int64_t b) {
  int64_t value = 0;
  const bool divides = kind == Kind::kDiv || kind == Kind::kMod || kind == Kind::kCdiv;
  if (divides && (b == 0 || (a == INT64_MIN && b == -1))) return nullptr;
  switch (kind) {
    case Kind::kAdd:
      if (__builtin_add_overflow(a, b, &value)) return nullptr;
      return Int(value);
    case Kind::kSub:
      if (__builtin_sub_overflow(a, b, &value)) return nullptr;
      return Int(value);
    case Kind::kMul:
      if (__builtin_mul_overflow(a, b, &value)) return nullptr;
      return Int(value);
    case Kind::kDiv: return Int(FloorDiv(a, b));
    case Kind::kMod: return Int(a - FloorDiv(a, b) * b);
    case Kind::kCdiv: return Int(FloorDiv(a, b) + (a % b != 0));
    case Kind::kMin: return Int(std::min(a, b));
    case Kind::kMax: return Int(std::max(a, b));
    default: return nullptr;
  }
}

/// In the arithmetic of the type: a sum, difference, product or quotient of two floats rounded from double is rounded once.
Scalar FoldFloats(Kind kind, DType dtype, double a, double b) {
  switch (kind) {
    case Kind::kAdd: return Float(a + b, dtype);
    case Kind::kSub: return Float(a - b, dtype);
    case Kind::kMul: return Float(a * b, dtype);
    case Kind::kDiv: return Float(a / b, dtype);
    default: return nullptr;
  }
}

Scalar FoldLiterals(Kind kind, DType dtype, const Scalar& a, const Scalar& b) {
  if (a->dtype != b->dtype) return nullptr;
  if (a->kind == Kind::kInt && b->kind == Kind::kInt) {
    if (IsComparison(kind)) return Bool(Compare(kind, a->int_value, b->int_value));
    return dtype == DType::kI64 && a->dtype == DType::kI64 ? FoldInts(kind, a->int_value, b->int_value) : nullptr;
  }
  if (a->kind == Kind::kFloat && b->kind == Kind::kFloat) {
    if (IsComparison(kind)) return Bool(Compare(kind, a->float_value, b->float_value));
    return dtype == a->dtype ? FoldFloats(kind, dtype, a->float_value, b->float_value) : nullptr;
  }
  return nullptr;
}

/// (x - y) + y, y + (x - y), (x + y) - y, (x + y) - x, x - (x - y): what remains, or null.
Scalar Cancel(bool is_add, const Scalar& a, const Scalar& b) {
  if (is_add) {
    if (a->kind == Kind::kSub && Equal(a->args[1], b)) return a->args[0];
    if (b->kind == Kind::kSub && Equal(b->args[1], a)) return b->args[0];
    return nullptr;
  }
  if (a->kind == Kind::kAdd && Equal(a->args[1], b)) return a->args[0];
  if (a->kind == Kind::kAdd && Equal(a->args[0], b)) return a->args[1];
  if (b->kind == Kind::kSub && Equal(b->args[0], a)) return b->args[1];
  return nullptr;
}

/// x + c or x - c, without a negative literal on the right; x has no literal at its end.
Scalar PlusNumber(const Scalar& a, int64_t number) {
  if (number == 0) return a;
  return number < 0 ? Raw(Kind::kSub, DType::kI64, a, Int(-number)) : Raw(Kind::kAdd, DType::kI64, a, Int(number));
}

/// x + c and x - c in their one form: no negative literal on the right, one literal at the end of a chain.
Scalar MakeSum(bool is_add, const Scalar& a, const Scalar& b) {
  int64_t right = 0, left = 0, inner = 0;
  if (!IsSum(a) && IsInt(b, &right) && right != INT64_MIN) return PlusNumber(a, is_add ? right : -right);
  if (const auto sum = ConstantSum(a, b, is_add ? 1 : -1)) return Int(*sum);
  if (Scalar rest = Cancel(is_add, a, b)) return rest;
  if (IsInt(a, &left) && left == 0) return is_add ? b : Make(Kind::kNeg, DType::kI64, {b});
  if (is_add && IsInt(a) && !IsInt(b)) return MakeSum(true, b, a);
  if (b->kind == Kind::kNeg) return MakeSum(!is_add, a, b->args[0]);
  if (IsInt(b, &right) && right != INT64_MIN) {
    const int64_t offset = is_add ? right : -right;
    const bool is_sum = a->kind == Kind::kAdd || a->kind == Kind::kSub;
    if (is_sum && IsInt(a->args[1], &inner) && inner != INT64_MIN) {
      int64_t total = 0;
      if (!__builtin_add_overflow(a->kind == Kind::kAdd ? inner : -inner, offset, &total) && total != INT64_MIN) {
        return MakeSum(true, a->args[0], Int(total));
      }
    }
    return PlusNumber(a, offset);
  }
  return Raw(is_add ? Kind::kAdd : Kind::kSub, DType::kI64, a, b);
}

Scalar MakeProduct(const Scalar& a, const Scalar& b) {
  int64_t value = 0, inner = 0, product = 0;
  if (IsInt(a) && !IsInt(b)) return MakeProduct(b, a);
  if (IsInt(b, &value)) {
    if (value == 0) return Int(0);
    if (value == 1) return a;
    if (value == -1) return Make(Kind::kNeg, DType::kI64, {a});
    if (a->kind == Kind::kMul && IsInt(a->args[1], &inner) && !__builtin_mul_overflow(inner, value, &product)) {
      return MakeProduct(a->args[0], Int(product));
    }
    if (a->kind == Kind::kNeg && value != INT64_MIN) return MakeProduct(a->args[0], Int(-value));
  }
  return Raw(Kind::kMul, DType::kI64, a, b);
}

/// x * (value / divisor) where value is a literal multiple of the divisor, and sums of such; null if `a` is not of that form.
Scalar DivideExactly(const Scalar& a, int64_t divisor) {
  int64_t factor = 0;
  if (IsInt(a, &factor) && factor % divisor == 0) return Int(factor / divisor);
  if (a->kind == Kind::kMul && IsInt(a->args[1], &factor) && factor % divisor == 0) {
    return MakeProduct(a->args[0], Int(factor / divisor));
  }
  if (a->kind != Kind::kAdd && a->kind != Kind::kSub) return nullptr;
  const Scalar left = DivideExactly(a->args[0], divisor);
  const Scalar right = left ? DivideExactly(a->args[1], divisor) : nullptr;
  return right ? MakeSum(a->kind == Kind::kAdd, left, right) : nullptr;
}

Scalar MakeDivision(Kind kind, const Scalar& a, const Scalar& b) {
  int64_t divisor = 0;
  if (IsInt(b, &divisor) && divisor == 0) return kind == Kind::kMod ? a : Int(0);
  if (IsInt(b, &divisor) && divisor > 0) {
    if (divisor == 1) return kind == Kind::kMod ? Int(0) : a;
    if (kind == Kind::kMod && KnownDivisor(a) % divisor == 0) return Int(0);
    if (kind != Kind::kMod) {
      if (Scalar exact = DivideExactly(a, divisor)) return exact;
    }
  }
  if (int64_t value = 0; IsInt(a, &value) && value == 0 && divisor != 0) return Int(0);
  return Raw(kind, DType::kI64, a, b);
}

/// Whether one of what `some` is the least (the most) of makes `other` no matter: min(n + 64, m) is never above m.
bool Covers(Kind kind, const Scalar& some, const Scalar& other) {
  if (some->kind == kind) return Covers(kind, some->args[0], other) || Covers(kind, some->args[1], other);
  const auto difference = ConstantDifference(some, other);
  return difference && (kind == Kind::kMin ? *difference <= 0 : *difference >= 0);
}

Scalar MakeExtremum(Kind kind, const Scalar& a, const Scalar& b) {
  if (const auto difference = ConstantDifference(a, b)) return (*difference <= 0) == (kind == Kind::kMin) ? a : b;
  if (b->kind == kind && b->dtype == DType::kI64 && Covers(kind, b, a)) return b;
  if (a->kind == kind && a->dtype == DType::kI64 && Covers(kind, a, b)) return a;
  return Raw(kind, DType::kI64, a, b);
}

/// Mathematical integers, both sides kI64.
Scalar MakeInteger(Kind kind, const Scalar& a, const Scalar& b) {
  switch (kind) {
    case Kind::kAdd: return MakeSum(true, a, b);
    case Kind::kSub: return MakeSum(false, a, b);
    case Kind::kMul: return MakeProduct(a, b);
    case Kind::kMin:
    case Kind::kMax: return MakeExtremum(kind, a, b);
    default: return MakeDivision(kind, a, b);
  }
}

bool IsBool(const Scalar& scalar, bool value) { return scalar->kind == Kind::kBool && (scalar->int_value != 0) == value; }

Scalar MakeLogic(Kind kind, const Scalar& a, const Scalar& b) {
  const bool neutral = kind == Kind::kAnd;
  if (IsBool(a, neutral)) return b;
  if (IsBool(b, neutral)) return a;
  if (IsBool(a, !neutral) || IsBool(b, !neutral)) return Bool(!neutral);
  return Raw(kind, DType::kBool, a, b);
}

Scalar MakeComparison(Kind kind, const Scalar& a, const Scalar& b) {
  if (const auto difference = ConstantDifference(a, b)) return Bool(Compare<int64_t>(kind, *difference, 0));
  return Raw(kind, DType::kBool, a, b);
}

Scalar MakeNeg(DType dtype, const Scalar& a) {
  if (a->kind == Kind::kInt && dtype == DType::kI64 && a->int_value != INT64_MIN) return Int(-a->int_value);
  if (a->kind == Kind::kFloat) return Float(-a->float_value, a->dtype);
  if (a->kind == Kind::kNeg) return a->args[0];
  int64_t factor = 0;
  if (dtype == DType::kI64) {
    if (a->kind == Kind::kMul && IsInt(a->args[1], &factor) && factor != INT64_MIN) return MakeProduct(a->args[0], Int(-factor));
    if (a->kind == Kind::kSub) return MakeSum(false, a->args[1], a->args[0]);
  }
  return Raw(Kind::kNeg, dtype, a);
}

Scalar MakeSelect(DType dtype, const std::vector<Scalar>& args) {
  if (args[0]->kind == Kind::kBool) return args[0]->int_value ? args[1] : args[2];
  if (Equal(args[1], args[2])) return args[1];
  return Raw(Kind::kSelect, dtype, args[0], args[1], args[2]);
}

}  // namespace

Scalar Make(Kind kind, DType dtype, std::vector<Scalar> args) {
  if (kind == Kind::kConvert) return Convert(args[0], dtype);
  if (kind == Kind::kNeg) return MakeNeg(dtype, args[0]);
  if (kind == Kind::kNot) {
    if (args[0]->kind == Kind::kBool) return Bool(!args[0]->int_value);
    if (args[0]->kind == Kind::kNot) return args[0]->args[0];
    return Raw(kind, DType::kBool, args[0]);
  }
  if (kind == Kind::kSelect) return MakeSelect(dtype, args);
  const Scalar &a = args[0], &b = args[1];
  if (kind == Kind::kAnd || kind == Kind::kOr) return MakeLogic(kind, a, b);
  if (Scalar literal = FoldLiterals(kind, dtype, a, b)) return literal;
  if (IsComparison(kind)) return MakeComparison(kind, a, b);
  if (dtype == DType::kI64 && a->dtype == DType::kI64 && b->dtype == DType::kI64) return MakeInteger(kind, a, b);
  return Raw(kind, dtype, a, b);
}

}  // namespace tkc::symbolic

// SPDX-License-Identifier: MIT
#include "compiler/symbolic/int_range.h"

#include <algorithm>
#include <initializer_list>

#include "compiler/support/floor_div.h"

namespace tkc::symbolic {
namespace {

constexpr int64_t kLeast = IntRange::kLeast, kMost = IntRange::kMost;

bool IsOpen(int64_t bound) { return bound == kLeast || bound == kMost; }

/// `none` where one of the terms has no bound or their sum overflows.
int64_t SumOfBounds(int64_t a, int64_t b, int64_t none) {
  int64_t sum = 0;
  return IsOpen(a) || IsOpen(b) || __builtin_add_overflow(a, b, &sum) ? none : sum;
}

int64_t Negated(int64_t a) { return a == kLeast ? kMost : a == kMost ? kLeast : -a; }

IntRange Negated(IntRange r) { return {Negated(r.hi), Negated(r.lo)}; }

/// The larger of each number and its negative.
IntRange Absolute(IntRange r) { return {std::max({int64_t{0}, r.lo, Negated(r.hi)}), std::max(r.hi, Negated(r.lo))}; }

/// `none` where the number does not fit.
int64_t Bound(__int128 number, int64_t none) { return number > kLeast && number < kMost ? static_cast<int64_t>(number) : none; }

IntRange RangeOfProduct(IntRange a, IntRange b) {
  if (a.lo >= 0 && b.lo >= 0) {
    const bool is_open = a.hi == kMost || b.hi == kMost;
    return {Bound(__int128{a.lo} * b.lo, 0), is_open ? kMost : Bound(__int128{a.hi} * b.hi, kMost)};
  }
  if (!a.HasBounds() || !b.HasBounds()) return {};
  const std::initializer_list<__int128> corners = {__int128{a.lo} * b.lo, __int128{a.lo} * b.hi, __int128{a.hi} * b.lo,
                                                   __int128{a.hi} * b.hi};
  return {Bound(std::min(corners), kLeast), Bound(std::max(corners), kMost)};
}

/// Rounded down, by a positive number.
IntRange Quotient(IntRange a, int64_t by) {
  const auto floor = [by](int64_t x) { return IsOpen(x) ? x : FloorDiv(x, by); };
  return {floor(a.lo), floor(a.hi)};
}

/// Of x / y, rounded either way: no further from zero than x.
IntRange AnyQuotient(IntRange x, IntRange y) {
  if (x.lo >= 0 && y.lo >= 0) return {0, x.hi};
  return Either(x, Negated(x));
}

/// Of x % y: of the sign of y, and nearer to zero; x % 0 is x.
IntRange AnyRemainder(IntRange x, IntRange y) {
  const IntRange range{std::min(y.lo, int64_t{0}), std::max(y.hi, int64_t{0})};
  return y.lo > 0 || y.hi < 0 ? range : Either(range, x);
}

}  // namespace

IntRange Sum(IntRange a, IntRange b) { return {SumOfBounds(a.lo, b.lo, kLeast), SumOfBounds(a.hi, b.hi, kMost)}; }
IntRange Difference(IntRange a, IntRange b) { return Sum(a, Negated(b)); }
IntRange Either(IntRange a, IntRange b) { return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)}; }
IntRange Chosen(Kind kind, IntRange a, IntRange b) {
  const bool is_min = kind == Kind::kMin;
  return {is_min ? std::min(a.lo, b.lo) : std::max(a.lo, b.lo), is_min ? std::min(a.hi, b.hi) : std::max(a.hi, b.hi)};
}

IntRange RangeOf(DType dtype) {
  switch (dtype) {
    case DType::kI8: return {std::numeric_limits<int8_t>::min(), std::numeric_limits<int8_t>::max()};
    case DType::kU8: return {0, std::numeric_limits<uint8_t>::max()};
    case DType::kI32: return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
    case DType::kU32: return {0, std::numeric_limits<uint32_t>::max()};
    case DType::kU64: return {0, kMost};
    default: return {};
  }
}

bool Holds(DType dtype, int64_t number) {
  const IntRange type = RangeOf(dtype);
  return IsInteger(dtype) && number >= type.lo && number <= type.hi;
}

IntRange RangeOfElement(DType dtype) { return dtype == DType::kU64 ? IntRange{} : RangeOf(dtype); }

bool Fits(IntRange range, DType dtype) {
  const IntRange type = RangeOf(dtype);
  return range.HasBounds() && range.lo >= type.lo && range.hi <= type.hi;
}

IntRange RangeOf(const Scalar& scalar, const std::function<IntRange(const Scalar&)>& of_atom,
                 const std::function<int64_t(const Scalar&)>& divisor_of) {
  const auto part = [&](size_t i) { return RangeOf(scalar->args[i], of_atom, divisor_of); };
  switch (scalar->kind) {
    case Kind::kInt: return {scalar->int_value, scalar->int_value};
    case Kind::kName:
    case Kind::kElement: return of_atom(scalar);
    case Kind::kCall:
      if (scalar->name != "abs") return of_atom(scalar);
      break;
    case Kind::kConvert: {
      const DType from = scalar->args[0]->dtype;
      if (IsFloat(from)) return RangeOf(scalar->dtype);
      const IntRange value = part(0);
      const bool keeps = Fits(value, scalar->dtype) || (scalar->dtype == DType::kI64 && from != DType::kU64);
      return keeps ? value : RangeOf(scalar->dtype);
    }
    default: break;
  }
  if (scalar->dtype != DType::kI64) return RangeOf(scalar->dtype);  // may wrap
  int64_t by = 0;
  switch (scalar->kind) {
    case Kind::kNeg: return Negated(part(0));
    case Kind::kAdd: return Sum(part(0), part(1));
    case Kind::kSub: return Difference(part(0), part(1));
    case Kind::kMul: return RangeOfProduct(part(0), part(1));
    case Kind::kDiv:
    case Kind::kCdiv:
      if (!IsInt(scalar->args[1], &by) || by <= 0) return AnyQuotient(part(0), part(1));
      return scalar->kind == Kind::kDiv ? Quotient(part(0), by) : Negated(Quotient(Negated(part(0)), by));
    case Kind::kMod: {
      if (!IsInt(scalar->args[1], &by) || by <= 0) return AnyRemainder(part(0), part(1));
      if (divisor_of(scalar->args[0]) % by == 0) return {0, 0};
      const IntRange value = part(0);
      return value.lo >= 0 && value.hi < by ? value : IntRange{0, by - 1};
    }
    case Kind::kMin:
    case Kind::kMax: return Chosen(scalar->kind, part(0), part(1));
    case Kind::kSelect: return Either(part(1), part(2));
    case Kind::kCall: return Absolute(part(0));
    default: return {};
  }
}

}  // namespace tkc::symbolic

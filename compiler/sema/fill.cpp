// SPDX-License-Identifier: MIT
#include "compiler/sema/fill.h"

#include <cmath>
#include <limits>

#include "compiler/symbolic/int_range.h"

namespace tkc::sema {

using typed::Op;

namespace {

/// What finite numbers of a class may be, as a set: below zero, zero, above it.
enum Sign : uint8_t { kBelow = 1, kNull = 2, kAbove = 4, kEverySign = 7 };

/// Empty for what is no class of finite numbers.
unsigned Signs(Fill x) {
  switch (x) {
    case Fill::kZero:
    case Fill::kFalse: return kNull;
    case Fill::kNegative: return kBelow;
    case Fill::kPositive: return kAbove;
    case Fill::kNotNegative: return kNull | kAbove;
    case Fill::kNotPositive: return kBelow | kNull;
    case Fill::kFinite: return kEverySign;
    default: return 0;
  }
}

/// The narrowest class that holds them.
Fill OfSigns(unsigned signs) {
  switch (signs) {
    case kNull: return Fill::kZero;
    case kAbove: return Fill::kPositive;
    case kNull | kAbove: return Fill::kNotNegative;
    case kBelow: return Fill::kNegative;
    case kBelow | kNull: return Fill::kNotPositive;
    default: return Fill::kFinite;
  }
}

unsigned NegatedSigns(unsigned signs) { return (signs & kNull) | (signs & kBelow ? kAbove : 0) | (signs & kAbove ? kBelow : 0); }

bool IsFiniteFill(Fill x) { return Signs(x) != 0; }

Fill Negate(Fill x) {
  if (IsFiniteFill(x)) return OfSigns(NegatedSigns(Signs(x)));
  return x == Fill::kNegInf ? Fill::kPosInf : x == Fill::kPosInf ? Fill::kNegInf : x;
}

Fill AddFills(Fill a, Fill b) {
  if (IsFiniteFill(a) && IsFiniteFill(b)) {
    const unsigned both = Signs(a) | Signs(b);
    if ((both & kBelow) && (both & kAbove)) return Fill::kFinite;
    // What is zero on one side only leaves the other's sign.
    return OfSigns((both & ~unsigned{kNull}) | (Signs(a) & Signs(b) & kNull));
  }
  if (IsInfinite(a) && (IsFiniteFill(b) || a == b)) return a;
  if (IsInfinite(b) && IsFiniteFill(a)) return b;
  return Fill::kAny;
}

Fill Multiply(Fill a, Fill b) {
  if (IsFiniteFill(a) && IsFiniteFill(b)) {
    if (a == Fill::kZero || b == Fill::kZero) return Fill::kZero;
    unsigned signs = (Signs(a) | Signs(b)) & kNull;
    if (Signs(a) & kAbove) signs |= Signs(b);
    if (Signs(a) & kBelow) signs |= NegatedSigns(Signs(b));
    return OfSigns(signs);
  }
  if (IsInfinite(a) && b == Fill::kPositive) return a;
  if (IsInfinite(b) && a == Fill::kPositive) return b;
  return Fill::kAny;
}

/// Data that divides counts as different from zero; a divisor that is zero where elements are missing does not.
Fill Divide(Fill a, Fill b) {
  if (b == Fill::kZero || b == Fill::kAny) return Fill::kAny;
  if (IsInfinite(b)) return IsFiniteFill(a) ? Fill::kZero : Fill::kAny;
  if (a == Fill::kZero) return a;
  if (IsInfinite(a)) return b == Fill::kPositive ? a : Fill::kAny;
  if (!IsFiniteFill(a)) return Fill::kAny;
  return a == Fill::kPositive && b == Fill::kPositive ? Fill::kPositive : Multiply(a, b);
}

Fill Maximum(Fill a, Fill b) {
  if (a == Fill::kPosInf || b == Fill::kPosInf) return Fill::kPosInf;
  if (a == Fill::kNegInf) return b;
  if (b == Fill::kNegInf || a == b) return a;
  if (!IsFiniteFill(a) || !IsFiniteFill(b)) return Fill::kAny;
  // Above zero if one side is; else zero if one side is never below it.
  unsigned signs = Signs(a) | Signs(b);
  for (const unsigned one : {Signs(a), Signs(b)}) {
    if (!(one & kBelow)) signs &= ~unsigned{kBelow};
    if (one == kAbove) signs &= ~unsigned{kNull};
  }
  return OfSigns(signs);
}

/// What can be said of `a - b`, as a set of signs; infinities are apart from each other and from all finite numbers, the ends of an
/// integer type from those on the other side of zero only.
unsigned SignsOfDifference(Fill a, Fill b, bool of_integers) {
  if (IsInfinite(a) || IsInfinite(b)) {
    if (a == b) return kNull;
    const bool is_above = a == Fill::kPosInf || b == Fill::kNegInf;
    if (!IsInfinite(a) && !IsFiniteFill(a)) return kEverySign;
    if (!IsInfinite(b) && !IsFiniteFill(b)) return kEverySign;
    const unsigned finite = IsInfinite(a) ? Signs(b) : Signs(a);
    const bool is_end_below = a == Fill::kNegInf || b == Fill::kNegInf;
    const bool may_be_end = of_integers && (finite & (is_end_below ? kBelow : kAbove)) != 0;
    return (is_above ? kAbove : kBelow) | (may_be_end ? kNull : 0);
  }
  const unsigned x = Signs(a), y = Signs(b);
  unsigned signs = x & y & kNull;
  if ((x & kAbove) || (y & kBelow)) signs |= kAbove;
  if ((x & kBelow) || (y & kAbove)) signs |= kBelow;
  return (x & y & ~unsigned{kNull}) != 0 ? unsigned{kEverySign} : signs;
}

/// kPositive or kFalse where the classes decide.
Fill Compare(Op op, Fill a, Fill b, bool of_integers) {
  const auto is_known = [](Fill x) { return IsFiniteFill(x) || IsInfinite(x); };
  if (!is_known(a) || !is_known(b)) return Fill::kFinite;
  const unsigned signs = SignsOfDifference(a, b, of_integers);
  const unsigned holds = op == Op::kEq   ? kNull
                         : op == Op::kNe ? kBelow | kAbove
                         : op == Op::kLt ? kBelow
                         : op == Op::kLe ? kBelow | kNull
                         : op == Op::kGt ? kAbove
                                         : kNull | kAbove;
  return (signs & ~holds) == 0 ? Fill::kPositive : (signs & holds) == 0 ? Fill::kFalse : Fill::kFinite;
}

}  // namespace

IntegerRange IntegersOf(DType dtype) {
  const symbolic::IntRange range = symbolic::RangeOf(dtype);
  return {range.lo, dtype == DType::kU64 ? std::nullopt : std::optional(range.hi)};
}

bool IsZero(Fill x) { return x == Fill::kZero || x == Fill::kFalse; }
bool IsInfinite(Fill x) { return x == Fill::kNegInf || x == Fill::kPosInf; }

Fill Join(Fill a, Fill b) {
  if (a == b || b == Fill::kNone) return a;
  if (a == Fill::kNone) return b;
  if (a == Fill::kSummed || b == Fill::kSummed) return Fill::kSummed;
  if (IsZero(a) && IsZero(b)) return Fill::kFalse;
  return IsFiniteFill(a) && IsFiniteFill(b) ? OfSigns(Signs(a) | Signs(b)) : Fill::kAny;
}

namespace {

/// What a float rounds to zero, at most, and to an infinity, at least; 8-bit floats saturate.
struct FloatEnds {
  double zero, infinity;
};

FloatEnds EndsOf(DType dtype) {
  switch (dtype) {
    case DType::kF16: return {0x1p-25, 65520};
    case DType::kBF16: return {0x1p-134, 0x1.ffp127};
    case DType::kE4M3: return {0x1p-10, HUGE_VAL};
    case DType::kE5M2: return {0x1p-17, HUGE_VAL};
    default: return {0x1p-150, 0x1.ffffffp127};
  }
}

bool Saturates(DType dtype) { return IsFloat(dtype) && Bytes(dtype) == 1; }

Fill ToFloat(Fill x, DType dtype) {
  if (Bytes(dtype) > 2 || dtype == DType::kBF16) return x;
  if (x == Fill::kPositive) return Fill::kNotNegative;
  if (x == Fill::kNegative) return Fill::kNotPositive;
  if (!Saturates(dtype)) return x;
  return x == Fill::kPosInf ? Fill::kPositive : x == Fill::kNegInf ? Fill::kFinite : x;
}

/// Towards zero, from it at most to the ends of the type; a NaN gives 0.
Fill Truncate(Fill x, DType dtype) {
  const bool is_signed = Info(dtype).is_signed;
  if (x == Fill::kAny) return Fill::kFinite;
  if (x == Fill::kNegInf) return is_signed ? x : Fill::kZero;
  if (!IsFiniteFill(x) || IsZero(x)) return x;
  const unsigned signs = Signs(x) | kNull;
  return OfSigns(is_signed ? signs : signs & ~unsigned{kBelow});
}

}  // namespace

Fill FillOfNumber(double value, DType dtype) {
  if (std::isnan(value)) return Fill::kAny;
  const FloatEnds ends = EndsOf(dtype);
  const double size = std::abs(value);
  if (std::isinf(value) && Saturates(dtype)) return value > 0 ? Fill::kPositive : Fill::kFinite;
  if (size >= ends.infinity) return value > 0 ? Fill::kPosInf : Fill::kNegInf;
  return size <= ends.zero ? Fill::kZero : value > 0 ? Fill::kPositive : Fill::kNegative;
}

Fill FillOfInteger(int64_t value, DType dtype) {
  const int bits = 8 * Bytes(dtype);
  auto wrapped = static_cast<uint64_t>(value);
  const bool is_signed = Info(dtype).is_signed;
  if (bits < 64) {
    const uint64_t sign = is_signed ? uint64_t{1} << (bits - 1) : 0;
    wrapped = ((wrapped & ((uint64_t{1} << bits) - 1)) ^ sign) - sign;
  }
  const auto number = static_cast<int64_t>(wrapped);
  const IntegerRange range = IntegersOf(dtype);
  if (number == range.greatest || (!range.greatest && number == -1)) return Fill::kPosInf;
  if (!range.greatest && number < 0) return Fill::kPositive;
  if (number == range.least && number < 0) return Fill::kNegInf;
  return number == 0 ? Fill::kZero : number > 0 ? Fill::kPositive : Fill::kNegative;
}

bool WrapsAbove(DType from, DType to) {
  if (!IsInteger(from) || !IsInteger(to)) return false;
  const IntegerRange was = IntegersOf(from), is = IntegersOf(to);
  return is.greatest && (!was.greatest || *is.greatest < *was.greatest);
}

Fill ConvertFill(Fill x, DType from, DType to) {
  if (x == Fill::kFalse && to != DType::kBool) return Fill::kZero;
  if (IsInteger(from) && IsFloat(to)) return x == Fill::kPosInf ? Fill::kPositive : x == Fill::kNegInf ? Fill::kNegative : x;
  if (IsInteger(from) && from != to) x = DropEnds(x);
  if (x == Fill::kPositive && WrapsAbove(from, to)) return Fill::kFinite;
  if (IsFloat(from) && IsInteger(to)) return Truncate(x, to);
  return IsFloat(from) && from != to ? ToFloat(x, to) : x;
}

Fill DropEnds(Fill x) {
  const bool is_signed = x == Fill::kNotNegative || x == Fill::kNotPositive || x == Fill::kNegative;
  return IsInfinite(x) || is_signed ? Fill::kFinite : x;
}

Fill ApplyFill(Op op, Fill x) {
  if (x == Fill::kNone || x == Fill::kSummed) return x;
  switch (op) {
    case Op::kNeg: return Negate(x);
    case Op::kNot: return IsZero(x) ? Fill::kPositive : x == Fill::kPositive ? Fill::kFalse : Fill::kFinite;
    case Op::kAbs:
      return IsInfinite(x) ? Fill::kPosInf : IsFiniteFill(x) ? OfSigns((Signs(x) | NegatedSigns(Signs(x))) & ~unsigned{kBelow}) : x;
    case Op::kExp:
    case Op::kExp2:  // of what may be above zero it may overflow
      if (x == Fill::kNotPositive || x == Fill::kNegative) return Fill::kNotNegative;
      return x == Fill::kZero ? Fill::kPositive : x == Fill::kNegInf ? Fill::kZero : x == Fill::kPosInf ? x : Fill::kAny;
    case Op::kLog:
    case Op::kLog2:
      return x == Fill::kZero ? Fill::kNegInf : x == Fill::kPositive ? Fill::kFinite : x == Fill::kPosInf ? x : Fill::kAny;
    case Op::kSqrt: return (IsFiniteFill(x) && !(Signs(x) & kBelow)) || x == Fill::kPosInf ? x : Fill::kAny;
    case Op::kRsqrt:
      return x == Fill::kPositive ? x : x == Fill::kZero ? Fill::kPosInf : x == Fill::kPosInf ? Fill::kZero : Fill::kAny;
    case Op::kTanh:
    case Op::kErf: return IsFiniteFill(x) || x == Fill::kAny ? x : Fill::kFinite;
    case Op::kSigmoid:
      return x == Fill::kNegInf                       ? Fill::kZero
             : x == Fill::kZero || x == Fill::kPosInf ? Fill::kPositive
             : x == Fill::kAny                        ? x
                                                      : Fill::kNotNegative;
    case Op::kSin: return x == Fill::kZero ? x : IsFiniteFill(x) ? Fill::kFinite : Fill::kAny;
    case Op::kCos: return x == Fill::kZero ? Fill::kPositive : IsFiniteFill(x) ? Fill::kFinite : Fill::kAny;
    case Op::kFloor:
    case Op::kCeil:
    case Op::kRound: return x == Fill::kPositive ? Fill::kNotNegative : x == Fill::kNegative ? Fill::kNotPositive : x;
    case Op::kFinite: return IsFiniteFill(x) ? x : IsInfinite(x) ? Fill::kZero : Fill::kFinite;
    default: return Fill::kAny;
  }
}

Fill ApplyFill(Op op, Fill a, Fill b) {
  if (a == Fill::kNone || b == Fill::kNone) return Fill::kNone;
  if (a == Fill::kSummed || b == Fill::kSummed) return Fill::kSummed;
  switch (op) {
    case Op::kAdd: return AddFills(a, b);
    case Op::kSub: return AddFills(a, Negate(b));
    case Op::kMul: return Multiply(a, b);
    case Op::kDiv: return Divide(a, b);
    case Op::kMax: return Maximum(a, b);
    case Op::kMin: return Negate(Maximum(Negate(a), Negate(b)));
    case Op::kAnd:
      if (IsZero(a) || IsZero(b)) return a == Fill::kZero || b == Fill::kZero ? Fill::kZero : Fill::kFalse;
      return a == Fill::kPositive && b == Fill::kPositive ? a : Fill::kFinite;
    case Op::kOr:
      if (a == Fill::kPositive || b == Fill::kPositive) return Fill::kPositive;
      return IsZero(a) && IsZero(b) ? Join(a, b) : Fill::kFinite;
    case Op::kEq:
    case Op::kNe:
    case Op::kLt:
    case Op::kLe:
    case Op::kGt:
    case Op::kGe: return Compare(op, a, b, false);
    case Op::kPow: return a == Fill::kZero && b == Fill::kPositive ? a : Fill::kAny;
    case Op::kMod:
    case Op::kCdiv: return a == Fill::kZero ? a : Fill::kFinite;  // integers
    case Op::kRandom: return Fill::kFinite;
    default: return Fill::kAny;
  }
}

Fill AsDivisor(Fill x) { return IsFiniteFill(x) && (Signs(x) & kNull) != 0 ? Fill::kAny : x; }

Fill ApplyToIntegers(Op op, Fill a, Fill b) {
  const bool is_known = a != Fill::kNone && b != Fill::kNone && a != Fill::kSummed && b != Fill::kSummed;
  if (!is_known) return ApplyFill(op, a, b);
  if (op >= Op::kEq && op <= Op::kGe) return Compare(op, a, b, true);
  // A quotient is a floor, and x / 0 is 0; an end of the type is as large as any other number may be.
  if (op == Op::kDiv) return IsZero(a) || IsZero(b) ? Fill::kZero : Fill::kFinite;
  const Fill result = ApplyFill(op, a, b);
  const bool wraps = op == Op::kAdd || op == Op::kSub || op == Op::kMul;
  return wraps && result == Fill::kPositive && !IsZero(a) && !IsZero(b) ? Fill::kFinite : result;
}

const char* FillText(Fill x) {
  switch (x) {
    case Fill::kNone: return "nothing";
    case Fill::kZero:
    case Fill::kFalse: return "0";
    case Fill::kPositive:
    case Fill::kNegative:
    case Fill::kNotNegative:
    case Fill::kNotPositive:
    case Fill::kFinite:
    case Fill::kSummed: return "some number";
    case Fill::kNegInf: return "-inf";
    case Fill::kPosInf: return "inf";
    case Fill::kAny: return "anything, also an infinity or a NaN";
  }
  return "";
}

Taint Join(const Taint& a, const Taint& b) {
  if (a.base == Fill::kNone) return b;
  if (b.base == Fill::kNone) return a;
  Taint result;
  result.base = Join(a.base, b.base);
  if (result.base == Fill::kAny) result.base = Fill::kFinite;
  result.read_infinite = a.read_infinite || b.read_infinite;
  for (int which = 0; which < 2; ++which) {
    for (const auto& [source, fill] : a.axis[which]) result.axis[which][source] = Join(fill, b.At(which, source));
    for (const auto& [source, fill] : b.axis[which]) result.axis[which][source] = Join(fill, a.At(which, source));
    if (a.numbers[which] || b.numbers[which]) result.numbers[which] = Join(a.Beside(which), b.Beside(which));
  }
  return result;
}

}  // namespace tkc::sema

// SPDX-License-Identifier: MIT
// Rounding by one rule for every binary format: the spacing of representable numbers around x (the quantum) is a
// power of two, and adding then subtracting 1.5 * 2^52 quanta lets the double adder round to nearest even for us.
#include "compiler/support/number.h"

#include <bit>
#include <cmath>
#include <limits>

#include "compiler/support/internal_error.h"

namespace tkc {
namespace {

/// A binary float format: `fraction` stored bits of the significand, smallest normal 2^min_exponent, largest number.
struct Format {
  int fraction;
  int min_exponent;
  double largest;
  bool saturates;  // beyond `largest`: stays there; otherwise infinity
};

Format FormatOf(DType dtype) {
  switch (dtype) {
    case DType::kF16: return {10, -14, 65504.0, false};
    case DType::kBF16: return {7, -126, 0x1.FEp127, false};
    case DType::kE4M3: return {3, -6, 448.0, true};
    case DType::kE5M2: return {2, -14, 57344.0, true};
    default: InternalError("no small float format");
  }
}

double RoundSmall(const Format& format, double x) {
  if (!std::isfinite(x)) {
    return std::isinf(x) && format.saturates ? std::copysign(format.largest, x) : x;
  }
  const int exponent = static_cast<int>((std::bit_cast<uint64_t>(x) >> 52) & 0x7ff) - 1023;
  const int quantum_exponent = (exponent < format.min_exponent ? format.min_exponent : exponent) - format.fraction;
  const double quantum = std::bit_cast<double>(static_cast<uint64_t>(quantum_exponent + 1023) << 52);
  const double magic = 0x1.8p52 * quantum;
  const volatile double lifted = x + magic;  // volatile: the two additions must not be folded into none
  const double rounded = std::copysign(lifted - magic, x);
  if (std::fabs(rounded) <= format.largest) return rounded;
  return std::copysign(format.saturates ? format.largest : std::numeric_limits<double>::infinity(), x);
}

__int128 LargestInteger(DType dtype) {
  const int bits = Bytes(dtype) * 8 - (Info(dtype).is_signed ? 1 : 0);
  return (static_cast<__int128>(1) << bits) - 1;
}

__int128 SmallestInteger(DType dtype) { return Info(dtype).is_signed ? -LargestInteger(dtype) - 1 : 0; }

}  // namespace

double RoundReal(DType dtype, double x) {
  if (dtype == DType::kF32) return static_cast<double>(static_cast<float>(x));
  if (dtype == DType::kF64) return x;
  return RoundSmall(FormatOf(dtype), x);
}

void RoundReals(DType dtype, double* values, int64_t count) {
  if (dtype == DType::kF64) return;
  if (dtype == DType::kF32) {
    for (int64_t i = 0; i < count; ++i) values[i] = static_cast<double>(static_cast<float>(values[i]));
    return;
  }
  const Format format = FormatOf(dtype);
  for (int64_t i = 0; i < count; ++i) values[i] = RoundSmall(format, values[i]);
}

int64_t WrapInteger(DType dtype, __int128 x) {
  switch (dtype) {
    case DType::kBool: return x != 0;
    case DType::kI8: return static_cast<int8_t>(static_cast<uint8_t>(x));
    case DType::kU8: return static_cast<uint8_t>(x);
    case DType::kI32: return static_cast<int32_t>(static_cast<uint32_t>(x));
    case DType::kU32: return static_cast<uint32_t>(x);
    case DType::kI64:
    case DType::kU64: return static_cast<int64_t>(static_cast<uint64_t>(x));
    default: InternalError("an integer of a float type");
  }
}

int64_t IntegerFromReal(DType dtype, double x) {
  if (dtype == DType::kBool) return x != 0;
  if (std::isnan(x)) return 0;
  const __int128 largest = LargestInteger(dtype);
  const __int128 smallest = SmallestInteger(dtype);
  const double whole = std::trunc(x);
  if (whole >= static_cast<double>(largest)) return WrapInteger(dtype, largest);
  if (whole <= static_cast<double>(smallest)) return WrapInteger(dtype, smallest);
  return WrapInteger(dtype, static_cast<__int128>(whole));
}

double RealFromInteger(DType dtype, __int128 x) {
  // Beyond 2^53 a detour through double would round twice. Dropping low bits while remembering whether any was set
  // (rounding to odd) keeps the final rounding right: 2^54 still has far more bits than any narrower format.
  if (dtype == DType::kF64) return static_cast<double>(x);
  unsigned __int128 magnitude = x < 0 ? -static_cast<unsigned __int128>(x) : static_cast<unsigned __int128>(x);
  int shift = 0;
  bool sticky = false;
  while ((magnitude >> 52) != 0) {
    sticky = sticky || (magnitude & 1) != 0;
    magnitude >>= 1;
    ++shift;
  }
  if (sticky) magnitude |= 1;
  const double value = std::ldexp(static_cast<double>(magnitude), shift);
  return RoundReal(dtype, x < 0 ? -value : value);
}

uint16_t EncodeSmallFloat(DType dtype, double x) {
  if (dtype == DType::kBF16) {
    const uint32_t bits = std::bit_cast<uint32_t>(static_cast<float>(x));
    return std::isnan(x) ? static_cast<uint16_t>((bits >> 16) | 0x40) : static_cast<uint16_t>(bits >> 16);
  }
  const Format format = FormatOf(dtype);
  const int width = Bytes(dtype) * 8;
  const uint32_t sign = std::signbit(x) ? 1u << (width - 1) : 0;
  const uint32_t exponent_ones = (1u << (width - 1 - format.fraction)) - 1;
  if (std::isnan(x)) {
    return static_cast<uint16_t>(sign | ((1u << (width - 1)) - 1));  // all ones is a NaN in every format here
  }
  if (std::isinf(x)) return static_cast<uint16_t>(sign | (exponent_ones << format.fraction));
  int exponent = x == 0 ? format.min_exponent : std::ilogb(x);
  if (exponent < format.min_exponent) exponent = format.min_exponent;
  // In units of the last place, the implicit leading one included for normal numbers; the exponent field then follows
  // by adding, as a subnormal (leading bit clear) has exponent field 0 and the smallest normal has 1.
  const auto units = static_cast<uint32_t>(std::ldexp(std::fabs(x), format.fraction - exponent));
  const auto exponent_field = static_cast<uint32_t>(exponent - format.min_exponent);
  return static_cast<uint16_t>(sign | ((exponent_field << format.fraction) + units));
}

double DecodeSmallFloat(DType dtype, uint16_t bits) {
  if (dtype == DType::kBF16) return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  const Format format = FormatOf(dtype);
  const int width = Bytes(dtype) * 8;
  const uint32_t fraction = bits & ((1u << format.fraction) - 1);
  const uint32_t exponent_ones = (1u << (width - 1 - format.fraction)) - 1;
  const uint32_t exponent = (bits >> format.fraction) & exponent_ones;
  const double sign = ((bits >> (width - 1)) & 1) != 0 ? -1.0 : 1.0;
  if (dtype == DType::kE4M3) {  // no infinity: only all ones is special
    if (exponent == exponent_ones && fraction == 7) return std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == exponent_ones) {
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  }
  const uint32_t units = exponent == 0 ? fraction : fraction | (1u << format.fraction);
  const int power = (exponent == 0 ? 1 : static_cast<int>(exponent)) - 1 + format.min_exponent - format.fraction;
  return sign * std::ldexp(static_cast<double>(units), power);
}

void StoreReal(DType dtype, double value, uint8_t* to) {
  if (dtype == DType::kF32) {
    const auto narrow = static_cast<float>(value);
    std::memcpy(to, &narrow, sizeof narrow);
  } else if (dtype == DType::kF64) {
    std::memcpy(to, &value, sizeof value);
  } else {
    const uint16_t bits = EncodeSmallFloat(dtype, value);
    std::memcpy(to, &bits, static_cast<size_t>(Bytes(dtype)));
  }
}

void StoreInteger(DType dtype, int64_t value, uint8_t* to) { std::memcpy(to, &value, static_cast<size_t>(Bytes(dtype))); }

}  // namespace tkc

// SPDX-License-Identifier: MIT
// Significand and exponent range describe a binary format; rounding is arithmetic on the scaled value, exact in double.
#include "compiler/symbolic/round.h"

#include <cmath>
#include <limits>

namespace tkc::symbolic {
namespace {

/// `digits` significand bits, exponents down to `min_exponent` (of the last subnormal bit: min_exponent - digits + 1).
double RoundTo(double value, int digits, int min_exponent, double largest) {
  if (value == 0 || !std::isfinite(value)) return value;
  int exponent = 0;
  std::frexp(value, &exponent);  // |value| in [2^(exponent-1), 2^exponent)
  const int last = std::max(exponent - digits, min_exponent - digits + 1);
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -last)), last);
  if (std::abs(rounded) > largest) return std::copysign(std::numeric_limits<double>::infinity(), value);
  return rounded;
}

double Saturate(double value, double largest) { return std::isinf(value) ? std::copysign(largest, value) : value; }

}  // namespace

double Round(double value, DType dtype) {
  switch (dtype) {
    case DType::kF32: return static_cast<double>(static_cast<float>(value));
    case DType::kF16: return RoundTo(value, 11, -14, 65504.0);
    case DType::kBF16: return RoundTo(value, 8, -126, 0x1.fep127);
    case DType::kE4M3: return Saturate(RoundTo(value, 4, -6, 448.0), 448.0);
    case DType::kE5M2: return Saturate(RoundTo(value, 3, -14, 57344.0), 57344.0);
    default: return value;
  }
}

double RoundInteger(int64_t value, DType dtype) {
  if (dtype == DType::kF32) return static_cast<double>(static_cast<float>(value));
  // Up to 2^53 double is exact; above, 16-bit types are so coarse that only exact ties could round twice: keep those sticky.
  double wide = static_cast<double>(value);
  const int64_t back = std::abs(wide) < 9.2e18 ? static_cast<int64_t>(wide) : value;
  if (back != value && dtype != DType::kF64) wide = std::nextafter(wide, back < value ? INFINITY : -INFINITY);
  return Round(wide, dtype);
}

}  // namespace tkc::symbolic

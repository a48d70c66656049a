// SPDX-License-Identifier: MIT
// Rounding, saturation, wrapping and the bits in memory of every element type.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "compiler/support/number.h"

namespace tkc::interp {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(Number, RoundsHalfwayCasesToEven) {
  EXPECT_EQ(RoundReal(DType::kBF16, 1.0 + 0x1p-8), 1.0);
  EXPECT_EQ(RoundReal(DType::kBF16, 1.0 + 3 * 0x1p-8), 1.0 + 0x1p-6);
  EXPECT_EQ(RoundReal(DType::kBF16, 1.0 + 0x1p-8 + 0x1p-40), 1.0 + 0x1p-7);
  EXPECT_EQ(RoundReal(DType::kF16, 2049.0), 2048.0);
  EXPECT_EQ(RoundReal(DType::kF16, 2051.0), 2052.0);
  EXPECT_EQ(RoundReal(DType::kF32, 16777217.0), 16777216.0);
  EXPECT_EQ(RoundReal(DType::kF16, -2049.0), -2048.0);
}

TEST(Number, OverflowsAndUnderflows) {
  EXPECT_EQ(RoundReal(DType::kF16, 65519.0), 65504.0);
  EXPECT_EQ(RoundReal(DType::kF16, 65520.0), kInf);
  EXPECT_EQ(RoundReal(DType::kF16, -1e30), -kInf);
  EXPECT_EQ(RoundReal(DType::kBF16, 3.4e38), kInf);
  EXPECT_EQ(RoundReal(DType::kF16, 0x1p-25), 0.0);  // half of the smallest subnormal: to even
  EXPECT_EQ(RoundReal(DType::kF16, 0x1.8p-25), 0x1p-24);
  EXPECT_TRUE(std::signbit(RoundReal(DType::kF16, -0x1p-30)));
  EXPECT_EQ(RoundReal(DType::kBF16, 0x1p-133), 0x1p-133);  // the smallest subnormal
  EXPECT_TRUE(std::isnan(RoundReal(DType::kBF16, std::nan(""))));
  EXPECT_EQ(RoundReal(DType::kBF16, -kInf), -kInf);
}

TEST(Number, Fp8Saturates) {
  EXPECT_EQ(RoundReal(DType::kE4M3, 1000.0), 448.0);
  EXPECT_EQ(RoundReal(DType::kE4M3, -kInf), -448.0);
  EXPECT_EQ(RoundReal(DType::kE5M2, 1e9), 57344.0);
  EXPECT_EQ(RoundReal(DType::kE4M3, 17.0), 16.0);
}

TEST(Number, SmallFloatsRoundTripThroughTheirBits) {
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      const double x = DecodeSmallFloat(dtype, static_cast<uint16_t>(bits));
      if (std::isnan(x)) {
        EXPECT_TRUE(std::isnan(DecodeSmallFloat(dtype, EncodeSmallFloat(dtype, x))));
        continue;
      }
      ASSERT_EQ(RoundReal(dtype, x), x) << bits;
      ASSERT_EQ(EncodeSmallFloat(dtype, x), bits);
    }
  }
  for (const DType dtype : {DType::kE4M3, DType::kE5M2}) {
    for (uint32_t bits = 0; bits < 0x100; ++bits) {
      const double x = DecodeSmallFloat(dtype, static_cast<uint16_t>(bits));
      if (std::isfinite(x)) {
        ASSERT_EQ(EncodeSmallFloat(dtype, x), bits);
      }
    }
  }
}

TEST(Number, RoundsToTheNearerNeighbour) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(-100.0, 100.0);
  for (int i = 0; i < 20000; ++i) {
    const double x = uniform(random);
    const double rounded = RoundReal(DType::kF16, x);
    const uint16_t bits = EncodeSmallFloat(DType::kF16, rounded);
    const double error = std::fabs(x - rounded);
    EXPECT_LE(error, std::fabs(x - DecodeSmallFloat(DType::kF16, static_cast<uint16_t>(bits + 1))));
    if ((bits & 0x7fff) != 0) {
      EXPECT_LE(error, std::fabs(x - DecodeSmallFloat(DType::kF16, static_cast<uint16_t>(bits - 1))));
    }
  }
}

TEST(Number, FloatToIntegerTruncatesAndSaturates) {
  EXPECT_EQ(IntegerFromReal(DType::kI32, -2.9), -2);
  EXPECT_EQ(IntegerFromReal(DType::kI32, 1e20), std::numeric_limits<int32_t>::max());
  EXPECT_EQ(IntegerFromReal(DType::kI32, -kInf), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(IntegerFromReal(DType::kU32, 4294967296.0), 4294967295);
  EXPECT_EQ(IntegerFromReal(DType::kU32, -1.0), 0);
  EXPECT_EQ(IntegerFromReal(DType::kI64, 1e30), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(static_cast<uint64_t>(IntegerFromReal(DType::kU64, 1e30)), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(IntegerFromReal(DType::kI32, std::nan("")), 0);
}

TEST(Number, IntegersWrap) {
  EXPECT_EQ(WrapInteger(DType::kI32, int64_t{1} << 31), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(WrapInteger(DType::kU32, -1), 4294967295);
  EXPECT_EQ(WrapInteger(DType::kBool, 6), 1);
  EXPECT_EQ(IntegerValue(DType::kU64, -1), static_cast<__int128>(std::numeric_limits<uint64_t>::max()));
}

TEST(Number, IntegerToFloatRoundsOnce) {
  // 2^60 + 2^36 + 1 lies just above a tie of f32; a detour through double loses the 1 and lands on the tie.
  const __int128 x = (static_cast<__int128>(1) << 60) + (static_cast<__int128>(1) << 36) + 1;
  EXPECT_EQ(RealFromInteger(DType::kF32, x), 0x1p60 + 0x1p37);
  EXPECT_EQ(RealFromInteger(DType::kF32, -x), -(0x1p60 + 0x1p37));
  EXPECT_EQ(RealFromInteger(DType::kF32, 16777217), 16777216.0);
}

}  // namespace
}  // namespace tkc::interp

// SPDX-License-Identifier: MIT
#include "compiler/symbolic/int_range.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace tkc::symbolic {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

IntRange Of(const Scalar& scalar) {
  return RangeOf(scalar, [](const Scalar& atom) { return atom->name == "n" ? IntRange{0, 100} : RangeOf(atom->dtype); });
}

TEST(IntRangeTest, SumsAndProductsOfNames) {
  const Scalar n = Name("n");
  EXPECT_EQ(Of(Sub(Mul(n, Int(-3)), Int(5))).lo, -305);
  EXPECT_EQ(Of(Sub(Mul(n, Int(-3)), Int(5))).hi, -5);
  EXPECT_EQ(Of(Cdiv(n, Int(8))).hi, 13);
  EXPECT_EQ(Of(Make(Kind::kMin, DType::kI64, {n, Name("anything")})).hi, 100);
}

TEST(IntRangeTest, BoundsThatOverflowAreNone) {
  const Scalar n = Name("n"), large = Mul(n, Int(kMost / 50));
  EXPECT_EQ(Of(large).lo, 0);
  EXPECT_EQ(Of(large).hi, kMost);
  EXPECT_EQ(Of(Sub(Int(0), large)).lo, IntRange::kLeast);
  EXPECT_EQ(Of(Sub(Int(0), large)).hi, 0);
}

TEST(IntRangeTest, QuotientsAndRemainders) {
  const Scalar n = Name("n"), any = Name("anything"), difference = Sub(n, Int(50));
  EXPECT_EQ(Of(Make(Kind::kDiv, DType::kI64, {difference, Int(8)})).lo, -7);
  EXPECT_EQ(Of(Make(Kind::kDiv, DType::kI64, {n, n})).hi, 100);
  EXPECT_EQ(Of(Make(Kind::kDiv, DType::kI64, {n, any})).lo, -100);
  EXPECT_EQ(Of(Make(Kind::kMod, DType::kI64, {n, Int(128)})).hi, 100);
  EXPECT_EQ(Of(Make(Kind::kMod, DType::kI64, {Mul(any, Int(16)), Int(8)})).hi, 0);
}

TEST(IntRangeTest, WhatHasNoEndDoesNotFit) {
  EXPECT_TRUE(Fits(Of(Name("q", DType::kI32)), DType::kI32));
  EXPECT_FALSE(Fits(Of(Add(Convert(Name("q", DType::kI32), DType::kI64), Int(1))), DType::kI32));
  EXPECT_FALSE(Fits(Of(Name("anything")), DType::kI64));
  EXPECT_FALSE(Fits(Of(Sub(Name("n"), Int(1))), DType::kU32));
  EXPECT_EQ(Of(Mul(Mul(Name("n"), Int(kMost)), Int(2))).hi, kMost);
}

TEST(IntRangeTest, WhatMayWrapIsAnywhereInItsType) {
  const Scalar sum = Make(Kind::kAdd, DType::kI32, {Name("a", DType::kI32), Name("b", DType::kI32)});
  EXPECT_EQ(Of(sum).lo, std::numeric_limits<int32_t>::min());
  EXPECT_EQ(Of(Convert(Sub(Name("n"), Int(1)), DType::kU32)).lo, 0);
}

TEST(IntRangeTest, OfTypesEndsAtTheirNumbers) {
  EXPECT_TRUE(Holds(DType::kI8, -128));
  EXPECT_FALSE(Holds(DType::kI8, 128));
  EXPECT_TRUE(Holds(DType::kU8, 255));
  EXPECT_FALSE(Holds(DType::kU8, -1));
  EXPECT_FALSE(Holds(DType::kU64, -1));
  EXPECT_TRUE(Holds(DType::kI64, IntRange::kLeast));
  EXPECT_FALSE(Holds(DType::kF32, 1));
}

}  // namespace
}  // namespace tkc::symbolic

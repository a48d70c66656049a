// SPDX-License-Identifier: MIT
#include "compiler/symbolic/reach.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace tkc::symbolic {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

Reach Of(const Scalar& scalar) {
  return ReachOf(scalar, [](const Scalar& atom) { return atom->name == "n" ? Reach{0, 100} : ReachOf(atom->dtype); });
}

TEST(ReachTest, SumsAndProductsOfNames) {
  const Scalar n = Name("n");
  EXPECT_EQ(Of(Sub(Mul(n, Int(-3)), Int(5))).least, -305);
  EXPECT_EQ(Of(Sub(Mul(n, Int(-3)), Int(5))).most, -5);
  EXPECT_EQ(Of(Cdiv(n, Int(8))).most, 13);
  EXPECT_EQ(Of(Make(Kind::kMin, DType::kI64, {n, Name("anything")})).most, 100);
}

TEST(ReachTest, WhatHasNoEndDoesNotFit) {
  EXPECT_TRUE(Fits(Of(Name("q", DType::kI32)), DType::kI32));
  EXPECT_FALSE(Fits(Of(Add(Convert(Name("q", DType::kI32), DType::kI64), Int(1))), DType::kI32));
  EXPECT_FALSE(Fits(Of(Name("anything")), DType::kI64));
  EXPECT_FALSE(Fits(Of(Sub(Name("n"), Int(1))), DType::kU32));
  EXPECT_EQ(Of(Mul(Mul(Name("n"), Int(kMost)), Int(2))).most, kMost);
}

TEST(ReachTest, WhatMayWrapIsAnywhereInItsType) {
  const Scalar sum = Make(Kind::kAdd, DType::kI32, {Name("a", DType::kI32), Name("b", DType::kI32)});
  EXPECT_EQ(Of(sum).least, std::numeric_limits<int32_t>::min());
  EXPECT_EQ(Of(Convert(Sub(Name("n"), Int(1)), DType::kU32)).least, 0);
}

}  // namespace
}  // namespace tkc::symbolic

// SPDX-License-Identifier: MIT
// What is shown of integers holds for all of them, and what access proofs live on is shown.
#include "compiler/certify/integers.h"

#include <gtest/gtest.h>

#include <random>

#include "compiler/symbolic/evaluate.h"
#include "compiler/symbolic/parse_scalar.h"

namespace tkc::certify {
namespace {

using symbolic::Kind;
using symbolic::Scalar;

Scalar Read(std::string_view text) {
  Diagnostics diagnostics;
  return symbolic::ParseScalar(text, [](std::string_view) { return DType::kI64; }, diagnostics);
}

/// A dimension N, a loop over its blocks, and one over what is left of a block.
class IntegersTest : public testing::Test {
 protected:
  void Know(std::string_view condition) {
    integers_.KnowLeast("N", symbolic::Int(0));
    Diagnostics diagnostics;
    integers_.Assume(symbolic::ParseScalar(condition, [](std::string_view) { return DType::kI64; }, diagnostics));
    integers_.KnowSteps("n", Read("0"), Read("N"), 8);
    integers_.KnowSteps("i", Read("n"), Read("min(n + 8, N)"), 2);
  }
  bool Shows(std::string_view text) { return integers_.IsNonNegative(Read(text)); }

  Integers integers_;
};

TEST_F(IntegersTest, LastBlocksMayBeShort) {
  Know("N >= 1");
  EXPECT_TRUE(Shows("N - 1 - n"));
  EXPECT_FALSE(Shows("N - 8 - n"));
  EXPECT_TRUE(Shows("N - 1 - i"));
  EXPECT_TRUE(Shows("n + 6 - i"));
  EXPECT_FALSE(Shows("N - 2 - i"));
}

TEST_F(IntegersTest, BlocksThatDivideAreWhole) {
  Know("N % 16 == 0 and N <= 4096");
  EXPECT_TRUE(Shows("N - 8 - n"));
  EXPECT_TRUE(Shows("N - 2 - i"));
  EXPECT_TRUE(Shows("4094 - i"));
  EXPECT_FALSE(Shows("4093 - i"));
  EXPECT_TRUE(integers_.IsMultiple(Read("n * 2"), 16));
  EXPECT_FALSE(integers_.IsMultiple(Read("i * 2"), 16));
  EXPECT_TRUE(integers_.IsMultiple(Read("min(n, N - 8)"), 8));
}

TEST_F(IntegersTest, QuotientsAndChoicesAreBounded) {
  Know("N >= 8");
  EXPECT_TRUE(Shows("n - n / 3 * 3"));
  EXPECT_TRUE(Shows("n / 3 * 3 + 2 - n"));
  EXPECT_TRUE(Shows("cdiv(n, 3) * 3 - n"));
  EXPECT_TRUE(Shows("6 - n % 7"));
  EXPECT_TRUE(Shows("max(n, 5) - 5"));
  EXPECT_TRUE(Shows("n - min(n, 5)"));
  EXPECT_TRUE(Shows("min(n, 5)"));
  EXPECT_FALSE(Shows("min(n, 5) - 1"));
  EXPECT_FALSE(Shows("5 - max(n, 5)"));
}

TEST_F(IntegersTest, ProductsGrowWithFactorsThatAreNotNegative) {
  Know("N >= 4");
  EXPECT_TRUE(Shows("i * N - n * N"));
  EXPECT_TRUE(Shows("n * N"));
  EXPECT_FALSE(Shows("n * N - N"));
}

/// A random integer of N, n and i.
Scalar Tree(std::mt19937& random, int depth) {
  static const char* const kNames[] = {"N", "n", "i"};
  const auto pick = [&](int count) { return static_cast<int>(random() % static_cast<uint32_t>(count)); };
  if (depth == 0 || pick(5) == 0) return pick(3) > 0 ? symbolic::Name(kNames[pick(3)]) : symbolic::Int(pick(13) - 6);
  static const Kind kKinds[] = {Kind::kAdd, Kind::kSub, Kind::kMul, Kind::kMin, Kind::kMax, Kind::kDiv, Kind::kMod, Kind::kCdiv};
  const Kind kind = kKinds[pick(8)];
  const bool divides = kind == Kind::kDiv || kind == Kind::kMod || kind == Kind::kCdiv;
  const Scalar left = Tree(random, depth - 1);
  return symbolic::Make(kind, DType::kI64, {left, divides ? symbolic::Int(1 + pick(6)) : Tree(random, depth - 1)});
}

TEST_F(IntegersTest, WhatIsShownHolds) {
  Know("N % 4 == 0 and N <= 36 and N > 3");
  std::mt19937 random(7);
  int shown = 0;
  for (int sample = 0; sample < 4000; ++sample) {
    const Scalar tree = Tree(random, 3);
    const bool is_non_negative = integers_.IsNonNegative(tree), is_even = integers_.IsMultiple(tree, 4);
    shown += is_non_negative || is_even;
    if (!is_non_negative && !is_even) continue;
    for (int64_t extent = 4; extent <= 36; extent += 4) {
      for (int64_t n = 0; n < extent; n += 8) {
        for (int64_t i = n; i < std::min(n + 8, extent); i += 2) {
          const std::optional<int64_t> value = symbolic::Evaluate(tree, [&](std::string_view name) -> std::optional<int64_t> {
            return name == "N" ? extent : name == "n" ? n : i;
          });
          if (!value) continue;
          EXPECT_TRUE(!is_non_negative || *value >= 0) << symbolic::ToString(tree) << " at " << extent << ", " << n << ", " << i;
          EXPECT_TRUE(!is_even || *value % 4 == 0) << symbolic::ToString(tree) << " at " << extent << ", " << n << ", " << i;
        }
      }
    }
  }
  EXPECT_GT(shown, 1000);
}

}  // namespace
}  // namespace tkc::certify

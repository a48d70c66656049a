// SPDX-License-Identifier: MIT
#include "compiler/symbolic/cases.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/symbolic/evaluate.h"

namespace tkc::symbolic {
namespace {

Scalar Of(Kind kind, Scalar a, Scalar b) { return Make(kind, DType::kI64, {std::move(a), std::move(b)}); }
Scalar Is(Kind kind, Scalar a, Scalar b) { return Make(kind, DType::kBool, {std::move(a), std::move(b)}); }

const Scalar n = Name("n"), m = Name("m"), s = Name("s");  // n and m are counts

Known KnownOf(std::vector<Scalar> not_negative) {
  return {std::move(not_negative), [](const Scalar& atom) { return atom->name == "n" || atom->name == "m"; }};
}

TEST(CasesTest, RemaindersStayBelowWhatDivides) {
  const Known positive = KnownOf({Sub(n, Int(1))});
  EXPECT_TRUE(IsAtLeast(Sub(n, Of(Kind::kMod, s, n)), 1, positive));
  EXPECT_TRUE(IsAtLeast(Of(Kind::kMod, s, n), 0, positive));
  EXPECT_FALSE(IsAtLeast(Sub(n, Of(Kind::kMod, s, n)), 1, KnownOf({})));
  EXPECT_TRUE(IsAtLeast(Sub(Int(48), Of(Kind::kMod, Mul(s, Int(16)), Int(48))), 16, KnownOf({})));
  EXPECT_FALSE(IsAtLeast(Sub(Int(48), Of(Kind::kMod, Mul(s, Int(8)), Int(48))), 16, KnownOf({})));
}

TEST(CasesTest, EachCaseKnowsWhatItIsOf) {
  const Scalar wrapped = Make(Kind::kSelect, DType::kI64, {Is(Kind::kEq, n, Int(0)), Sub(m, Int(1)), Sub(n, Int(1))});
  EXPECT_TRUE(IsAtLeast(wrapped, 0, KnownOf({Sub(m, Int(1))})));
  EXPECT_FALSE(IsAtLeast(wrapped, 0, KnownOf({})));
  EXPECT_TRUE(IsAtLeast(Of(Kind::kMax, s, Sub(Int(0), s)), 0, KnownOf({})));
  EXPECT_TRUE(IsAtLeast(Sub(n, Of(Kind::kMin, s, Sub(n, Int(1)))), 1, KnownOf({})));
}

TEST(CasesTest, MultiplesOfANumberSkipWhatLiesBetween) {
  const Scalar end = Mul(Cdiv(n, Int(16)), Int(16));
  EXPECT_TRUE(IsAtLeast(Sub(end, Mul(m, Int(16))), 16, KnownOf({Sub(Sub(n, Mul(m, Int(16))), Int(1))})));
  EXPECT_FALSE(IsAtLeast(Sub(end, Mul(m, Int(16))), 16, KnownOf({Sub(n, Mul(m, Int(16)))})));
}

class Random {
 public:
  explicit Random(uint32_t seed) : random_(seed) {}

  int64_t Below(int64_t end) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(end)); }

  Scalar Sum(int depth) {
    const int64_t choice = Below(depth > 0 ? 12 : 4);
    const auto sum = [&] { return Sum(depth - 1); };
    switch (choice) {
      case 0: return n;
      case 1: return m;
      case 2: return s;
      case 3: return Int(Below(9) - 4);
      case 4:
      case 5: return Add(sum(), sum());
      case 6: return Sub(sum(), sum());
      case 7: return Mul(sum(), Int(Below(7) - 3));
      case 8: return Of(Below(2) != 0 ? Kind::kMin : Kind::kMax, sum(), sum());
      case 9: return Make(Kind::kSelect, DType::kI64, {Comparison(depth - 1), sum(), sum()});
      default: {
        constexpr Kind kKinds[] = {Kind::kMod, Kind::kDiv, Kind::kCdiv};
        return Of(kKinds[Below(3)], sum(), Below(2) != 0 ? Int(1 + Below(4)) : sum());
      }
    }
  }

  Scalar Comparison(int depth) {
    constexpr Kind kKinds[] = {Kind::kEq, Kind::kNe, Kind::kLt, Kind::kLe, Kind::kGt, Kind::kGe};
    return Is(kKinds[Below(6)], Sum(depth), Sum(depth));
  }

 private:
  std::mt19937 random_;
};

/// What is said to be at least something is, wherever the facts hold.
TEST(CasesTest, NothingIsSaidThatDoesNotHold) {
  Random random(7);
  int said = 0;
  for (int round = 0; round < 4000; ++round) {
    const Scalar sum = random.Sum(3);
    std::vector<Scalar> facts;
    for (int64_t i = random.Below(3); i > 0; --i) AddNotNegative(random.Comparison(1), random.Below(2) != 0, facts);
    const int64_t least = random.Below(7) - 3;
    if (!IsAtLeast(sum, least, KnownOf(facts))) continue;
    ++said;
    for (int64_t i = 0; i < 9 * 9 * 15; ++i) {
      const auto value = [&](std::string_view name) -> std::optional<int64_t> {
        return name == "n" ? i % 9 : name == "m" ? i / 9 % 9 : i / 81 - 7;
      };
      bool hold = true;
      for (const Scalar& fact : facts) hold = hold && Evaluate(fact, value).value_or(-1) >= 0;
      if (!hold) continue;
      ASSERT_GE(Evaluate(sum, value).value_or(least), least) << ToString(sum);
    }
  }
  EXPECT_GT(said, 200);
}

}  // namespace
}  // namespace tkc::symbolic

// SPDX-License-Identifier: MIT
// Scalars: simplification keeps the value, text reads back as itself, Equal agrees with evaluation.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "compiler/symbolic/condition.h"
#include "compiler/symbolic/evaluate.h"
#include "compiler/symbolic/parse_scalar.h"
#include "compiler/symbolic/polynomial.h"
#include "compiler/symbolic/round.h"
#include "compiler/symbolic/scalar.h"

namespace tkc::symbolic {
namespace {

DType TypeOf(std::string_view name) { return name[0] == 'f' ? DType::kF32 : name[0] == 'p' ? DType::kBool : DType::kI64; }

Scalar Read(std::string_view text) {
  Diagnostics diagnostics;
  Scalar scalar = ParseScalar(text, TypeOf, diagnostics);
  EXPECT_FALSE(diagnostics.HasErrors()) << text << ": " << (diagnostics.All().empty() ? "" : diagnostics.All()[0].headline);
  return scalar ? scalar : Int(-999);
}

std::string ErrorOf(std::string_view text) {
  Diagnostics diagnostics;
  EXPECT_EQ(ParseScalar(text, TypeOf, diagnostics), nullptr) << text;
  return diagnostics.All().empty() ? "" : diagnostics.All()[0].headline;
}

int64_t FloorDiv(int64_t a, int64_t b) { return static_cast<int64_t>(std::floor(static_cast<double>(a) / static_cast<double>(b))); }

/// A random integer tree and its value computed without it.
struct Sample {
  Scalar scalar;
  int64_t value;
};

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {
    for (const char* name : {"a", "b", "c", "k"}) values_[name] = Pick(-9, 20);
  }

  Sample Integer(int depth) {
    if (depth == 0 || Pick(0, 5) == 0) {
      if (Pick(0, 1)) {
        const int64_t literal = Pick(-4, 8);
        return {Int(literal), literal};
      }
      auto it = values_.begin();
      std::advance(it, Pick(0, 3));
      return {Name(it->first), it->second};
    }
    const Sample x = Integer(depth - 1), y = Integer(depth - 1);
    const auto make = [&](Kind kind, int64_t value) { return Sample{Make(kind, DType::kI64, {x.scalar, y.scalar}), value}; };
    switch (Pick(0, 9)) {
      case 0:
      case 1: return make(Kind::kAdd, x.value + y.value);
      case 2:
      case 3: return make(Kind::kSub, x.value - y.value);
      case 4: return make(Kind::kMul, x.value * y.value);
      case 5: return make(Kind::kMin, std::min(x.value, y.value));
      case 6: return make(Kind::kMax, std::max(x.value, y.value));
      case 7: return {Make(Kind::kNeg, DType::kI64, {x.scalar}), -x.value};
      case 8: {
        const int64_t divisor = Pick(1, 6);
        const Kind kind = Pick(0, 1) ? Kind::kDiv : Kind::kMod;
        const int64_t quotient = FloorDiv(x.value, divisor);
        return {Make(kind, DType::kI64, {x.scalar, Int(divisor)}), kind == Kind::kDiv ? quotient : x.value - quotient * divisor};
      }
      default: {
        const Sample condition = Boolean(depth - 1);
        return {Make(Kind::kSelect, DType::kI64, {condition.scalar, x.scalar, y.scalar}), condition.value ? x.value : y.value};
      }
    }
  }

  Sample Boolean(int depth) {
    if (depth > 0 && Pick(0, 1)) {
      const Sample x = Boolean(depth - 1), y = Boolean(depth - 1);
      if (Pick(0, 2) == 0) return {Make(Kind::kNot, DType::kBool, {x.scalar}), !x.value};
      if (Pick(0, 1)) return {Make(Kind::kAnd, DType::kBool, {x.scalar, y.scalar}), x.value && y.value};
      return {Make(Kind::kOr, DType::kBool, {x.scalar, y.scalar}), x.value || y.value};
    }
    const Sample x = Integer(depth > 0 ? depth - 1 : 0), y = Integer(depth > 0 ? depth - 1 : 0);
    const std::vector<Scalar> args = {x.scalar, y.scalar};
    switch (Pick(0, 5)) {
      case 0: return {Make(Kind::kEq, DType::kBool, args), x.value == y.value};
      case 1: return {Make(Kind::kNe, DType::kBool, args), x.value != y.value};
      case 2: return {Make(Kind::kLt, DType::kBool, args), x.value < y.value};
      case 3: return {Make(Kind::kLe, DType::kBool, args), x.value <= y.value};
      case 4: return {Make(Kind::kGt, DType::kBool, args), x.value > y.value};
      default: return {Make(Kind::kGe, DType::kBool, args), x.value >= y.value};
    }
  }

  std::optional<int64_t> Value(std::string_view name) const { return values_.at(std::string(name)); }

 private:
  int64_t Pick(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random_); }
  std::mt19937 random_;
  std::map<std::string, int64_t> values_;
};

TEST(Symbolic, SimplifiedTreesKeepTheirValueAndReadBack) {
  for (unsigned seed = 0; seed < 4000; ++seed) {
    Generator generator(seed);
    const Sample sample = seed % 3 ? generator.Integer(4) : generator.Boolean(4);
    const auto environment = [&](std::string_view name) { return generator.Value(name); };
    const std::string text = ToString(sample.scalar);
    ASSERT_EQ(Evaluate(sample.scalar, environment), sample.value) << text;
    const Scalar again = Read(text);
    ASSERT_EQ(ToString(again), text);
    ASSERT_TRUE(Equal(again, sample.scalar)) << text;
  }
}

TEST(Symbolic, EqualIsNeverWrong) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    Generator generator(seed);
    const Sample a = generator.Integer(2), b = generator.Integer(2);
    if (Equal(a.scalar, b.scalar)) {
      ASSERT_EQ(a.value, b.value) << ToString(a.scalar) << " and " << ToString(b.scalar);
    }
    if (const auto difference = ConstantDifference(a.scalar, b.scalar)) {
      ASSERT_EQ(a.value - b.value, *difference);
    }
    const int64_t divisor = KnownDivisor(a.scalar);
    ASSERT_TRUE(divisor == 0 ? a.value == 0 : a.value % divisor == 0) << ToString(a.scalar);
  }
}

TEST(Symbolic, DifferencesThatAreNumbers) {
  const auto difference = [](const char* a, const char* b) { return ConstantDifference(Read(a), Read(b)); };
  EXPECT_EQ(difference("m + 2 * k", "k + k + m - 5"), 5);
  EXPECT_EQ(difference("3 * min(m, k) + 1", "min(m, k) * 3"), 1);
  EXPECT_EQ(difference("min(m, k + 1)", "min(1 + k, m) - 2"), 2);
  EXPECT_EQ(difference("(m + 1) * (k + 1)", "m * k + m + k"), 1);
  EXPECT_EQ(difference("m", "k"), std::nullopt);
  EXPECT_EQ(difference("m / 2", "m / 3"), std::nullopt);
  EXPECT_EQ(difference("m * 9223372036854775807", "k - 2 * m * 9223372036854775807"), std::nullopt);
}

TEST(Symbolic, SumsOfNarrowTypesWrapAround) {
  const Scalar narrow = Name("i", DType::kI32), one = Convert(Int(1), DType::kI32);
  const Scalar next = Make(Kind::kAdd, DType::kI32, {narrow, one});
  EXPECT_EQ(ConstantDifference(Add(next, Int(0)), Add(narrow, Int(0))), std::nullopt);
  EXPECT_EQ(ToString(Sub(Convert(next, DType::kI64), Convert(narrow, DType::kI64))), "i64(i + i32(1)) - i64(i)");
  EXPECT_EQ(ToString(Sub(Mul(next, Int(2)), Mul(narrow, Int(2)))), "(i + i32(1)) * 2 - i * 2");
}

TEST(Symbolic, SumsWithoutTheirRemaindersAreMultiples) {
  EXPECT_EQ(KnownDivisor(Read("m - m % 8")), 8);
  EXPECT_EQ(KnownDivisor(Read("m * n + (16 * k + (4 * m - m * n % 8))")), 4);
  EXPECT_EQ(KnownDivisor(Read("m - n % 8")), 1);
  EXPECT_EQ(KnownDivisor(Read("8 * m - 4 * (n % 8)")), 4);
}

TEST(Symbolic, EqualSeesThroughOrderAndProducts) {
  EXPECT_TRUE(Equal(Read("(m + k) * 2"), Read("2 * k + m * 2")));
  EXPECT_TRUE(Equal(Read("min(m, k + 1)"), Read("min(1 + k, m)")));
  EXPECT_TRUE(Equal(Read("cdiv(M + N, 128) * 64"), Read("64 * cdiv(N + M, 128)")));
  EXPECT_TRUE(Equal(Read("m * n * 3"), Read("n * (3 * m)")));
  EXPECT_FALSE(Equal(Read("m / 2"), Read("m / 3")));
  EXPECT_FALSE(Equal(Read("A[m, k]"), Read("A[k, m]")));
  EXPECT_FALSE(Equal(Read("m - k"), Read("k - m")));
}

TEST(Symbolic, Simplifications) {
  const std::pair<const char*, const char*> cases[] = {
      {"m + 0", "m"},
      {"m + (k - m)", "k"},
      {"(m + 64) - m", "64"},
      {"m + 1 - 5", "m - 4"},
      {"m - -3", "m + 3"},
      {"3 * (m * 4)", "m * 12"},
      {"cdiv(m * 128, 64)", "m * 2"},
      {"m * 128 % 64", "0"},
      {"cdiv(7, 2)", "4"},
      {"-7 / 2", "-4"},
      {"-7 % 2", "1"},
      {"min(m + 3, m)", "m"},
      {"m < m + 1", "true"},
      {"select(1 < 2, m, k)", "m"},
      {"not not (m < k)", "m < k"},
      {"true and m < k", "m < k"},
      {"-(m - k)", "k - m"},
      {"m / 0", "0"},
      {"m % 0", "m"},
      {"f32(3)", "3.0"},
      {"i32(2.75)", "i32(2)"},
      {"f32(bf16(0.1))", "0.100097656"},
      {"9223372036854775807 + 1", "9223372036854775807 + 1"},
  };
  for (const auto& [text, wanted] : cases) EXPECT_EQ(ToString(Read(text)), wanted) << text;
}

TEST(Symbolic, TextKeepsOnlyTheParenthesesItNeeds) {
  const char* cases[] = {"m - (k + n)",
                         "(m + k) * n",
                         "m * k + n",
                         "m - k - n",
                         "m / (k / n)",
                         "m % k * n",
                         "-(m + k)",
                         "-m * k",
                         "not (p and q)",
                         "p and (q or r)",
                         "m < k and n",
                         "not m < k",
                         "cdiv(M, 128) * 2",
                         "A[m + 1, k]",
                         "select(m < k, m, k)",
                         "@exp(f)",
                         "@tile_of.f32(m)",
                         "i32(m) + i32(3)",
                         "f * 1.5 + 1e-20",
                         "-inf",
                         "bf16(1.5)",
                         "f64(0.1)",
                         "ab.previous + 1",
                         "m * -3",
                         "(p or q) == r",
                         "u64(m)",
                         "@block::index.i32()",
                         "9.5e+20",
                         "nan"};
  for (const char* text : cases) EXPECT_EQ(ToString(Read(text)), text);
}

TEST(Symbolic, SubstituteSimplifies) {
  const Scalar scalar = Read("min(M - m, 128) + A[m] + @f.i64(m)");
  EXPECT_EQ(ToString(Substitute(scalar, "m", Int(0))), "min(M, 128) + A[0] + @f(0)");
  EXPECT_TRUE(Mentions(scalar, "M"));
  EXPECT_FALSE(Mentions(scalar, "A"));
}

TEST(Symbolic, RoundingOfLiterals) {
  EXPECT_EQ(Round(65519.9, DType::kF16), 65504.0);
  EXPECT_TRUE(std::isinf(Round(65520.0, DType::kF16)));
  EXPECT_EQ(Round(0x1p-25, DType::kF16), 0.0);
  EXPECT_EQ(Round(0x1.8p-25, DType::kF16), 0x1p-24);
  EXPECT_EQ(Round(1.00390625, DType::kBF16), 1.0);
  EXPECT_EQ(Round(1.01171875, DType::kBF16), 1.015625);
  EXPECT_EQ(RoundInteger((1LL << 24) + 1, DType::kF32), 16777216.0);
}

TEST(Symbolic, WideAndBackAgainIsNoConversion) {
  const Scalar word = Name("word", DType::kU32);
  EXPECT_EQ(ToString(Convert(Convert(word, DType::kI64), DType::kU32)), "word");
  EXPECT_EQ(ToString(Convert(Convert(word, DType::kU64), DType::kU32)), "word");
  EXPECT_EQ(ToString(Convert(Convert(word, DType::kI32), DType::kU32)), "u32(i32(word))");
  EXPECT_EQ(ToString(Convert(Convert(Name("n"), DType::kI32), DType::kI64)), "i64(i32(n))");
  EXPECT_EQ(ToString(Convert(Convert(Name("i", DType::kI32), DType::kU64), DType::kI32)), "i32(u64(i))");
  EXPECT_EQ(ToString(Convert(Convert(Name("p", DType::kBool), DType::kI64), DType::kBool)), "bool(i64(p))");
}

TEST(Symbolic, Errors) {
  EXPECT_EQ(ErrorOf("m +"), "expected a scalar, found the end of the text");
  EXPECT_EQ(ErrorOf("m k"), "expected the end of the scalar, found `k`");
  EXPECT_EQ(ErrorOf("(m"), "expected `)`, found the end of the text");
  EXPECT_EQ(ErrorOf("a < b < c"), "expected no second comparison, found `<`");
  EXPECT_EQ(ErrorOf("99999999999999999999"), "`99999999999999999999` does not fit in 64 bits");
  EXPECT_EQ(ErrorOf("foo(m)"), "no function `foo` of 1 arguments; calls of the runtime are written `@foo(...)`");
  EXPECT_EQ(ErrorOf("@foo()"), "`@foo` has no argument that gives its type: write `@foo.f32()`");
  EXPECT_EQ(ErrorOf(std::string(5000, '(')), "expected at most 256 nested terms, found `(`");
  EXPECT_EQ(ErrorOf(std::string(5000, '-') + "m"), "expected at most 256 nested terms, found `-`");
}

TEST(Polynomials, TheMostThatADifferenceCanBe) {
  EXPECT_EQ(MostDifference(Read("m + 8"), Read("m")), 8);
  EXPECT_EQ(MostDifference(Read("min(m + 8, n)"), Read("m")), 8);
  EXPECT_EQ(MostDifference(Read("min(n, min(m + 8, m + 4))"), Read("m")), 4);
  EXPECT_EQ(MostDifference(Read("min(k, n)"), Read("m")), std::nullopt);
  EXPECT_EQ(MostDifference(Read("max(m + 8, n)"), Read("m")), std::nullopt);
}

TEST(Polynomials, SumsThatOverflowAreNone) {
  const Polynomial large = {{"m*", INT64_MAX / 2 + 1}}, one = {{"", 1}, {"m*", 1}};
  EXPECT_EQ(Sum(large, large), std::nullopt);
  EXPECT_EQ(Sum({}, large, 2), std::nullopt);
  EXPECT_EQ(Sum({}, {{"", INT64_MIN}}, -1), std::nullopt);
  EXPECT_EQ(Sum(one, one, -1), Polynomial{});
  EXPECT_EQ(Sum(one, one, 2), (Polynomial{{"", 3}, {"m*", 3}}));
  EXPECT_EQ(Product(large, {{"m*", 2}}), std::nullopt);
}

TEST(Condition, SameAndNegated) {
  const auto relation = [](std::string_view a, std::string_view b) {
    const Condition x = ConditionOf(Read(a)), y = ConditionOf(Read(b));
    return x.text != y.text ? "other" : x.is_negated == y.is_negated ? "same" : "negated";
  };
  EXPECT_STREQ(relation("a < b", "b > a"), "same");
  EXPECT_STREQ(relation("a < b", "a + 1 <= b"), "same");
  EXPECT_STREQ(relation("a < b", "a >= b"), "negated");
  EXPECT_STREQ(relation("2 * a > b - 1", "b <= 2 * a"), "same");
  EXPECT_STREQ(relation("a == b", "b - a == 0"), "same");
  EXPECT_STREQ(relation("a == b", "b != a"), "negated");
  EXPECT_STREQ(relation("a == b", "a == c"), "other");
  EXPECT_STREQ(relation("not (p or a < b)", "a >= b and not p"), "same");
  EXPECT_STREQ(relation("p and a == b", "b != a or not p"), "negated");
  EXPECT_STREQ(relation("p and pq", "p or pq"), "other");
  EXPECT_STREQ(relation("f < g", "g > f"), "same");
  EXPECT_STREQ(relation("f < g", "f >= g"), "other");  // neither holds of a NaN
  EXPECT_STREQ(relation("f < g", "not (g > f)"), "negated");
}

TEST(Condition, FollowsFromOthers) {
  const auto decide = [](std::vector<std::string_view> held, std::string_view asked) {
    std::vector<Condition> conditions;
    for (const std::string_view text : held) conditions.push_back(ConditionOf(Read(text)));
    const std::optional<bool> holds = KnownConditions(conditions).Decide(ConditionOf(Read(asked)));
    return !holds ? "unknown" : *holds ? "holds" : "excluded";
  };
  EXPECT_STREQ(decide({"a == 1"}, "a == 2"), "excluded");
  EXPECT_STREQ(decide({"a == 1"}, "a != 2"), "holds");
  EXPECT_STREQ(decide({"a != 1"}, "a == 2"), "unknown");
  EXPECT_STREQ(decide({"a < 3"}, "a <= 4"), "holds");
  EXPECT_STREQ(decide({"a < 5"}, "a < 3"), "unknown");
  EXPECT_STREQ(decide({"2 * a < 5"}, "a < 3"), "holds");
  EXPECT_STREQ(decide({"3 > a", "a > 1"}, "2 == a"), "holds");
  EXPECT_STREQ(decide({"a - b == 1"}, "b >= a"), "excluded");
  EXPECT_STREQ(decide({"a <= b", "a >= b"}, "b == a"), "holds");
  EXPECT_STREQ(decide({"2 * a == 7"}, "p"), "unknown");
  EXPECT_STREQ(decide({"not a % 3 == 0", "not a % 3 == 1"}, "a % 3 == 2"), "holds");
  EXPECT_STREQ(decide({}, "a % 4 == 5"), "excluded");
  EXPECT_STREQ(decide({"p and a == 1"}, "a == 2 and q"), "excluded");
  EXPECT_STREQ(decide({"not (p and a == 1)", "p"}, "a == 1"), "excluded");
  EXPECT_STREQ(decide({"p or a == 1", "a > 1"}, "p"), "holds");
  EXPECT_STREQ(decide({"p or q"}, "p"), "unknown");
  EXPECT_STREQ(decide({"f < g"}, "f > g"), "unknown");
}

TEST(Condition, Contradictions) {
  const auto contradict = [](std::vector<std::string_view> held) {
    std::vector<Condition> conditions;
    for (const std::string_view text : held) conditions.push_back(ConditionOf(Read(text)));
    return KnownConditions(conditions).IsContradiction();
  };
  EXPECT_TRUE(contradict({"a <= b", "b <= a", "a != b"}));
  EXPECT_TRUE(contradict({"2 * a == 7"}));
  EXPECT_TRUE(contradict({"p or a == 1", "not p", "a > 1"}));
  EXPECT_FALSE(contradict({"a <= b", "a != b", "p or q"}));
}

}  // namespace
}  // namespace tkc::symbolic

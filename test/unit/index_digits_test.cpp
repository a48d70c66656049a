// SPDX-License-Identifier: MIT
// Digits of indices, least values of sums and names that requirements solve, against values counted one by one.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "compiler/symbolic/evaluate.h"
#include "compiler/symbolic/index_digits.h"
#include "compiler/symbolic/least.h"
#include "compiler/symbolic/solved_names.h"

namespace tkc::symbolic {
namespace {

using Values = std::map<std::string, int64_t, std::less<>>;

int64_t ValueOf(const Scalar& scalar, const Values& values) {
  const auto value = Evaluate(scalar, [&](std::string_view name) -> std::optional<int64_t> {
    const auto place = values.find(name);
    return place == values.end() ? std::nullopt : std::optional(place->second);
  });
  EXPECT_TRUE(value) << ToString(scalar);
  return value.value_or(0);
}

Scalar Div(const Scalar& a, const Scalar& b) { return Make(Kind::kDiv, DType::kI64, {a, b}); }
Scalar Mod(const Scalar& a, const Scalar& b) { return Make(Kind::kMod, DType::kI64, {a, b}); }

bool IsDim(std::string_view name) { return name.size() == 1 && name[0] >= 'A' && name[0] <= 'Z'; }

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  int64_t Pick(int64_t lo, int64_t hi) { return std::uniform_int_distribution<int64_t>(lo, hi)(random_); }

  Scalar Divisor() {
    const Scalar names[] = {Name("A"), Name("B"), Name("C"), Int(2), Int(3), Int(4)};
    const Scalar first = names[Pick(0, 5)];
    return Pick(0, 2) == 0 ? Mul(first, names[Pick(0, 5)]) : first;
  }

  /// A quotient or a remainder of the index or of another one.
  Scalar OfIndex(const Scalar& index) {
    Scalar scalar = index;
    for (int64_t i = Pick(1, 3); i > 0; --i) scalar = Pick(0, 1) ? Div(scalar, Divisor()) : Mod(scalar, Divisor());
    return scalar;
  }

 private:
  std::mt19937 random_;
};

/// Where digits are said to determine an index, no two indices share them all; and each lies where its range says.
TEST(IndexDigits, SayWhichIndexItIs) {
  int64_t determined = 0;
  for (unsigned seed = 0; seed < 4000; ++seed) {
    Generator generate(seed);
    Scalar end = Mul(Mul(Name("A"), Name("B")), generate.Pick(0, 1) ? Name("C") : Int(generate.Pick(1, 4)));
    const int64_t step = generate.Pick(0, 2) == 0 ? 2 : 1;
    const std::vector<IndexRange> around = {{"z", Int(0), end, step}};
    std::vector<Scalar> parts;
    for (int64_t i = generate.Pick(1, 4); i > 0; --i) parts.push_back(generate.OfIndex(Name("z")));
    IndexDigits table(IsDim, [](size_t number) { return "digit" + std::to_string(number); });
    std::vector<Scalar> replaced;
    for (const Scalar& part : parts) replaced.push_back(table.Replace(part, around));
    std::vector<const IndexDigit*> known;
    const auto digits = table.Of(around);
    for (const auto& digit : digits) {
      const bool occurs =
          std::any_of(replaced.begin(), replaced.end(), [&](const Scalar& part) { return Mentions(part, digit->name); });
      if (occurs) known.push_back(&*digit);
    }
    const std::vector<Scalar> bases = DeterminedBases(known);
    const bool is_determined = std::any_of(bases.begin(), bases.end(), [](const Scalar& base) { return Equal(base, Name("z")); });
    determined += is_determined;
    for (int64_t a = 0; a < 4; ++a) {
      Values values{{"A", a}, {"B", generate.Pick(0, 4)}, {"C", generate.Pick(0, 4)}};
      std::map<std::vector<int64_t>, int64_t> seen;
      for (int64_t z = 0; z < ValueOf(end, values); z += step) {
        values["z"] = z;
        std::vector<int64_t> of_parts;
        for (const Scalar& part : parts) of_parts.push_back(ValueOf(part, values));
        for (size_t i = 0; i < parts.size(); ++i) {
          const auto digit =
              std::find_if(digits.begin(), digits.end(), [&](const auto& each) { return Equal(Name(each->name), replaced[i]); });
          if (digit == digits.end()) continue;
          EXPECT_TRUE(of_parts[i] >= 0 || !(*digit)->begins_at_zero) << seed << ": " << ToString(parts[i]);
          if (!(*digit)->end) continue;
          int64_t below = 0;
          for (const auto& [key, coefficient] : *(*digit)->end) {
            int64_t product = coefficient;
            for (const char c : key) product *= c == '*' ? 1 : values.find(std::string_view(&c, 1))->second;
            below += product;
          }
          EXPECT_LT(of_parts[i], below) << seed << ": " << ToString(parts[i]);
        }
        const auto [place, is_new] = seen.emplace(of_parts, z);
        EXPECT_TRUE(is_new || !is_determined) << seed << ": " << z << " and " << place->second;
      }
    }
  }
  EXPECT_GT(determined, 100);
}

TEST(Least, IsNeverAboveTheValue) {
  int64_t known = 0;
  for (unsigned seed = 0; seed < 4000; ++seed) {
    Generator generate(seed);
    const auto quotient = [&](const Scalar& of) {
      const Scalar by = Int(generate.Pick(2, 5));
      const Kind kinds[] = {Kind::kDiv, Kind::kCdiv, Kind::kMod};
      return Mul(Make(kinds[generate.Pick(0, 2)], DType::kI64, {of, by}), Int(generate.Pick(-6, 6)));
    };
    const Scalar n = Add(Name("A"), Int(generate.Pick(-3, 3)));
    Scalar sum = Add(Mul(Name("A"), Int(generate.Pick(-2, 3))), quotient(n));
    sum = Add(sum, quotient(generate.Pick(0, 1) ? n : quotient(Name("B"))));
    const auto least = LeastOf(sum, [](const Scalar& atom) { return atom->kind == Kind::kName; });
    if (!least) continue;
    ++known;
    for (int64_t a = 0; a < 24; ++a) {
      for (int64_t b = 0; b < 8; ++b) EXPECT_GE(ValueOf(sum, {{"A", a}, {"B", b}}), *least) << seed << ": " << ToString(sum);
    }
  }
  EXPECT_GT(known, 200);
}

TEST(Least, OfWholeBlocks) {
  const auto is_count = [](const Scalar& atom) { return atom->kind == Kind::kName; };
  const Scalar n = Name("N"), whole = Mul(Div(n, Int(64)), Int(64));
  EXPECT_EQ(LeastOf(Sub(n, whole), is_count), 0);
  EXPECT_EQ(LeastOf(Sub(whole, n), is_count), -63);
  EXPECT_EQ(LeastOf(Sub(Mul(Cdiv(n, Int(64)), Int(64)), n), is_count), 0);
  EXPECT_EQ(LeastOf(Sub(n, Mul(Cdiv(n, Int(64)), Int(64))), is_count), -63);
  EXPECT_FALSE(LeastOf(Sub(n, Mul(Div(n, Int(64)), Int(65))), is_count));
}

TEST(SolvedNames, InWhicheverOrder) {
  const auto equal = [](const Scalar& a, const Scalar& b) { return Make(Kind::kEq, DType::kBool, {a, b}); };
  const Scalar bm = Name("P"), b = Name("B"), m = Name("M");
  const std::vector<Scalar> requirements = {equal(Mod(m, Int(64)), Int(0)), equal(bm, Mul(b, m)), equal(b, Name("E"))};
  const SolvedNames solved(requirements, IsDim);
  EXPECT_TRUE(Equal(solved.PutIn(bm), solved.PutIn(Mul(m, b))));
  EXPECT_EQ(KnownDivisor(solved.PutIn(bm)), 64);
  EXPECT_TRUE(Equal(solved.PutIn(b), solved.PutIn(Name("E"))));
  const SolvedNames circular({equal(b, m), equal(m, b), equal(b, Add(b, m))}, IsDim);
  EXPECT_TRUE(Equal(circular.PutIn(b), circular.PutIn(m)));
  const SolvedNames product({equal(Mul(b, Int(8)), m), equal(Mul(Name("G"), Int(64)), m)}, IsDim);
  EXPECT_TRUE(Equal(product.PutIn(b), product.PutIn(Mul(Name("G"), Int(8)))));
  EXPECT_EQ(KnownDivisor(product.PutIn(m)), 64);
  const SolvedNames negative({equal(b, Sub(m, Int(1)))}, IsDim);
  EXPECT_TRUE(Equal(negative.PutIn(b), b));
}

}  // namespace
}  // namespace tkc::symbolic

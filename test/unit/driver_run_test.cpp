// SPDX-License-Identifier: MIT
// What run and check are made of: placements, comparison within rounding, the choice and shrinking of cases.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "compiler/driver/build_cache.h"
#include "compiler/driver/check_run.h"
#include "compiler/driver/compare.h"
#include "compiler/driver/placement.h"
#include "compiler/driver/process.h"
#include "compiler/driver/shapes.h"
#include "compiler/interp/interpret.h"
#include "test/unit/interp_build.h"

namespace tkc {
namespace {

using interp::Tensor;

Tensor Counting(DType dtype, std::vector<int64_t> extents) {
  Tensor tensor = Tensor::Dense(dtype, std::move(extents));
  std::vector<double> values(static_cast<size_t>(tensor.size()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i + 1);
  tensor.FromReals(values);
  return tensor;
}

TEST(Placement, GatherUndoesPlaceAndStraysAreCounted) {
  const Tensor dense = Counting(DType::kBF16, {3, 4, 5});
  for (const Placement& placement : {Placement{}, Placement{8, 8, 1}, Placement{1, 1, 1}, Placement{0, 3, 2}}) {
    const Tensor placed = Place(dense, placement, true);
    EXPECT_TRUE(placed.IsConsistent()) << ToString(placement);
    EXPECT_EQ(placed.strides.back(), placement.step);
    EXPECT_EQ(placed.strides[1], 5 * placement.step + placement.pad);
    EXPECT_EQ(Gather(placed).bytes, dense.bytes) << ToString(placement);
    std::vector<uint8_t> image = placed.bytes;
    image[static_cast<size_t>(placed.ElementAt({2, 3, 4})) * 2] ^= 1;  // an element: may change
    EXPECT_EQ(Trespassed(placed, image), 0);
    image[0] = 0;
    image[static_cast<size_t>(placed.ElementAt({2, 3, 4})) * 2 + 2] = 0;
    EXPECT_EQ(Trespassed(placed, image), 2) << ToString(placement);
  }
  const Tensor empty = Place(Tensor::Dense(DType::kF32, {2, 0}), {}, true);
  EXPECT_EQ(Gather(empty).size(), 0);
}

std::optional<Difference> CompareOne(DType dtype, double got, double want, const Tolerance& tolerance) {
  Tensor mine = Tensor::Dense(dtype, {1}), theirs = mine;
  mine.FromReals({got});
  theirs.FromReals({want});
  interp::Arguments arguments;
  arguments.tensors["Y"] = theirs;
  return Compare({{"Y", mine}}, arguments, tolerance);
}

TEST(Compare, OneUnitInTheLastPlaceUnlessExact) {
  Tolerance rounded;
  rounded.magnitudes["Y"] = {1.0};
  Tolerance exact;
  exact.exact = true;
  EXPECT_FALSE(CompareOne(DType::kBF16, 1.0078125, 1.0, rounded));
  EXPECT_TRUE(CompareOne(DType::kBF16, 1.0156250, 1.0, rounded));
  EXPECT_TRUE(CompareOne(DType::kBF16, 1.0078125, 1.0, exact));
  EXPECT_TRUE(CompareOne(DType::kI32, 5, 4, rounded)) << "integers are exact in any case";
  rounded.of_magnitude = 0.5;
  EXPECT_FALSE(CompareOne(DType::kF32, 1.5, 1.0, rounded));
  EXPECT_TRUE(CompareOne(DType::kF32, 1.6, 1.0, rounded));
}

TEST(Compare, SubnormalNumbersThatMayBeZero) {
  Tolerance rounded;
  rounded.magnitudes["Y"] = {1e-39};
  EXPECT_TRUE(CompareOne(DType::kF32, 0, 3e-39, rounded));
  rounded.flushed = 0x1p-126;
  EXPECT_FALSE(CompareOne(DType::kF32, 0, 3e-39, rounded));
  EXPECT_TRUE(CompareOne(DType::kF32, 0, 3e-38, rounded));
}

/// Y = A * A - B * B
struct Squares : build::KernelBuilder {
  Squares() {
    using namespace build;
    const typed::Type tile = typed::Type::Tile(DType::kF32, 1, 4);
    const typed::DimId m_dim = AddDim("M"), n_dim = AddDim("N");
    const typed::ParamId a = AddTensor("A", DType::kF32, {m_dim, n_dim}), b = AddTensor("B", DType::kF32, {m_dim, n_dim});
    const typed::ParamId y = AddTensor("Y", DType::kF32, {m_dim, n_dim}, TensorMode::kOut);
    const typed::VarId m = AddVar("m");
    typed::Section& section = AddSection();
    AddAxis(section, m, Int(0), DimOf(m_dim), 1);
    const auto whole = [&] { return AxesOf(Range(VarOf(m), 1), Range(Int(0), 4)); };
    const auto square = [&](typed::ParamId of) {
      return Binary(typed::Op::kMul, Read(of, tile, whole()), Read(of, tile, whole()), tile);
    };
    AddWorker(section, "work", BlockOf(Store(y, whole(), Binary(typed::Op::kSub, square(a), square(b), tile))));
  }
};

TEST(Compare, WhatIsLeftOfTwoProductsMayBeOffByTheirRounding) {
  typed::Entry entry{"squares", {}};
  entry.kernels.push_back(std::move(Squares().kernel));
  interp::Arguments before;
  before.tensors["A"] = build::TensorOf(DType::kF32, {1, 4}, {1.1, 3000, 2, 1});
  before.tensors["B"] = build::TensorOf(DType::kF32, {1, 4}, {1.1, 1, 1, 3});
  before.tensors["Y"] = Tensor::Dense(DType::kF32, {1, 4});
  Diagnostics diagnostics;
  const Result<Expected> expected = Expect(entry, ArithmeticOf(entry.kernels[0]), before, false, diagnostics);
  ASSERT_TRUE(expected);
  const interp::Arguments& want = expected->want;
  const Tolerance& tolerance = expected->tolerance;
  Tensor fused = want.tensors.at("Y");
  const double first_product = 1.1F * 1.1F;
  fused.FromReals({std::fma(double{1.1F}, double{1.1F}, -first_product), 8999999, 3, -8});
  ASSERT_NE(fused.ToReals()[0], 0);
  EXPECT_FALSE(Compare({{"Y", fused}}, want, tolerance));
  fused.FromReals({1e-3, 8999999, 3, -8});
  EXPECT_TRUE(Compare({{"Y", fused}}, want, tolerance)) << "each element is measured by its own terms";
}

TEST(Compare, OnlySumsThatAreMadeCount) {
  typed::Entry entry{"squares", {}};
  entry.kernels.push_back(std::move(Squares().kernel));
  interp::Arguments before;
  for (const char* name : {"A", "B", "Y"}) before.tensors[name] = Tensor::Dense(DType::kF32, {1000, 4});
  Diagnostics diagnostics;
  const Result<Expected> expected = Expect(entry, ArithmeticOf(entry.kernels[0]), before, false, diagnostics);
  ASSERT_TRUE(expected);
  EXPECT_LE(expected->tolerance.of_magnitude, 20 * 0x1p-24) << "one difference of two products, however many rows there are";
}

TEST(Compare, ExactWhereAllBitsHaveRoom) {
  typed::Entry entry{"squares", {}};
  entry.kernels.push_back(std::move(Squares().kernel));
  const auto is_exact = [&](double a, double b) {
    interp::Arguments before;
    before.tensors["A"] = build::TensorOf(DType::kF32, {1, 4}, {a, 1, 2, 3});
    before.tensors["B"] = build::TensorOf(DType::kF32, {1, 4}, {b, 1, 2, 3});
    before.tensors["Y"] = Tensor::Dense(DType::kF32, {1, 4});
    Diagnostics diagnostics;
    const Result<Expected> expected = Expect(entry, ArithmeticOf(entry.kernels[0]), before, true, diagnostics);
    return expected && expected->tolerance.exact;
  };
  EXPECT_TRUE(is_exact(2000, -2000));
  EXPECT_TRUE(is_exact(0.25, 3));
  EXPECT_FALSE(is_exact(4001, 4001)) << "though the difference is 0";
  EXPECT_FALSE(is_exact(0x1p-12, 100));
}

/// Y = A / B - A / B.
struct Quotients : Squares {
  Quotients() {
    typed::Expr& difference = *kernel.sections[0].workers[0].body[0]->expr;
    difference.args[0]->op = difference.args[1]->op = typed::Op::kDiv;
    std::swap(difference.args[0]->args[1], difference.args[1]->args[0]);
  }
};

TEST(Compare, WhatHasCancelledEverywhereIsMeasuredByWhatIsRead) {
  typed::Entry entry{"quotients", {}};
  entry.kernels.push_back(std::move(Quotients().kernel));
  interp::Arguments before;
  before.tensors["A"] = build::TensorOf(DType::kF32, {1, 4}, {1, 2, 2, 3});
  before.tensors["B"] = before.tensors["A"];
  before.tensors["Y"] = Tensor::Dense(DType::kF32, {1, 4});
  Diagnostics diagnostics;
  const Result<Expected> expected = Expect(entry, ArithmeticOf(entry.kernels[0]), before, false, diagnostics);
  ASSERT_TRUE(expected);
  const interp::Arguments& want = expected->want;
  const Tolerance& tolerance = expected->tolerance;
  Tensor rounded = want.tensors.at("Y");
  rounded.FromReals({6e-8, 0, 0, -6e-8});
  EXPECT_FALSE(Compare({{"Y", rounded}}, want, tolerance));
  rounded.FromReals({0, 0, 1e-2, 0});
  EXPECT_TRUE(Compare({{"Y", rounded}}, want, tolerance));
}

TEST(Compare, IntegersThatAreTheSameDouble) {
  interp::Arguments want;
  want.tensors["Y"] = Tensor::Dense(DType::kI64, {1});
  want.tensors["Y"].FillIntegers((int64_t{1} << 53) + 1);
  Tensor got = want.tensors["Y"];
  EXPECT_FALSE(Compare({{"Y", got}}, want, {}));
  got.FillIntegers(int64_t{1} << 53);
  const std::optional<Difference> difference = Compare({{"Y", got}}, want, {});
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->got, "9007199254740992");
  EXPECT_EQ(difference->want, "9007199254740993");
}

TEST(Compare, QuotientsByWhatMayBeZeroAreEitherOfTwo) {
  Quotients quotients;  // Y = A / B - A * B
  quotients.kernel.sections[0].workers[0].body[0]->expr->args[1]->op = typed::Op::kMul;
  typed::Entry entry{"quotients", {}};
  entry.kernels.push_back(std::move(quotients.kernel));
  interp::Arguments before;
  before.tensors["A"] = build::TensorOf(DType::kF32, {1, 4}, {1e-6, 1, 1, 1});
  before.tensors["B"] = build::TensorOf(DType::kF32, {1, 4}, {1e-39, 1, 1, 1});
  before.tensors["Y"] = Tensor::Dense(DType::kF32, {1, 4});
  Diagnostics diagnostics;
  const Result<Expected> expected = Expect(entry, ArithmeticOf(entry.kernels[0]), before, false, diagnostics);
  ASSERT_TRUE(expected);
  Tensor got = expected->want.tensors.at("Y");
  EXPECT_NEAR(got.ToReals()[0], 1e33, 1e30) << "the reference keeps it";
  EXPECT_FALSE(Compare({{"Y", got}}, *expected));
  got.FromReals({std::numeric_limits<double>::infinity(), 0, 0, 0});
  EXPECT_FALSE(Compare({{"Y", got}}, *expected));
  got.FromReals({1e38, 0, 0, 0});
  EXPECT_TRUE(Compare({{"Y", got}}, *expected)) << "between the two is nothing";
  got.FromReals({1e33, 0, std::numeric_limits<double>::infinity(), 0});
  EXPECT_TRUE(Compare({{"Y", got}}, *expected)) << "of a divisor that is not subnormal there is one quotient";
}

TEST(Compare, NaNEqualsNaNOnly) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  Tolerance rounded;
  rounded.magnitudes["Y"] = {inf};
  rounded.of_magnitude = 0x1p-8;
  EXPECT_FALSE(CompareOne(DType::kF32, nan, nan, rounded));
  EXPECT_FALSE(CompareOne(DType::kF32, inf, inf, rounded));
  Tolerance finite;
  finite.magnitudes["Y"] = {1};
  finite.of_magnitude = 0x1p-8;
  EXPECT_TRUE(CompareOne(DType::kF32, nan, 1, finite));
  EXPECT_TRUE(CompareOne(DType::kF32, 1, nan, finite));
  EXPECT_TRUE(CompareOne(DType::kF32, inf, 1, finite));
  EXPECT_TRUE(CompareOne(DType::kF32, 1, inf, rounded));
  EXPECT_TRUE(CompareOne(DType::kF32, -inf, inf, rounded));
}

typed::Entry EntryOfTwoDims() {
  typed::Entry entry;
  entry.name = "k";
  entry.kernels.emplace_back();
  entry.kernels[0].name = "k";
  entry.kernels[0].dims = {{"M", kNoSpan}, {"N", kNoSpan}};
  return entry;
}

TEST(Shrink, FindsTheSmallestOfAMonotoneFault) {
  const typed::Entry entry = EntryOfTwoDims();
  CheckCase start;
  start.dims = {300, 129};
  start.seed = 3;
  start.sms = 4;
  start.fill = interp::FillKind::kNormal;
  start.placement = {1, 1, 1};
  int calls = 0;
  const CheckCase least = Shrink(
      entry, start,
      [&](const CheckCase& c) {
        ++calls;
        return c.dims[0] >= 67 && c.dims[1] >= 5 && c.seed >= 2;
      },
      80);
  EXPECT_EQ(least.dims, (std::vector<int64_t>{67, 5}));
  EXPECT_EQ(least.seed, 2u);
  EXPECT_TRUE(least.placement.is_dense());
  EXPECT_EQ(least.fill, interp::FillKind::kSmall);
  EXPECT_EQ(CommandOptions(entry, least), " --dims M=67,N=5 --seed 2 --fill small");
  EXPECT_LE(calls, 80);
}

TEST(Shapes, TheSameSeedGivesTheSameCases) {
  const typed::Entry entry = EntryOfTwoDims();
  const std::vector<CheckCase> cases = MakeCases(entry, 20, 7);
  EXPECT_EQ(cases.size(), 20u);
  EXPECT_EQ(cases, MakeCases(entry, 20, 7));
  EXPECT_NE(cases, MakeCases(entry, 20, 8));
}

TEST(Fingerprint, KnowsWhereTextsEnd) {
  Fingerprint one, two;
  one.Add("ab");
  one.Add("c");
  two.Add("a");
  two.Add("bc");
  EXPECT_NE(one.Text(), two.Text());
  EXPECT_EQ(one.Text().size(), 32u);
}

TEST(Process, TimeOfTheProcessorIsNotThatOfTheClock) {
  constexpr double kEnough = 60;
  EXPECT_TRUE(RunProcess({"/bin/sh", "-c", "while :; do :; done"}, {}, kEnough, 1).timed_out);
  EXPECT_TRUE(RunProcess({"/bin/sh", "-c", "sleep 1.2"}, {}, kEnough, 1).ok());
  EXPECT_TRUE(RunProcess({"/bin/sh", "-c", "sleep 60"}, {}, 0.2, 1).timed_out);
}

}  // namespace
}  // namespace tkc

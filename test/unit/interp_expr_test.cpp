// SPDX-License-Identifier: MIT
// Every kind of expression, evaluated alone against values worked out by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compiler/interp/evaluate.h"
#include "test/unit/interp_build.h"

namespace tkc::interp {
namespace {

using namespace build;

constexpr double kInf = std::numeric_limits<double>::infinity();

/// A launch with dims 5 and 3, a scalar x = 1.5 and a tensor T[5, 3] of 0 .. 14, and variables of the test's making.
class InterpExpr : public ::testing::Test {
 protected:
  InterpExpr() {
    launch_.kernel = &kernel_;
    launch_.dims = {5, 3};
    launch_.scalars = {Value::Real(DType::kF32, 1.5), Value()};
    std::vector<double> values;
    for (int i = 0; i < 15; ++i) values.push_back(i);
    tensor_ = TensorOf(DType::kBF16, {5, 3}, values);
    launch_.tensors = {nullptr, &tensor_};
  }

  /// A variable that holds these numbers, and a reference to it.
  ExprPtr Tile(DType dtype, int64_t rows, int64_t cols, const std::vector<double>& values) {
    Value value = Value::Zero(Type::Tile(dtype, rows, cols));
    for (size_t i = 0; i < values.size(); ++i) {
      if (IsFloat(dtype)) {
        value.MutableReals()[i] = values[i];
      } else {
        value.MutableIntegers()[i] = static_cast<int64_t>(values[i]);
      }
    }
    vars_.push_back(value);
    return VarOf(static_cast<int>(vars_.size()) - 1, value.type());
  }

  std::vector<double> Eval(const ExprPtr& expr) {
    const Value value = Evaluator(launch_, vars_, faults_).Evaluate(*expr);
    EXPECT_EQ(value.type(), expr->type);
    std::vector<double> values;
    for (int64_t i = 0; i < value.size(); ++i) {
      values.push_back(value.is_float() ? value.Reals()[i] : static_cast<double>(value.Integers()[i]));
    }
    return values;
  }
  double Eval1(const ExprPtr& expr) { return Eval(expr).at(0); }

  Kernel kernel_;
  Launch launch_;
  Tensor tensor_;
  std::vector<Value> vars_;
  Diagnostics diagnostics_;
  Faults faults_{diagnostics_};
};

using Reals = std::vector<double>;
const Type kF32 = Type::Scalar(DType::kF32);
Type F32Tile(int64_t rows, int64_t cols) { return Type::Tile(DType::kF32, rows, cols); }

TEST_F(InterpExpr, LeavesHaveTheirValues) {
  EXPECT_EQ(Eval1(Int(-7)), -7);
  EXPECT_EQ(Eval1(Float(0.1)), static_cast<double>(0.1f));
  EXPECT_EQ(Eval1(Bool(true)), 1);
  EXPECT_EQ(Eval1(DimOf(0)), 5);
  EXPECT_EQ(Eval1(ParamOf(0, DType::kF32)), 1.5);
}

TEST_F(InterpExpr, IntegerDivisionFloors) {
  EXPECT_EQ(Eval1(IntBinary(Op::kDiv, Int(-1), Int(4))), -1);
  EXPECT_EQ(Eval1(IntBinary(Op::kMod, Int(-1), Int(4))), 3);
  EXPECT_EQ(Eval1(IntBinary(Op::kDiv, Int(7), Int(-2))), -4);
  EXPECT_EQ(Eval1(NodeOf(ExprKind::kCall, Op::kCdiv, Type::Scalar(DType::kI64), Int(7), Int(2))), 4);
  EXPECT_EQ(Eval1(NodeOf(ExprKind::kCall, Op::kCdiv, Type::Scalar(DType::kI64), Int(0), Int(2))), 0);
}

TEST_F(InterpExpr, IntegerDivisionByZeroLeavesAll) {
  EXPECT_EQ(Eval1(IntBinary(Op::kDiv, Int(7), Int(0))), 0);
  EXPECT_EQ(Eval1(IntBinary(Op::kMod, Int(7), Int(0))), 7);
  EXPECT_EQ(Eval1(NodeOf(ExprKind::kCall, Op::kCdiv, Type::Scalar(DType::kI64), Int(-7), Int(0))), 0);
  EXPECT_EQ(Eval1(NodeOf(ExprKind::kCall, Op::kCdiv, Type::Scalar(DType::kI64), Int(-7), Int(2))), -3);
}

TEST_F(InterpExpr, TilesMayDivideByTheFill) {
  EXPECT_EQ(Eval(Binary(Op::kDiv, Tile(DType::kI32, 1, 2, {7, 0}), Tile(DType::kI32, 1, 2, {2, 0}), Type::Tile(DType::kI32, 1, 2))),
            (Reals{3, 0}));
  EXPECT_FALSE(faults_.failed());
}

TEST_F(InterpExpr, IntegersWrapInTheirType) {
  const auto product = [&](DType dtype) { return Eval1(Binary(Op::kMul, Int(-1, dtype), Int(-3, dtype), Type::Scalar(dtype))); };
  EXPECT_EQ(product(DType::kU64), 3);
  EXPECT_EQ(product(DType::kU32), 3);
  EXPECT_EQ(Eval1(Binary(Op::kAdd, Int(2147483647, DType::kI32), Int(1, DType::kI32), Type::Scalar(DType::kI32))), -2147483648.0);
}

TEST_F(InterpExpr, ABranchNotTakenMayDivideByZero) {
  EXPECT_EQ(Eval1(NodeOf(ExprKind::kSelect, Op::kNone, Type::Scalar(DType::kI64), Bool(false), IntBinary(Op::kDiv, Int(1), Int(0)),
                         Int(4))),
            4);
  EXPECT_FALSE(faults_.failed());
}

TEST_F(InterpExpr, FloatArithmeticRoundsEachOperationToF32) {
  const ExprPtr sum = Binary(Op::kAdd, Binary(Op::kAdd, Float(1.0), Float(0x1p-24), kF32), Float(0x1p-24), kF32);
  EXPECT_EQ(Eval1(sum), 1.0);
  EXPECT_EQ(Eval1(Binary(Op::kDiv, Float(1.0), Float(3.0), kF32)), static_cast<double>(1.0f / 3.0f));
  EXPECT_EQ(Eval1(Binary(Op::kDiv, Float(1.0), Float(0.0), kF32)), kInf);
}

TEST_F(InterpExpr, Broadcasts) {
  const auto tile = [&] { return Tile(DType::kF32, 2, 3, {1, 2, 3, 4, 5, 6}); };
  EXPECT_EQ(Eval(Binary(Op::kMul, tile(), Tile(DType::kF32, 2, 1, {10, 100}), F32Tile(2, 3))), (Reals{10, 20, 30, 400, 500, 600}));
  EXPECT_EQ(Eval(Binary(Op::kSub, tile(), Tile(DType::kF32, 1, 3, {1, 1, 2}), F32Tile(2, 3))), (Reals{0, 1, 1, 3, 4, 4}));
  EXPECT_EQ(Eval(Binary(Op::kAdd, Tile(DType::kF32, 2, 1, {1, 2}), Tile(DType::kF32, 1, 2, {10, 20}), F32Tile(2, 2))),
            (Reals{11, 21, 12, 22}));
  EXPECT_EQ(Eval(Binary(Op::kAdd, tile(), Float(1), F32Tile(2, 3))), (Reals{2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(Eval(Splat(Int(2), Type::Tile(DType::kF32, 1, 2))), (Reals{2, 2}));
}

TEST_F(InterpExpr, ComparesAndCombinesTruthValues) {
  const Type mask = Type::Tile(DType::kBool, 2, 2);
  const auto less = [&] { return Binary(Op::kLe, Tile(DType::kI32, 1, 2, {0, 1}), Tile(DType::kI32, 2, 1, {0, 1}), mask); };
  EXPECT_EQ(Eval(less()), (Reals{1, 0, 1, 1}));
  EXPECT_EQ(Eval(Binary(Op::kAnd, less(), NodeOf(ExprKind::kUnary, Op::kNot, mask, less()), mask)), (Reals{0, 0, 0, 0}));
  EXPECT_EQ(Eval(Binary(Op::kOr, less(), Bool(true), mask)), (Reals{1, 1, 1, 1}));
  EXPECT_EQ(Eval1(Compare(Op::kLt, Float(NAN), Float(1))), 0);
  EXPECT_EQ(Eval1(Compare(Op::kNe, Float(NAN), Float(NAN))), 1);
  EXPECT_EQ(Eval1(Compare(Op::kGt, Int(-1, DType::kU64), Int(1))), 1);  // u64 is unsigned
}

TEST_F(InterpExpr, SelectsBetweenTilesAndScalars) {
  const ExprPtr select = NodeOf(ExprKind::kSelect, Op::kNone, F32Tile(1, 3), Tile(DType::kBool, 1, 3, {1, 0, 1}),
                                Tile(DType::kF32, 1, 3, {1, NAN, 3}), Float(-kInf));
  EXPECT_EQ(Eval(select), (Reals{1, -kInf, 3}));
}

TEST_F(InterpExpr, FunctionsHaveExactLimits) {
  const auto call = [&](Op op, double x) { return Eval1(NodeOf(ExprKind::kCall, op, kF32, Float(x))); };
  EXPECT_EQ(call(Op::kExp, -kInf), 0);
  EXPECT_EQ(call(Op::kExp2, 3), 8);
  EXPECT_EQ(call(Op::kLog, 0), -kInf);
  EXPECT_EQ(call(Op::kLog2, 8), 3);
  EXPECT_EQ(call(Op::kSqrt, 2), static_cast<double>(std::sqrt(2.0f)));
  EXPECT_EQ(call(Op::kRsqrt, 4), 0.5);
  EXPECT_EQ(call(Op::kSigmoid, 0), 0.5);
  EXPECT_EQ(call(Op::kTanh, kInf), 1);
  EXPECT_EQ(call(Op::kErf, 0), 0);
  EXPECT_EQ(call(Op::kFloor, -1.5), -2);
  EXPECT_EQ(call(Op::kCeil, -1.5), -1);
  EXPECT_EQ(call(Op::kRound, 2.5), 2);
  EXPECT_EQ(call(Op::kRound, -1.5), -2);
  EXPECT_EQ(call(Op::kFinite, -kInf), 0);
  EXPECT_EQ(call(Op::kFinite, NAN), 0);
  EXPECT_EQ(call(Op::kFinite, -3), -3);
  EXPECT_EQ(call(Op::kAbs, -1.5), 1.5);
  EXPECT_EQ(Eval1(NodeOf(ExprKind::kCall, Op::kPow, kF32, Float(2), Float(10))), 1024);
  EXPECT_EQ(Eval1(NodeOf(ExprKind::kCall, Op::kMax, kF32, Float(NAN), Float(10))), 10);
  EXPECT_EQ(Eval1(NodeOf(ExprKind::kCall, Op::kMin, Type::Scalar(DType::kI64), Int(3), Int(-1), Int(2))), -1);
}

TEST_F(InterpExpr, ConversionsRoundAndSaturate) {
  EXPECT_EQ(Eval(Convert(Tile(DType::kF32, 1, 2, {1.00390625, -2.7}), DType::kBF16)), (Reals{1.0, -2.703125}));
  EXPECT_EQ(Eval(Convert(Tile(DType::kF32, 1, 2, {-2.7, 1e10}), DType::kI32)), (Reals{-2, 2147483647}));
  EXPECT_EQ(Eval1(Convert(Int(16777217), DType::kF32)), 16777216);
}

TEST_F(InterpExpr, Reduces) {
  const auto tile = [&] { return Tile(DType::kF32, 2, 3, {1, -2, 3, 4, 5, -6}); };
  const auto reduce = [&](Op op, int axis, Type type) {
    ExprPtr expr = NodeOf(ExprKind::kReduce, op, type, tile());
    expr->axis = axis;
    return Eval(expr);
  };
  EXPECT_EQ(reduce(Op::kAdd, 1, F32Tile(2, 1)), (Reals{2, 3}));
  EXPECT_EQ(reduce(Op::kAdd, 0, F32Tile(1, 3)), (Reals{5, 3, -3}));
  EXPECT_EQ(reduce(Op::kMax, 1, F32Tile(2, 1)), (Reals{3, 5}));
  EXPECT_EQ(reduce(Op::kMin, 0, F32Tile(1, 3)), (Reals{1, -2, -6}));
  ExprPtr any = NodeOf(ExprKind::kReduce, Op::kAny, Type::Scalar(DType::kBool), Tile(DType::kBool, 2, 2, {0, 0, 0, 1}));
  EXPECT_EQ(Eval1(any), 1);
  any->op = Op::kAll;
  EXPECT_EQ(Eval1(any), 0);
}

TEST_F(InterpExpr, ASumIsRoundedOnce) {
  std::vector<double> values(1025, 0x1p-24);
  values[0] = 1;
  ExprPtr sum = NodeOf(ExprKind::kReduce, Op::kAdd, F32Tile(1, 1), Tile(DType::kF32, 1, 1025, values));
  sum->axis = 1;
  EXPECT_EQ(Eval1(sum), 1 + 0x1p-14);
}

TEST_F(InterpExpr, SumsRunningly) {
  ExprPtr sums = NodeOf(ExprKind::kCumsum, Op::kNone, F32Tile(2, 2), Tile(DType::kF32, 2, 2, {1, 2, 3, 4}));
  EXPECT_EQ(Eval(sums), (Reals{1, 2, 4, 6}));
  sums->axis = 1;
  EXPECT_EQ(Eval(sums), (Reals{1, 3, 3, 7}));
}

TEST_F(InterpExpr, RearrangesTiles) {
  const auto tile = [&] { return Tile(DType::kI32, 2, 3, {1, 2, 3, 4, 5, 6}); };
  EXPECT_EQ(Eval(NodeOf(ExprKind::kTranspose, Op::kNone, Type::Tile(DType::kI32, 3, 2), tile())), (Reals{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(Eval(PartOf(tile(), Int(1), Int(1), 1, 2)), (Reals{5, 6}));
  EXPECT_EQ(Eval(NodeOf(ExprKind::kCat, Op::kNone, Type::Tile(DType::kI32, 2, 4), tile(), Tile(DType::kI32, 2, 1, {7, 8}))),
            (Reals{1, 2, 3, 7, 4, 5, 6, 8}));
  EXPECT_EQ(Eval(NodeOf(ExprKind::kPositions, Op::kNone, Type::Tile(DType::kI32, 3, 1), Int(-1))), (Reals{-1, 0, 1}));
}

TEST_F(InterpExpr, MultipliesMatrices) {
  const ExprPtr product = Product(Tile(DType::kBF16, 2, 2, {1, 2, 3, 4}), Tile(DType::kBF16, 2, 3, {1, 0, 2, 0, 1, -1}));
  EXPECT_EQ(Eval(product), (Reals{1, 2, 0, 3, 4, 2}));
}

TEST_F(InterpExpr, AProductJoinsTheSumOfItsExpressionUnrounded) {
  // The product is 1 + 2^-24 exactly, which f32 rounds to 1; a sum in the same expression sees what was cut off.
  const auto product = [&] { return Product(Tile(DType::kBF16, 1, 2, {1, 0x1p-12}), Tile(DType::kBF16, 2, 1, {1, 0x1p-12})); };
  const auto minus_one = [&] { return Tile(DType::kF32, 1, 1, {-1}); };
  EXPECT_EQ(Eval1(Binary(Op::kAdd, minus_one(), product(), F32Tile(1, 1))), 0x1p-24);
  EXPECT_EQ(Eval1(Binary(Op::kAdd, product(), minus_one(), F32Tile(1, 1))), 0x1p-24);
  EXPECT_EQ(Eval1(Binary(Op::kSub, Binary(Op::kAdd, minus_one(), product(), F32Tile(1, 1)), product(), F32Tile(1, 1))), -1);
  const double rounded_first = Eval1(product());
  EXPECT_EQ(rounded_first, 1.0);
  EXPECT_EQ(Eval1(Binary(Op::kAdd, minus_one(), Tile(DType::kF32, 1, 1, {rounded_first}), F32Tile(1, 1))), 0.0);
}

TEST_F(InterpExpr, ReadsGiveTheFillOutside) {
  const Type type = Type::Tile(DType::kBF16, 2, 2);
  EXPECT_EQ(Eval(Read(1, type, AxesOf(Range(Int(4), 2), Range(Int(2), 2)))), (Reals{14, 0, 0, 0}));
  EXPECT_EQ(Eval(Read(1, type, AxesOf(Range(Int(-1), 2), Range(Int(0), 2)), Float(-kInf, DType::kBF16))),
            (Reals{-kInf, -kInf, 0, 1}));
  EXPECT_EQ(Eval(Read(1, type, AxesOf(Range(Int(100), 2), Range(Int(0), 2)))), (Reals{0, 0, 0, 0}));
}

TEST_F(InterpExpr, ABlockShowsOnlyItsOwnRange) {
  const Type type = Type::Tile(DType::kBF16, 3, 1);
  EXPECT_EQ(Eval(Read(1, type, AxesOf(Clipped(Int(1), 3, Int(2), Int(3)), At(Int(0))))), (Reals{0, 6, 0}));
}

TEST_F(InterpExpr, ReadsElementsAndColumns) {
  const Type scalar = Type::Scalar(DType::kBF16);
  EXPECT_EQ(Eval1(Read(1, scalar, AxesOf(At(Int(3)), At(Int(1))))), 10);
  EXPECT_EQ(Eval1(Read(1, scalar, AxesOf(At(Int(3)), At(Int(-1))))), 0);
  EXPECT_EQ(Eval(Read(1, Type::Tile(DType::kBF16, 3, 1), AxesOf(At(Int(2)), Range(Int(0), 3)))), (Reals{6, 7, 8}));
}

TEST_F(InterpExpr, ReadsAnyStrides) {
  // The same storage seen transposed and reversed along the new rows.
  tensor_.extents = {3, 5};
  tensor_.strides = {-1, 3};
  tensor_.offset = 2;
  ASSERT_TRUE(tensor_.IsConsistent());
  EXPECT_EQ(Eval(Read(1, Type::Tile(DType::kBF16, 2, 2), AxesOf(Range(Int(0), 2), Range(Int(1), 2)))), (Reals{5, 8, 4, 7}));
  tensor_.offset = 1;
  EXPECT_FALSE(tensor_.IsConsistent());
}

}  // namespace
}  // namespace tkc::interp

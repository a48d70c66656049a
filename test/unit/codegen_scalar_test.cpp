// SPDX-License-Identifier: MIT
#include "compiler/codegen/scalar_cpp.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tkc::codegen {
namespace {

using symbolic::Kind;
using symbolic::Scalar;

Scalar N(const char* name) { return symbolic::Name(name); }
Scalar F(const char* name) { return symbolic::Name(name, DType::kF32); }
Scalar I(int64_t value) { return symbolic::Int(value); }
Scalar Op(Kind kind, Scalar a, Scalar b, DType dtype = DType::kI64) {
  return symbolic::Make(kind, dtype, {std::move(a), std::move(b)});
}
Scalar Bool(Kind kind, Scalar a, Scalar b) { return Op(kind, std::move(a), std::move(b), DType::kBool); }

class ScalarCpp : public testing::Test {
 protected:
  ScalarCpp() {
    for (const char* dim : {"M", "N", "K"}) {
      kernel_.AddNonNegative(dim);
      kernel_.AddExtent(dim);
      host_.AddNonNegative(dim);
    }
    kernel_.AddNonNegative("tile");
    kernel_.AddPositive("n_blocks");
    kernel_.AddWide("seed");
  }
  std::string Kernel(const Scalar& scalar) const { return kernel_.Text(scalar); }
  std::string Host(const Scalar& scalar) const { return host_.Text(scalar); }

  ScalarPrinter kernel_{ScalarPrinter::Place::kKernel}, host_{ScalarPrinter::Place::kHost};
};

TEST_F(ScalarCpp, ParenthesesWhereNeeded) {
  EXPECT_EQ(Kernel(Op(Kind::kMul, Op(Kind::kAdd, N("a"), N("b")), N("c"))), "(a + b) * c");
  EXPECT_EQ(Kernel(Op(Kind::kSub, F("a"), Op(Kind::kSub, F("b"), F("c"), DType::kF32), DType::kF32)), "a - (b - c)");
  EXPECT_EQ(Kernel(Op(Kind::kAdd, Op(Kind::kMul, F("a"), F("b"), DType::kF32), F("c"), DType::kF32)), "a * b + c");
  EXPECT_EQ(Kernel(Op(Kind::kAdd, N("a"), I(-3))), "a - 3");
}

TEST_F(ScalarCpp, LogicThatCompilersWarnAbout) {
  const Scalar p = symbolic::Name("p", DType::kBool), q = symbolic::Name("q", DType::kBool), r = symbolic::Name("r", DType::kBool);
  EXPECT_EQ(Kernel(Bool(Kind::kOr, Bool(Kind::kAnd, p, q), r)), "(p && q) || r");
  EXPECT_EQ(Kernel(Bool(Kind::kOr, Bool(Kind::kOr, p, q), r)), "p || q || r");
  EXPECT_EQ(Kernel(Bool(Kind::kAnd, Bool(Kind::kLt, N("i"), N("j")), p)), "i < j && p");
  EXPECT_EQ(Kernel(symbolic::Make(Kind::kNot, DType::kBool, {Bool(Kind::kAnd, p, q)})), "!(p && q)");
}

TEST_F(ScalarCpp, WhatTheLauncherMadeADivisorDivides) {
  kernel_.AddDivisor("m_blocks");
  EXPECT_EQ(Kernel(Op(Kind::kDiv, N("tile"), N("m_blocks"))), "tile / m_blocks");
  EXPECT_EQ(Kernel(Op(Kind::kMod, Op(Kind::kAdd, N("tile"), I(1)), N("m_blocks"))), "(tile + 1) % m_blocks");
  EXPECT_EQ(Kernel(Op(Kind::kSub, N("m_blocks"), I(1))), "m_blocks.value - 1");
  EXPECT_EQ(Kernel(Op(Kind::kDiv, N("i"), N("m_blocks"))), "tk::floor_div(i, m_blocks.value)");  // it may be negative
  EXPECT_EQ(Kernel(Op(Kind::kDiv, N("seed"), N("m_blocks"))), "tk::floor_div<tk::index>(seed, m_blocks.value)");
}

TEST_F(ScalarCpp, DivisionFloors) {
  EXPECT_EQ(Kernel(Op(Kind::kDiv, N("tile"), N("n_blocks"))), "tile / n_blocks");
  EXPECT_EQ(Kernel(Op(Kind::kMod, N("tile"), I(8))), "tile % 8");
  EXPECT_EQ(Kernel(Op(Kind::kMod, N("tile"), N("tile"))), "tk::floor_mod(tile, tile)");  // may be zero
  EXPECT_EQ(Kernel(Op(Kind::kDiv, N("i"), I(8))), "tk::floor_div(i, 8)");
  EXPECT_EQ(Kernel(Op(Kind::kMod, Op(Kind::kSub, N("tile"), N("K")), I(8))), "tk::floor_mod(tile - K, 8)");
  EXPECT_EQ(Kernel(Op(Kind::kDiv, F("a"), F("b"), DType::kF32)), "a / b");
}

TEST_F(ScalarCpp, SixtyFourBitsWhereThirtyTwoMayNotDo) {
  EXPECT_EQ(Kernel(Op(Kind::kMul, N("M"), N("N"))), "tk::index(M) * N");
  EXPECT_EQ(Kernel(Op(Kind::kMul, N("M"), I(2))), "M * 2");
  EXPECT_EQ(Kernel(Op(Kind::kMin, N("seed"), I(4))), "tk::min<tk::index>(seed, 4)");
  EXPECT_EQ(kernel_.TypeOf(Op(Kind::kAdd, N("seed"), I(1))), "tk::index");
  EXPECT_EQ(kernel_.TypeOf(Op(Kind::kAdd, N("K"), I(1))), "int");
  EXPECT_EQ(Host(symbolic::Cdiv(N("M"), I(128))), "tk::cdiv<tk::index>(M, 128)");
  EXPECT_EQ(Host(Bool(Kind::kLe, Op(Kind::kMul, symbolic::Cdiv(N("M"), I(128)), symbolic::Cdiv(N("N"), I(256))), N("sms"))),
            "tk::cdiv<tk::index>(M, 128) * tk::cdiv<tk::index>(N, 256) <= sms");
}

TEST_F(ScalarCpp, CallsElementsConversions) {
  EXPECT_EQ(Kernel(symbolic::Call("block::index", DType::kI32, {})), "tk::block::index()");
  EXPECT_EQ(Kernel(symbolic::Call("grouped_order.m", DType::kI64, {N("tile"), N("n_blocks")})),
            "tk::grouped_order(tile, n_blocks).m");
  EXPECT_EQ(Kernel(symbolic::Element("off", DType::kI32, {Op(Kind::kAdd, N("e"), I(1))})), "off.element(e + 1)");
  EXPECT_EQ(Kernel(symbolic::Convert(N("K"), DType::kF32)), "float(K)");
  EXPECT_EQ(Kernel(symbolic::Convert(F("x"), DType::kBF16)), "tk::convert<tk::bf16>(x)");
  EXPECT_EQ(Kernel(symbolic::Make(Kind::kSelect, DType::kI64, {Bool(Kind::kLt, N("i"), N("j")), N("i"), N("j")})), "i < j ? i : j");
}

TEST_F(ScalarCpp, NamesAreMangled) { EXPECT_EQ(Kernel(Op(Kind::kAdd, N("major"), N("I"))), "major_ + I_"); }

TEST(Literals, Floats) {
  EXPECT_EQ(FloatLiteral(0, DType::kF32), "0.0f");
  EXPECT_EQ(FloatLiteral(0.1, DType::kF32), "0.1f");
  EXPECT_EQ(FloatLiteral(1e30, DType::kF32), "1e+30f");
  EXPECT_EQ(FloatLiteral(1e12, DType::kF32), "1000000000000.0f");  // what was written, not 999999995904
  EXPECT_EQ(FloatLiteral(4294967296.0, DType::kF32), "4294967296.0f");
  EXPECT_EQ(FloatLiteral(-6442450944.0, DType::kF32), "-6442450944.0f");
  EXPECT_EQ(FloatLiteral(16777218, DType::kF32), "16777218.0f");
  EXPECT_EQ(FloatLiteral(std::ldexp(1.0, -3), DType::kF32), "0.125f");
  EXPECT_EQ(FloatLiteral(std::ldexp(1.0, -24), DType::kF32), "0x1p-24f");
  EXPECT_EQ(FloatLiteral(-std::ldexp(1.0, 100), DType::kF32), "-0x1p100f");
  EXPECT_EQ(FloatLiteral(-INFINITY, DType::kF32), "-tk::infinity()");
  EXPECT_EQ(FloatLiteral(-3.4028234663852886e38, DType::kF32), "-tk::largest_float()");
  EXPECT_EQ(FloatLiteral(3.4028234663852886e38, DType::kF64), "3.4028234663852886e+38");
  EXPECT_EQ(FloatLiteral(2, DType::kBF16), "tk::bf16(2.0f)");
}

TEST(Literals, Strings) {
  EXPECT_EQ(StringLiteral("a\"b\\c\n"), "\"a\\\"b\\\\c\\012\"");
  EXPECT_EQ(StringLiteral("\?\?/"), "\"\\?\\?/\"");
}

}  // namespace
}  // namespace tkc::codegen

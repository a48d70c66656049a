// SPDX-License-Identifier: MIT
// Whole kernels: statements, grids, ragged edges, zero sizes, presets, work tensors, binding and its faults.
#include <gtest/gtest.h>

#include "test/unit/interp_build.h"

namespace tkc::interp {
namespace {

using namespace build;
using Reals = std::vector<double>;

std::string Fault(const Kernel& kernel, Arguments& arguments) {
  Diagnostics diagnostics;
  EXPECT_FALSE(Interpret(kernel, arguments, diagnostics));
  return diagnostics.All().empty() ? "" : diagnostics.All().front().headline;
}

void Succeed(const Kernel& kernel, Arguments& arguments) {
  Diagnostics diagnostics;
  const bool ok = static_cast<bool>(Interpret(kernel, arguments, diagnostics));
  ASSERT_TRUE(ok) << (diagnostics.All().empty() ? "" : diagnostics.All().front().headline);
}

constexpr int64_t kTile = 4;

/// Y[m, n] <- X[m, n] * 2 in blocks of 4 x 4 on tensors M x N.
struct Doubling : KernelBuilder {
  DimId m = AddDim("M"), n = AddDim("N");
  ParamId x = AddTensor("X", DType::kF32, {m, n}), y = AddTensor("Y", DType::kF32, {m, n}, TensorMode::kOut);
  VarId row = AddVar("m", Type::Scalar(DType::kI64), VarKind::kGrid), col = AddVar("n", Type::Scalar(DType::kI64), VarKind::kGrid);
  Type tile = Type::Tile(DType::kF32, kTile, kTile);

  explicit Doubling(StoreOp op = StoreOp::kSet) {
    Section& section = AddSection();
    AddAxis(section, row, Int(0), DimOf(m), kTile);
    AddAxis(section, col, Int(0), DimOf(n), kTile);
    AddWorker(section, "copy", BlockOf(Store(y, Axes(), Binary(Op::kMul, Read(x, tile, Axes()), Float(2), tile), op)));
  }
  std::vector<AxisRange> Axes() const { return AxesOf(Range(VarOf(row), kTile), Range(VarOf(col), kTile)); }
  static Arguments Args(int64_t rows, int64_t cols) {
    Arguments arguments;
    Reals values;
    for (int64_t i = 0; i < rows * cols; ++i) values.push_back(static_cast<double>(i));
    arguments.tensors["X"] = TensorOf(DType::kF32, {rows, cols}, values);
    arguments.tensors["Y"] = TensorOf(DType::kF32, {rows, cols}, Reals(values.size(), -1));
    return arguments;
  }
};

TEST(InterpKernel, RaggedEdgesAreDropped) {
  Doubling kernel;
  for (const auto& [rows, cols] : std::vector<std::pair<int64_t, int64_t>>{{4, 4}, {5, 7}, {1, 1}, {8, 3}}) {
    Arguments arguments = Doubling::Args(rows, cols);
    Succeed(kernel.kernel, arguments);
    const Reals result = arguments.tensors["Y"].ToReals();
    for (size_t i = 0; i < result.size(); ++i) EXPECT_EQ(result[i], 2.0 * static_cast<double>(i));
  }
}

TEST(InterpKernel, EmptyGridsStillWritePresets) {
  Doubling kernel;
  Arguments arguments = Doubling::Args(0, 7);
  Succeed(kernel.kernel, arguments);
  EXPECT_EQ(arguments.tensors["Y"].size(), 0);

  KernelBuilder preset;
  const DimId n = preset.AddDim("N");
  const DimId m = preset.AddDim("M");
  preset.AddTensor("E", DType::kF32, {m});
  preset.AddTensor("Y", DType::kF32, {n}, TensorMode::kOut);
  preset.kernel.params[1].has_preset = true;
  preset.kernel.params[1].preset = 3;
  AddAxis(preset.AddSection(), preset.AddVar("i"), Int(0), DimOf(m), 1);
  Arguments empty;
  empty.tensors["E"] = Tensor::Dense(DType::kF32, {0});
  empty.tensors["Y"] = Tensor::Dense(DType::kF32, {2});
  Succeed(preset.kernel, empty);
  EXPECT_EQ(empty.tensors["Y"].ToReals(), (Reals{3, 3}));
}

TEST(InterpKernel, StoresCombine) {
  for (const auto& [op, expected] : std::vector<std::pair<StoreOp, Reals>>{
           {StoreOp::kAdd, {-1, 1, 3}}, {StoreOp::kMax, {0, 2, 4}}, {StoreOp::kMin, {-1, -1, -1}}}) {
    Doubling kernel(op);
    Arguments arguments = Doubling::Args(1, 3);
    Succeed(kernel.kernel, arguments);
    EXPECT_EQ(arguments.tensors["Y"].ToReals(), expected);
  }
}

TEST(InterpKernel, StoringAnElementTwiceIsAFault) {
  Doubling kernel;
  kernel.kernel.sections[0].axes[0].step = 2;  // blocks overlap
  Arguments arguments = Doubling::Args(6, 4);
  Diagnostics diagnostics;
  EXPECT_FALSE(Interpret(kernel.kernel, arguments, diagnostics));
  ASSERT_FALSE(diagnostics.All().empty());
  EXPECT_EQ(diagnostics.All().front().kind, DiagnosticKind::kWrittenTwice);
  EXPECT_EQ(diagnostics.All().front().headline, "an element of `Y` is stored a second time in one grid");
}

TEST(InterpKernel, BindingNamesWhatDoesNotFit) {
  Doubling kernel;
  Arguments arguments = Doubling::Args(4, 4);
  arguments.tensors["Y"] = Tensor::Dense(DType::kF32, {4, 5});
  EXPECT_EQ(Fault(kernel.kernel, arguments), "`Y` has 5 elements on axis 1, but `N` is 4, as given by axis 1 of `X`");
  arguments.tensors["Y"] = Tensor::Dense(DType::kBF16, {4, 4});
  EXPECT_EQ(Fault(kernel.kernel, arguments), "`Y` holds bf16, but the parameter is f32");
  arguments.tensors["Y"] = Tensor::Dense(DType::kF32, {4});
  EXPECT_EQ(Fault(kernel.kernel, arguments), "`Y` has rank 1, but the parameter has rank 2");
  arguments.tensors.erase("Y");
  EXPECT_EQ(Fault(kernel.kernel, arguments), "no tensor is given for the parameter `Y`");
  arguments.tensors["Z"] = Tensor::Dense(DType::kF32, {4});
  EXPECT_EQ(Fault(kernel.kernel, arguments), "`k` has no tensor parameter `Z`");
  arguments = Doubling::Args(4, 4);
  arguments.dims["M"] = 8;
  EXPECT_EQ(Fault(kernel.kernel, arguments), "`X` has 4 elements on axis 0, but `M` is 8, as given by the dimensions given");
  arguments = Doubling::Args(4, 4);
  arguments.tensors["X"].strides[0] = 5;
  EXPECT_EQ(Fault(kernel.kernel, arguments), "the strides of `X` reach outside its storage");
}

TEST(InterpKernel, ExtentsMayBeExpressions) {
  Doubling kernel;
  kernel.kernel.params[1].extents[0] = IntBinary(Op::kMul, DimOf(kernel.m), Int(2));
  Arguments arguments = Doubling::Args(4, 4);
  EXPECT_EQ(Fault(kernel.kernel, arguments), "`Y` has 4 elements on axis 0, but `M * 2` is 8");
}

TEST(InterpKernel, RequirementsAreNamed) {
  Doubling kernel;
  kernel.AddScalar("s", DType::kF32);
  kernel.kernel.requires_at_launch.push_back(
      Compare(Op::kEq, IntBinary(Op::kMod, IntBinary(Op::kAdd, DimOf(kernel.m), Int(1)), Int(8)), Int(0)));
  kernel.kernel.requires_at_launch.push_back(Compare(Op::kGt, ParamOf(2, DType::kF32), Float(0)));
  Arguments arguments = Doubling::Args(7, 4);
  EXPECT_EQ(Fault(kernel.kernel, arguments), "no value is given for the scalar `s`");
  arguments.scalars["s"] = Value::Real(DType::kF32, -0.5);
  EXPECT_EQ(Fault(kernel.kernel, arguments), "`k` requires `s > 0`: `s` is -0.5");
  arguments = Doubling::Args(4, 4);
  arguments.scalars["s"] = Value::Real(DType::kF32, 1);
  EXPECT_EQ(Fault(kernel.kernel, arguments), "`k` requires `(M + 1) % 8 == 0`: `M` is 4");
}

TEST(InterpKernel, TheFirstScheduleWhoseConditionHoldsIsChosen) {
  Entry entry;
  entry.name = "k";
  for (const int64_t limit : {8, 4}) {
    Doubling kernel;
    kernel.kernel.schedule = std::to_string(limit);
    kernel.kernel.sms_var = kernel.AddVar("sms");
    kernel.kernel.when = Compare(Op::kGe, IntBinary(Op::kMul, DimOf(kernel.m), VarOf(kernel.kernel.sms_var)), Int(limit * 132));
    entry.kernels.push_back(std::move(kernel.kernel));
  }
  Diagnostics diagnostics;
  Arguments arguments = Doubling::Args(9, 1);
  EXPECT_EQ((*ChooseKernel(entry, arguments, diagnostics))->schedule, "8");
  arguments = Doubling::Args(5, 1);
  EXPECT_EQ((*ChooseKernel(entry, arguments, diagnostics))->schedule, "4");
  arguments.sms = 200;
  EXPECT_EQ((*ChooseKernel(entry, arguments, diagnostics))->schedule, "4");
  arguments = Doubling::Args(1, 1);
  EXPECT_FALSE(ChooseKernel(entry, arguments, diagnostics));
  EXPECT_EQ(diagnostics.All().front().kind, DiagnosticKind::kNoScheduleApplies);
}

TEST(InterpKernel, SectionsRunInOrderAndHandOnWork) {
  // Section 1: W[i] <- X[i] * 2. Section 2: Y[i] <- W[N - 1 - i].
  KernelBuilder b;
  const DimId n = b.AddDim("N");
  const ParamId x = b.AddTensor("X", DType::kF32, {n});
  const ParamId y = b.AddTensor("Y", DType::kF32, {n}, TensorMode::kOut);
  const ParamId w = b.AddTensor("W", DType::kF32, {n}, TensorMode::kOut);
  b.kernel.params.back().kind = ParamKind::kWork;
  const VarId i = b.AddVar("i");
  const VarId mirror = b.AddVar("r");
  Section& first = b.AddSection();
  AddAxis(first, i, Int(0), DimOf(n), 1);
  AddWorker(first, "a",
            BlockOf(Store(
                w, AxesOf(At(VarOf(i))),
                Binary(Op::kMul, Read(x, Type::Scalar(DType::kF32), AxesOf(At(VarOf(i)))), Float(2), Type::Scalar(DType::kF32)))));
  Section& second = b.AddSection();
  AddAxis(second, i, Int(0), DimOf(n), 1);
  second.lets = BlockOf(Let(mirror, IntBinary(Op::kSub, IntBinary(Op::kSub, DimOf(n), Int(1)), VarOf(i))));
  AddWorker(second, "b", BlockOf(Store(y, AxesOf(At(VarOf(i))), Read(w, Type::Scalar(DType::kF32), AxesOf(At(VarOf(mirror)))))));
  Arguments arguments;
  arguments.tensors["X"] = TensorOf(DType::kF32, {3}, {1, 2, 3});
  arguments.tensors["Y"] = Tensor::Dense(DType::kF32, {3});
  Succeed(b.kernel, arguments);
  EXPECT_EQ(arguments.tensors["Y"].ToReals(), (Reals{6, 4, 2}));
  EXPECT_EQ(arguments.tensors.count("W"), 0u);
}

TEST(InterpKernel, RaggedGridsFollowIndexTensors) {
  // Y[i] counts the group of row i: grid e in E, m in off[e] .. off[e + 1] by 2.
  KernelBuilder b;
  const DimId e_dim = b.AddDim("E1");
  const DimId n = b.AddDim("N");
  const ParamId off = b.AddTensor("off", DType::kI32, {e_dim});
  const ParamId y = b.AddTensor("Y", DType::kF32, {n}, TensorMode::kOut);
  const VarId e = b.AddVar("e");
  const VarId m = b.AddVar("m");
  const auto offset = [&](int64_t plus) {
    return Convert(Read(off, Type::Scalar(DType::kI32), AxesOf(At(IntBinary(Op::kAdd, VarOf(e), Int(plus))))), DType::kI64);
  };
  Section& section = b.AddSection();
  AddAxis(section, e, Int(0), IntBinary(Op::kSub, DimOf(e_dim), Int(1)), 1);
  AddAxis(section, m, offset(0), offset(1), 2);
  AddWorker(section, "w",
            BlockOf(Store(y, AxesOf(Clipped(VarOf(m), 2, offset(0), offset(1))),
                          Splat(Convert(VarOf(e), DType::kF32), Type::Tile(DType::kF32, 2, 1)))));
  Arguments arguments;
  arguments.tensors["off"] = TensorOf(DType::kI32, {4}, {0, 3, 3, 5});
  arguments.tensors["Y"] = TensorOf(DType::kF32, {6}, Reals(6, -1));
  Succeed(b.kernel, arguments);
  EXPECT_EQ(arguments.tensors["Y"].ToReals(), (Reals{0, 0, 0, 2, 2, -1}));
}

TEST(InterpKernel, StatementsAssignBranchAndLoop) {
  // acc starts at 0; for i in 0 .. 4: if i < 2 { acc.rows(i) = i + 1 } else { acc = acc * 2 }.
  KernelBuilder b;
  const DimId n = b.AddDim("N");
  const ParamId y = b.AddTensor("Y", DType::kF32, {n}, TensorMode::kOut);
  const Type tile = Type::Tile(DType::kF32, 2, 1);
  const VarId acc = b.AddVar("acc", tile, VarKind::kMutable);
  const VarId i = b.AddVar("i", Type::Scalar(DType::kI64), VarKind::kLoop);
  StmtPtr part = Assign(acc, Splat(Convert(IntBinary(Op::kAdd, VarOf(i), Int(1)), DType::kF32), Type::Tile(DType::kF32, 1, 1)));
  part->kind = StmtKind::kAssignPart;
  part->row = VarOf(i);
  part->col = Int(0);
  StmtPtr twice = Assign(acc, Binary(Op::kMul, VarOf(acc, tile), Float(2), tile));
  AddWorker(b.AddSection(), "w",
            BlockOf(Let(acc, Splat(Float(0), tile)),
                    For(i, Int(0), Int(4), 1,
                        BlockOf(If(Compare(Op::kLt, VarOf(i), Int(2)), BlockOf(std::move(part)), BlockOf(std::move(twice))))),
                    Store(y, AxesOf(Range(Int(0), 2)), VarOf(acc, tile))));
  Arguments arguments;
  arguments.tensors["Y"] = Tensor::Dense(DType::kF32, {2});
  Succeed(b.kernel, arguments);
  EXPECT_EQ(arguments.tensors["Y"].ToReals(), (Reals{4, 8}));
}

TEST(InterpKernel, AStoreRoundsToTheTensorsType) {
  KernelBuilder b;
  const DimId n = b.AddDim("N");
  const ParamId y = b.AddTensor("Y", DType::kBF16, {n}, TensorMode::kOut);
  AddWorker(b.AddSection(), "w", BlockOf(Store(y, AxesOf(Range(Int(0), 2)), Splat(Float(1.01), Type::Tile(DType::kF32, 2, 1)))));
  Arguments arguments;
  arguments.tensors["Y"] = Tensor::Dense(DType::kBF16, {2});
  Succeed(b.kernel, arguments);
  EXPECT_EQ(arguments.tensors["Y"].ToReals(), (Reals{1.0078125, 1.0078125}));
}

}  // namespace
}  // namespace tkc::interp

// SPDX-License-Identifier: MIT
// `tkc run`: arguments from options and files, what is printed, what is written, and what is said about mistakes.
#include "compiler/interp/run.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "compiler/support/npy.h"
#include "test/unit/interp_build.h"

namespace tkc::interp {
namespace {

using namespace build;

/// Y[i] <- X[i] * s for i in N, X bf16, Y f32; runs in a folder of its own.
class InterpRun : public ::testing::Test {
 protected:
  InterpRun() {
    KernelBuilder b;
    const DimId n = b.AddDim("N");
    const ParamId x = b.AddTensor("X", DType::kBF16, {n});
    const ParamId y = b.AddTensor("Y", DType::kF32, {n}, TensorMode::kOut);
    const ParamId s = b.AddScalar("s", DType::kF32);
    const VarId i = b.AddVar("i");
    const Type f32 = Type::Scalar(DType::kF32);
    Section& section = b.AddSection();
    AddAxis(section, i, Int(0), DimOf(n), 1);
    ExprPtr element = Convert(Read(x, Type::Scalar(DType::kBF16), AxesOf(At(VarOf(i)))), DType::kF32);
    AddWorker(section, "w",
              BlockOf(Store(y, AxesOf(At(VarOf(i))), build::Binary(Op::kMul, std::move(element), ParamOf(s, DType::kF32), f32))));
    Entry entry;
    entry.name = b.kernel.name = "scale";
    entry.kernels.push_back(std::move(b.kernel));
    program_.entries.push_back(std::move(entry));
    folder_ = std::filesystem::temp_directory_path() /
              ("tkc_run_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~InterpRun() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }

  void WriteNpy(const std::string& name, DType dtype, std::vector<int64_t> extents, const std::vector<double>& values) {
    const Tensor tensor = TensorOf(dtype, std::move(extents), values);
    std::ofstream(Path(name), std::ios::binary) << FormatNpy({tensor.dtype, tensor.extents, tensor.bytes});
  }

  std::vector<double> ReadNpy(const std::string& name) {
    Diagnostics diagnostics;
    std::string error;
    const Result<std::string> file = ReadWholeFile(Path(name), diagnostics);
    EXPECT_TRUE(file);
    const auto array = ParseNpy(*file, error);
    EXPECT_TRUE(array) << error;
    Tensor tensor = Tensor::Dense(array->dtype, array->extents);
    tensor.bytes = array->bytes;
    return tensor.ToReals();
  }

  /// Runs; the text printed, or the headlines of the errors, one a line.
  std::string Output(const RunOptions& options) {
    Diagnostics diagnostics;
    std::ostringstream output;
    const int status = interp::Run(program_, options, diagnostics, output);
    EXPECT_EQ(status, diagnostics.HasErrors() ? 1 : 0);
    if (status == 0) return output.str();
    EXPECT_EQ(output.str(), "");
    std::string text;
    for (const Diagnostic& diagnostic : diagnostics.All()) text += diagnostic.headline + "\n";
    return text;
  }

  Program program_;
  std::filesystem::path folder_;
};

TEST_F(InterpRun, RunsOnFilesAndPrintsASummary) {
  WriteNpy("x.npy", DType::kF32, {3}, {1, 2, -3});
  RunOptions options;
  options.inputs = {{"X", Path("x.npy")}};
  options.outputs = {{"Y", Path("y.npy")}};
  options.scalars = {{"s", "0.5"}};
  options.print = true;
  EXPECT_EQ(Output(options), "Y: f32[3] checksum 4f579101df780e88 min -1.5 max 1 mean 0\n[0.5, 1, -1.5]\n");
  EXPECT_EQ(ReadNpy("y.npy"), (std::vector<double>{0.5, 1, -1.5}));
}

TEST_F(InterpRun, FillsAreTheSameForASeed) {
  RunOptions options;
  options.dims = {{"N", "1000"}};
  options.scalars = {{"s", "1"}};
  const std::string first = Output(options);
  EXPECT_EQ(Output(options), first);
  EXPECT_NE(first.find("Y: f32[1000] checksum "), std::string::npos);
  options.seed = 2;
  EXPECT_NE(Output(options), first);
  options.fill = FillKind::kIntegers;
  EXPECT_NE(Output(options).find("min -8 max 8"), std::string::npos);
}

TEST_F(InterpRun, NormalNumbersLookNormal) {
  Tensor tensor = Tensor::Dense(DType::kF64, {10000});
  FillRandom(tensor, "A", 1, FillKind::kNormal);
  double sum = 0, squares = 0;
  for (const double x : tensor.ToReals()) {
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / 10000, 0, 0.05);
  EXPECT_NEAR(squares / 10000, 1, 0.05);
}

TEST_F(InterpRun, EmptyTensorsAreFine) {
  RunOptions options;
  options.dims = {{"N", "0"}};
  options.scalars = {{"s", "1"}};
  options.print = true;
  EXPECT_EQ(Output(options), "Y: f32[0] empty\n");
}

TEST_F(InterpRun, EveryMistakeIsNamed) {
  RunOptions options;
  EXPECT_EQ(Output(options), "the scalar `s` of `scale` has no value\n");
  options.scalars = {{"s", "1"}};
  EXPECT_EQ(Output(options), "the dimension `N` of `scale` has no extent\n");
  options.dims = {{"M", "3"}, {"N", "3x"}, {"N", "4"}};
  options.scalars = {{"t", "1"}, {"s", "one"}};
  options.inputs = {{"Z", "z.npy"}};
  EXPECT_EQ(Output(options),
            "`--dims` gives `N` twice\n"
            "`scale` has no dimension `M`; it has `N`\n"
            "`--dims N=3x`: an extent is an integer from 0 to 2147418112\n"
            "`scale` has no scalar parameter `t`; it has `s`\n"
            "`--scalar s=one`: `one` is not a number of type f32\n"
            "`scale` has no tensor parameter `Z`; it has `X`, `Y`\n");
}

TEST_F(InterpRun, FilesThatDoNotFitAreNamed) {
  RunOptions options;
  options.scalars = {{"s", "1"}};
  options.inputs = {{"X", Path("none.npy")}};
  EXPECT_EQ(Output(options), "`" + Path("none.npy") + "` can't be read: No such file or directory\n");
  options.inputs = {{"X", folder_.string()}};
  EXPECT_EQ(Output(options), "`" + folder_.string() + "` can't be read: Is a directory\n");
  std::ofstream(Path("text.npy")) << "not an array";
  options.inputs = {{"X", Path("text.npy")}};
  EXPECT_EQ(Output(options),
            "`" + Path("text.npy") + "` can't be read as `X`: this is not a NumPy file: it does not begin with \\x93NUMPY\n");
  WriteNpy("two.npy", DType::kF32, {1, 2}, {1, 2});
  options.inputs = {{"X", Path("two.npy")}};
  EXPECT_EQ(Output(options), "`" + Path("two.npy") + "` has rank 2, but `X` has rank 1\n");
  WriteNpy("int.npy", DType::kI32, {2}, {1, 2});
  options.inputs = {{"X", Path("int.npy")}};
  EXPECT_EQ(Output(options), "`" + Path("int.npy") + "` holds i32, but `X` is bf16\n");
  WriteNpy("x.npy", DType::kBF16, {2}, {1, 2});
  options.inputs = {{"X", Path("x.npy")}};
  options.dims = {{"N", "3"}};
  EXPECT_EQ(Output(options), "`" + Path("x.npy") + "` has 2 elements on axis 0 of `X`, but `N` is 3 by `--dims`\n");
}

TEST_F(InterpRun, AFailureLeavesNoFile) {
  WriteNpy("x.npy", DType::kBF16, {2}, {1, 2});
  RunOptions options;
  options.scalars = {{"s", "1"}};
  options.inputs = {{"X", Path("x.npy")}};
  options.outputs = {{"X", Path("y.npy")}};
  EXPECT_EQ(Output(options), "`scale` has no output tensor `X`; it has `Y`\n");
  options.outputs = {{"Y", Path("missing/y.npy")}};
  EXPECT_EQ(Output(options), "`" + Path("missing/y.npy") + "` can't be written: No such file or directory\n");
  size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_)) ++files;
  EXPECT_EQ(files, 1u);
}

TEST_F(InterpRun, TheKernelIsChosenByName) {
  RunOptions options;
  options.kernel = "other";
  EXPECT_EQ(Output(options), "the file has no kernel `other`; it has `scale`\n");
  program_.entries.push_back({"second", {}});
  options.kernel = "";
  EXPECT_EQ(Output(options), "the file has 2 kernels: `scale`, `second`\n");
}

}  // namespace
}  // namespace tkc::interp

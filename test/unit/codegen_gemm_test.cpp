// SPDX-License-Identifier: MIT
// The printed gemm: its text (TKC_UPDATE_GOLDENS=1 rewrites it), and what must hold of any printed file.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "compiler/codegen/emit.h"
#include "test/unit/codegen_gemm_fixture.h"

namespace tkc::codegen {
namespace {

EmitOptions Options() {
  EmitOptions options;
  options.version = "0.1.0";
  options.options = "--target sm_90a";
  options.source_name = "gemm.cu";
  options.header_name = "gemm.h";
  return options;
}

void ExpectGolden(const std::string& name, const std::string& text) {
  const std::string path = std::string(TKC_SOURCE_DIR) + "/test/codegen/" + name;
  if (std::getenv("TKC_UPDATE_GOLDENS")) std::ofstream(path, std::ios::binary) << text;
  std::ifstream file(path, std::ios::binary);
  std::stringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(expected.str(), text) << "TKC_UPDATE_GOLDENS=1 rewrites " << name;
}

TEST(Gemm, IsPrintedAsTheGolden) {
  const test::GemmFixture gemm;
  const Emitted emitted = EmitCuda(gemm.module, gemm.sources, Options());
  ExpectGolden("gemm_by_hand.printed.cu", emitted.source);
  ExpectGolden("gemm_by_hand.printed.h", emitted.header);
  ExpectGolden("gemm_by_hand.report.txt", EmitReport(gemm.module, gemm.sources));
}

TEST(Gemm, SameInputSameBytes) {
  const test::GemmFixture one, two;
  EXPECT_EQ(EmitCuda(one.module, one.sources, Options()).source, EmitCuda(two.module, two.sources, Options()).source);
}

TEST(Gemm, NothingOfItsOwnBelowTheRuntime) {
  const test::GemmFixture gemm;
  const std::string source = EmitCuda(gemm.module, gemm.sources, Options()).source;
  for (const char* forbidden : {"<<<", "asm", "__shared__", "__global__", "threadIdx", "cudaLaunch"}) {
    EXPECT_EQ(source.find(forbidden), std::string::npos) << forbidden;
  }
}

TEST(Gemm, KernelsAreShortAndLinesAreNot) {
  const test::GemmFixture gemm;
  const std::string source = EmitCuda(gemm.module, gemm.sources, Options()).source;
  const std::string kernel = source.substr(source.find("TK_KERNEL"), source.find("// One call of") - source.find("TK_KERNEL"));
  EXPECT_LE(std::count(kernel.begin(), kernel.end(), '\n'), 200);
  std::istringstream lines(source);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 132u) << line;
}

TEST(Gemm, EveryOperationHasItsLine) {
  const test::GemmFixture gemm;
  EmitOptions options = Options();
  options.line_directives = true;
  const std::string source = EmitCuda(gemm.module, gemm.sources, options).source;
  EXPECT_NE(source.find("#line 13 \"gemm.tk\"\n        tk::warpgroup::mma(acc, tk::rows<64>(a, w * 64), b);"), std::string::npos)
      << source;
  // After a role the lines are the generated file's again.
  const size_t back = source.find(" \"gemm.cu\"");
  const size_t number = std::stoul(source.substr(source.rfind("#line ", back) + 6));
  EXPECT_EQ(static_cast<size_t>(std::count(source.begin(), source.begin() + static_cast<long>(back), '\n')) + 2, number);
}

TEST(Gemm, TakesMillisecondsAndGrowsLinearly) {
  test::GemmFixture gemm;
  const auto milliseconds = [&] {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_FALSE(EmitCuda(gemm.module, gemm.sources, Options()).source.empty());
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  };
  EXPECT_LT(milliseconds(), 50);  // 0.3 in a release build
  ir::Region& body = gemm.module.kernels[0].workers[1].body;
  const ir::Op wait = body.back();
  for (int i = 0; i < 20000; ++i) body.push_back(wait);
  EXPECT_LT(milliseconds(), 2000);
}

TEST(Gemm, HostileNamesBecomeIdentifiers) {
  test::GemmFixture gemm;
  ir::Kernel& kernel = gemm.module.kernels[0];
  kernel.dims = {"major", "I", "__x"};
  const auto name = [](const char* n) { return symbolic::Name(n); };
  kernel.tensors[0].extents = {name("major"), name("I")};
  kernel.tensors[1].extents = {name("I"), name("__x")};
  kernel.tensors[2].extents = {name("major"), name("__x")};
  kernel.launch_lets[0].second = symbolic::Cdiv(name("major"), symbolic::Int(128));
  kernel.launch_lets[1].second = symbolic::Cdiv(name("__x"), symbolic::Int(256));
  kernel.tensors[0].name = "threadIdx";
  kernel.maps[0].tensor = "threadIdx";
  gemm.module.entries[0].name = kernel.entry = "exp";
  const Emitted emitted = EmitCuda(gemm.module, gemm.sources, Options());
  EXPECT_NE(emitted.source.find("extern \"C\" tk_status exp_(const tk_tensor* threadIdx_, "), std::string::npos) << emitted.source;
  EXPECT_NE(emitted.source.find("call.extent(\"B\", B, 0, \"I\", I_);"), std::string::npos);
  EXPECT_NE(emitted.source.find("n_u_ux_ = call.dimension(B, 1);"), std::string::npos);
}

TEST(Launcher, ChoosesTheFirstScheduleThatApplies) {
  test::GemmFixture gemm;
  ir::Kernel small = gemm.module.kernels[0];
  small.name = "gemm_small";
  small.schedule = "small";
  small.persistent = false;
  small.when = symbolic::Make(symbolic::Kind::kLe, DType::kBool, {symbolic::Name("tiles_wanted"), symbolic::Name("sms")});
  small.when = symbolic::Substitute(small.when, "tiles_wanted", symbolic::Cdiv(symbolic::Name("M"), symbolic::Int(128)));
  gemm.module.kernels.push_back(small);
  gemm.module.entries[0].alternatives = {{1}, {0}};
  const std::string source = EmitCuda(gemm.module, gemm.sources, Options()).source;
  EXPECT_NE(source.find("    const tk::index sms = call.processors();\n"
                        "    if (tk::cdiv<tk::index>(M, 128) <= sms) return 0;  // small\n"
                        "    return 1;  // large\n"),
            std::string::npos)
      << source;
  EXPECT_NE(source.find("case 0: launch_gemm_small(); break;"), std::string::npos);
  EXPECT_NE(source.find("call.launch<gemm_small>(int(tiles), 384,"), std::string::npos);
}

TEST(Launcher, RequirementsPresetsScratchAndScalars) {
  test::GemmFixture gemm;
  ir::Kernel& kernel = gemm.module.kernels[0];
  kernel.launch_requires = {symbolic::Make(
      symbolic::Kind::kEq, DType::kBool,
      {symbolic::Make(symbolic::Kind::kMod, DType::kI64, {symbolic::Name("K"), symbolic::Int(8)}), symbolic::Int(0)})};
  kernel.tensors[2].has_preset = true;
  ir::TensorParam work;
  work.name = "partial";
  work.extents = {symbolic::Name("M"), symbolic::Int(4)};
  work.is_work = true;
  kernel.tensors.push_back(work);
  kernel.scalars.push_back({"scale", DType::kF32, gemm.At("C: out")});
  const Emitted emitted = EmitCuda(gemm.module, gemm.sources, Options());
  EXPECT_NE(emitted.source.find("call.require(K % 8 == 0, \"K % 8 == 0\");"), std::string::npos) << emitted.source;
  EXPECT_NE(emitted.source.find("call.preset<tk::bf16>(C, tk::bf16(0.0f));"), std::string::npos);
  EXPECT_NE(emitted.source.find("const tk_tensor partial_work = call.work(TK_F32, {M, 4}), *partial = &partial_work;"),
            std::string::npos);
  EXPECT_NE(emitted.source.find("call.work_bytes(TK_F32, {M, 4}) + tk::host::packing_bytes(*A)"), std::string::npos);
  EXPECT_NE(emitted.header.find("const tk_tensor* C, float scale, void* workspace"), std::string::npos) << emitted.header;
}

}  // namespace
}  // namespace tkc::codegen

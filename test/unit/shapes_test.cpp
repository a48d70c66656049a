// SPDX-License-Identifier: MIT
// The shapes on which the matrices of tools/test --all run the examples come to every schedule set of every kernel, on each target.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "compiler/driver/case_work.h"
#include "compiler/driver/load.h"
#include "compiler/driver/shapes.h"
#include "compiler/sema/check.h"
#include "compiler/support/internal_error.h"

namespace tkc {
namespace {

constexpr int kShapes = 30;

/// Returns the number of kernels looked at.
size_t ExpectAllSetsReached(const std::string& path, const std::string& target) {
  SourceManager sources;
  Diagnostics diagnostics;
  Result<ast::Program> parsed = LoadProgram(path, {}, sources, diagnostics);
  EXPECT_TRUE(parsed) << path;
  if (!parsed) return 0;
  CheckOptions options;
  options.target = target;
  Result<typed::Program> program = Check(*parsed, options, diagnostics);
  EXPECT_TRUE(program) << path;
  if (!program) return 0;
  for (const typed::Entry& entry : program->entries) {
    const std::vector<CheckCase> cases = MakeCases(entry, kShapes, 1);
    EXPECT_EQ(cases.size(), size_t(kShapes)) << entry.name;
    std::set<std::string> reached;
    for (const CheckCase& c : cases) reached.insert(c.schedule);
    for (const typed::Kernel& kernel : entry.kernels)
      EXPECT_TRUE(reached.count(kernel.schedule)) << entry.name << ", set `" << kernel.schedule << "`, " << target;
  }
  return program->entries.size();
}

TEST(Shapes, ExamplesComeToEverySet) {
  size_t kernels = 0;
  for (const auto& folder : std::filesystem::directory_iterator(TKC_SOURCE_DIR "/examples")) {
    if (!folder.is_directory() || folder.path().filename() == "lib") continue;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      if (file.path().extension() != ".tk") continue;
      for (const char* name : {"sm_80", "sm_90a", "sm_120", "gfx942", "gfx950"})
        kernels += ExpectAllSetsReached(file.path().string(), name);
    }
  }
  EXPECT_GT(kernels, 100u) << "examples were not found";
}

/// The first kernel of a file.
typed::Entry EntryOf(const std::string& path) {
  SourceManager sources;
  Diagnostics diagnostics;
  Result<ast::Program> parsed = LoadProgram(TKC_SOURCE_DIR + path, {}, sources, diagnostics);
  Ensure(bool(parsed), path);
  Result<typed::Program> program = Check(*parsed, {}, diagnostics);
  Ensure(bool(program), path);
  return std::move(program->entries.front());
}

TEST(Shapes, FewCasesAreNotEmptyOnes) {
  const typed::Entry entry = EntryOf("/examples/gemm_pipe/gemm_pipe.tk");  // of three dimensions
  const std::vector<CheckCase> cases = MakeCases(entry, 3, 1);
  ASSERT_EQ(cases.size(), 3u);
  const auto is_empty = [](const CheckCase& c) { return std::ranges::count(c.dims, 0) > 0; };
  EXPECT_FALSE(is_empty(cases[0]));
  EXPECT_LE(std::ranges::count_if(cases, is_empty), 2);
  EXPECT_GE(std::ranges::count_if(MakeCases(entry, kShapes, 1), is_empty), 3);  // each of them once
}

TEST(Shapes, RequiredEquationsAreSolved) {
  EXPECT_EQ(MakeCases(EntryOf("/test/run/rows_of_flat_tensors.tk"), kShapes, 1).size(), size_t(kShapes));
}

TEST(Shapes, LoopsUpToALengthOfTheTensorsCountAsLong) {
  const typed::Entry entry = EntryOf("/test/driver/inputs/products_by_length.tk");
  for (const CheckCase& c : MakeCases(entry, kShapes, 1)) {
    interp::Launch launch;
    launch.kernel = &entry.kernels.front();
    launch.dims = c.dims;
    launch.scalars.resize(launch.kernel->params.size());
    const double keys = std::ceil(static_cast<double>(c.dims[1]) / 64), tiles = static_cast<double>(c.dims[0]);
    EXPECT_GE(WorkOf(launch).products, tiles * keys * 64 * 64 * 512);
  }
}

}  // namespace
}  // namespace tkc

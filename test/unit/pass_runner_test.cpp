// SPDX-License-Identifier: MIT
// A pass that breaks the IR is named, wherever the verifier finds it.
#include "compiler/driver/pass_runner.h"

#include <gtest/gtest.h>

#include "compiler/ir/parse.h"
#include "compiler/support/internal_error.h"

namespace tkc {
namespace {

constexpr const char* kKernel = R"(kernel k {
  dim M
  tensor A : in f32[M, 64]
  tensor C : out f32[M, 64]
  grid m = 0 to M by 64
  worker compute {
    %a = read A[m : 64, 0 : 64] : f32[64, 64]
    store C[m : 64, 0 : 64] = %a
  }
})";

Result<void> Keeps(ir::Kernel&, Diagnostics&) { return {}; }

/// No tile-level operation.
Result<void> Breaks(ir::Kernel& kernel, Diagnostics&) {
  kernel.workers[0].body.push_back({ir::OpCode::kSyncBlock});
  return {};
}

bool RunAll(std::span<const Pass> passes) {
  Diagnostics diagnostics;
  Result<ir::Module> module = ir::Parse(kKernel, 0, diagnostics);
  return RunPasses(passes, Options{}, module->kernels[0], *FindTarget("sm_90a"), diagnostics);
}

TEST(PassRunner, RunsThemAll) {
  constexpr Pass passes[] = {{"keeps", Keeps}, {"enters", Keeps, ir::Level::kTile}};
  EXPECT_TRUE(RunAll(passes));
}

TEST(PassRunner, NamesThePassThatBrokeTheIr) {
  constexpr Pass passes[] = {{"keeps", Keeps}, {"breaks", Breaks}, {"rests_on_it", Keeps}, {"enters", Keeps, ir::Level::kTile}};
  EXPECT_EXIT(RunAll(passes), testing::ExitedWithCode(kExitInternal), "in `breaks`");
}

}  // namespace
}  // namespace tkc

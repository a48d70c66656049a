// SPDX-License-Identifier: MIT
// What a block asks of the hardware together: one text edit, one finding.
#include <gtest/gtest.h>

#include "compiler/certify/budgets.h"
#include "compiler/ir/parse.h"

namespace tkc::certify {
namespace {

constexpr const char* kKernel = R"(kernel k {
  level schedule
  cluster 2
  threads 384
  shared p_slot : bf16[64, 64] x2 swizzle 128 offset 0
  shared stage : bf16[64, 64] instances 2 swizzle 128 offset 16384
  barrier p_full x2 arrivals 1
  shared_bytes 33024
  worker load role copy_thread registers 40 {
  }
  worker fetch role copy_warp first_warp 1 registers 40 {
  }
  worker compute x2 role compute first_warp 4 registers 232 {
  }
}
)";

std::string FoundIn(std::string text) {
  Diagnostics diagnostics;
  Result<ir::Module> module = ir::Parse(text, 0, diagnostics);
  if (!module) return "does not parse: " + diagnostics.All().at(0).headline;
  const std::optional<Finding> finding = CheckBudgets(module->kernels[0], *FindTarget("sm_90a"));
  return finding ? finding->headline : "";
}

TEST(Budgets, AreKept) { EXPECT_EQ(FoundIn(kKernel), ""); }

TEST(Budgets, AreExceeded) {
  struct Case {
    std::string from, to, headline;
  };
  const Case cases[] = {
      {"first_warp 4", "first_warp 0", "`compute` does not have warp 0 of 12 for itself"},
      {"first_warp 1", "first_warp 0", "`fetch` does not have warp 0 of 12 for itself"},
      {"threads 384", "threads 256", "`compute` does not have warp 8 of 8 for itself"},
      {"first_warp 1", "first_warp -1", "`fetch` does not have warp -1 of 12 for itself"},
      {"threads 384", "threads 512", "512 threads, and no role for warpgroup 3 of 128"},
      {"threads 384", "threads 416", "416 threads, and no role for warpgroup 3 of 128"},
      {"copy_warp first_warp 1 registers 40", "copy_warp first_warp 1 registers 48",
       "warps of one warpgroup ask for 40 and 48 registers"},
      {"copy_warp first_warp 1 registers 40", "copy_warp first_warp 1", "warps of one warpgroup ask for 40 and 0 registers"},
      {"registers 232", "registers 240",
       "the warpgroups of `k` ask for 520 registers a thread together; a block of 384 threads starts with 504 and would wait for "
       "ever"},
      {"offset 16384", "offset 8192", "`p_slot` and `stage` overlap in shared memory"},
  };
  for (const Case& c : cases) {
    std::string text = kKernel;
    const size_t at = text.find(c.from);
    ASSERT_NE(at, std::string::npos) << c.from;
    EXPECT_EQ(FoundIn(text.replace(at, c.from.size(), c.to)), c.headline);
  }
}

}  // namespace
}  // namespace tkc::certify

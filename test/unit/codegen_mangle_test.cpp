// SPDX-License-Identifier: MIT
#include "compiler/codegen/mangle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace tkc::codegen {
namespace {

TEST(Mangle, PlainNamesStay) {
  for (const char* name : {"A", "rows", "m_block", "x1", "gamma", "log", "index"}) EXPECT_EQ(Mangle(name), name);
}

TEST(Mangle, ReservedWordsGetAnUnderscore) {
  for (const char* name : {"int",       "class",     "co_await", "major",        "minor",     "I",       "unix",        "linux",
                           "threadIdx", "warpSize",  "NULL",     "EOF",          "tk",        "shared",  "workspace",   "stream",
                           "call",      "check",     "M_PI",     "CUDA_VERSION", "TK_DEVICE", "INT_MAX", "launch_gemm", "main",
                           "std",       "tk_tensor", "size_t",   "hipStream_t"}) {
    EXPECT_EQ(Mangle(name), std::string(name) + "_") << name;
  }
}

TEST(Mangle, OddUnderscoresAreSpelled) {
  EXPECT_EQ(Mangle("a__b"), "na_u_ub_");
  EXPECT_EQ(Mangle("_x"), "n_ux_");
  EXPECT_EQ(Mangle("int_"), "nint_u_");
  EXPECT_EQ(Mangle("__global__"), "n_u_uglobal_u_u_");
}

TEST(Mangle, EntriesLeaveTheLibraryAlone) {
  EXPECT_EQ(MangleEntry("exp"), "exp_");
  EXPECT_EQ(MangleEntry("gemm"), "gemm");
  EXPECT_EQ(MangleEntry("main"), "main_");
  for (const char* name : {"random", "read", "FILE", "cudaMalloc", "cuInit", "hipFree", "div_t", "pthread_self", "make_float4"})
    EXPECT_EQ(MangleEntry(name), std::string(name) + "_");
  for (const char* name : {"cu", "cubic", "cue", "tanh_grad", "softmax"}) EXPECT_EQ(MangleEntry(name), name);
  EXPECT_EQ(Mangle("exp"), "exp");
}

TEST(Mangle, IsInjective) {
  // All words of up to five letters over an alphabet that meets every rule, and hostile ones.
  std::vector<std::string> names = {"int", "int_",   "int__",  "nint_", "nint_u_", "_int", "I",  "I_",
                                    "not", "not_eq", "_ot_eq", "n",     "n_",      "tk",   "tk_"};
  const std::string alphabet = "nIu_x1";
  std::vector<std::string> last = {""};
  for (int length = 0; length < 5; ++length) {
    std::vector<std::string> next;
    for (const std::string& word : last) {
      for (const char c : alphabet) next.push_back(word + c);
    }
    names.insert(names.end(), next.begin(), next.end());
    last = std::move(next);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::set<std::string> seen;
  for (const std::string& name : names) {
    const std::string mangled = Mangle(name);
    EXPECT_TRUE(seen.insert(mangled).second) << name << " and another name are both " << mangled;
    EXPECT_EQ(mangled.find("__"), std::string::npos) << mangled;
    EXPECT_FALSE(IsReserved(mangled)) << mangled;
  }
}

TEST(Mangle, TheListsAreSorted) {
  const std::vector<std::string> reserved = {
#include "compiler/codegen/reserved_words.inc"
  };
  const std::vector<std::string> functions = {
#include "compiler/codegen/library_functions.inc"
  };
  EXPECT_TRUE(std::is_sorted(reserved.begin(), reserved.end()));
  EXPECT_TRUE(std::is_sorted(functions.begin(), functions.end()));
}

}  // namespace
}  // namespace tkc::codegen

// SPDX-License-Identifier: MIT
// The IR's text reads back as itself, covers every field, and faults name what stands there.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <random>

#include "compiler/ir/parse.h"
#include "compiler/ir/print.h"

namespace tkc::ir {
namespace {

std::string RoundTrip(const std::string& text) {
  Diagnostics diagnostics;
  const Result<Module> module = Parse(text, 0, diagnostics);
  if (module) return Print(*module);
  const Diagnostic& fault = diagnostics.All().at(0);
  return fmt::format("{} at `{}`", fault.headline, text.substr(fault.span.begin, 30));
}

std::string ErrorOf(const std::string& text) {
  Diagnostics diagnostics;
  EXPECT_FALSE(Parse(text, 0, diagnostics));
  EXPECT_EQ(diagnostics.ErrorCount(), 1u);
  return diagnostics.All().empty() ? "" : diagnostics.All()[0].headline;
}

constexpr const char* kTile = R"(entry gemm = [0]

kernel gemm_kernel {
  entry gemm
  target sm_90a
  parameter BM = 128
  parameter W = 2
  dim M
  dim N
  dim K
  tensor A : in bf16[M, K]
  tensor B : in bf16[K, N]
  tensor C : out bf16[M, N] preset f64(0.0)
  work partial : inout f32[cdiv(M, 128), N]
  scalar alpha : f32
  scalar causal : bool
  require K % 8 == 0
  when M >= 128 and sms > 100
  grid m = 0 to M by 128
  grid z = 0 to 4 step 1
  lets {
    let lo = max(m - 64, 0)
    let count = 0 mutable
    let count = count + 1 again
  }
  persistent
  order grouped
  group 4
  cluster 2
  split 3
  depth 2
  pipe ab (a: bf16[128, 64], b: bf16[64, 256]) slots 4 senders 1 receivers 2
  pipe xs (f32[64, 1]) rings 2 per compute
  worker load {
    for k = 0 to K step 64 {
      %a = read A[m : 128, k : 64] : bf16[128, 64]
      %b = read B[k : 64 in lo .. K, m] fill -inf : bf16[64, 1]
      %c = read B[k : 64 in .. K, m] fill 0.0 as transposed : bf16[1, 64]
      send ab %a, %b
      send ab %b field 1 at 0, 64
      send xs %b at 0, 0 ring 1
    }
  }
  worker compute x2 as w in_turn {
    %zero = fill 0.0 : f32[64, 256]
    %acc = var %zero : f32[64, 256]
    if causal and m < K {
      assign %acc = %zero
    } else {
      if w == 0 {}
      assign_part %acc at 0, 128 = %zero
    }
    %x, %y = receive ab : bf16[128, 64], bf16[64, 256]
    %x_1 = part %x at w * 64, 0 : bf16[64, 64]
    accumulate %acc, %x_1, %y
    accumulate %acc, %x_1, %y negated
    %p = matmul %x_1, %y : f32[64, 256]
    %e = unary exp %p : f32[64, 256]
    %s = binary mul %e, (alpha * 2.0) : f32[64, 256]
    %d = binary sub (1.5), %s : f32[64, 256]
    %q = binary add %s, %d : f32[64, 256]
    %m = binary gt %q, %d : bool[64, 256]
    %sel = select %m, %q, (-inf) : f32[64, 256]
    %sel_1 = select %m, (0.0), %q : f32[64, 256]
    %h = convert %sel : bf16[64, 256]
    %r = reduce max rows %q : f32[64, 1]
    %cs = cumsum cols %q : f32[64, 256]
    %t = transpose %h : bf16[256, 64]
    %pos = positions rows from m + w * 64 : i32[64, 1]
    %two = cat %h, %h : bf16[64, 512]
    %cut = reshape %two : bf16[256, 128]
    store C[m + w * 64 : 64, 0 : 256] = %acc
    store C[m : 64, 0 : 256] = %acc by add
  }
}
)";

constexpr const char* kSchedule = R"(kernel gemm_kernel {
  dim M
  tensor A : in bf16[M, K]
  level schedule
  threads 384
  resident 2
  launch_registers 80
  launch m_blocks = cdiv(M, 128)
  tiles m_blocks * 4
  shared ab_a : bf16[128, 64] x4 swizzle 128 offset 0 "pipe ab, field \"a\""
  shared stage : bf16[64, 64] x2 instances 2 swizzle 128 offset 65536
  shared sums : f32[4, 256] offset 98304 scratch "one partial"
  shared q_stage : bf16[64, 64] offset 98304 shares_room stages Q "staging of Q"
  barrier ab_full x4 arrivals 1 "a slot of ab has been filled"
  barrier done arrivals 8
  map A_map : A box [128, 64] swizzle 128
  map C_map : C box [1, 64, 64] swizzle 64 store
  shared_bytes 99328
  worker load role copy_thread registers 40 {
    ring ab slots 4
    for_tiles tile = @block_index.i64() to tiles step @block_count.i64() {
      tile_position "m n" of tile in m_blocks, 4 group 8
      wait_empty ab_empty[ab]
      expect ab_full[ab] bytes 49152
      %a = view ab_a[ab] : smem bf16[128, 64]
      load_async %a = A_map at tile * 128, 0 on ab_full[ab]
      load_rows %a = A_map at tile * 128, 0, M - tile * 128 on ab_full[ab]
      load_multicast %a = A_map at tile * 128, 0, 3 on ab_full[ab]
      load_rows_multicast %a = A_map at tile * 128, 0, M - tile * 128, 3 on ab_full[ab]
      advance ab
      advance ab by 2
    }
  }
  worker compute x2 as w role compute first_warp 4 registers 232 {
    %acc = var : reg f32[64, 256]
    %v = view ab_a[ab] : smem bf16[128, 64]
    %vt = transpose %v : smem transposed bf16[64, 128]
    wait_full ab_full[ab]
    mma_fence
    mma_fence %acc
    mma %acc, %v, %vt set
    mma_commit
    mma_wait 1
    mma_wait 0 %acc
    arrive ab_full[ab.previous] by warp
    arrive done by cluster
    if_elected warp {
      arrive done by thread
    }
    unroll c times 4 {
      %chunk = part %acc at 0, c * 64 : reg f32[64, 64]
      %stage = view stage index c % 2, w : smem bf16[64, 64]
      wait_stores read 1
      sync_role warpgroup instance w
      store_shared %stage = %chunk
      fence_async
      if C_map_usable {
        store_async C_map at 0, c * 64 = %stage
        commit_stores
      }
    }
    %l = load_shared %v : reg bf16[128, 64]
    copy_to_shared %v = A[0 : 128, 0 : 64] fill 0.0 by warp
    copy_to_shared %v = A[0 : 128, 0 : 64] by warpgroup
    copy_to_global A[0 : 128, 0 : 64] = %v
    %s = reduce add cols %acc scratch sums : reg f32[1, 256]
    named_sync w + 2 threads 256
    named_arrive 3 threads 256
    cluster_sync
    comment "the last tile // of all"
    split_send sums[w] = %acc ways 2
    split_wait sums_full[w]
    store_cluster %v = %acc on sums_ready[w] blocks 2
    %half = split_collect sums = %acc ways 2 : reg f32[128, 128]
    sync_role warp
    wait_stores done 0
  }
  worker rows role compute layout [8, 8, 1, 4, 4] {
  }
}
)";

TEST(IrText, TileLevelReadsBack) { EXPECT_EQ(RoundTrip(kTile), kTile); }
TEST(IrText, ScheduleLevelReadsBack) { EXPECT_EQ(RoundTrip(kSchedule), kSchedule); }

TEST(IrText, WhatNoPatternMentionsIsStillWritten) {
  const std::string text = R"(kernel k {
  worker w {
    %a = fill 1.0 !number 6 : mutable reg f32[1, 1]
    %b = var %a : fixed reg f32[1, 1]
    cluster_sync !symbol "x y" !slot "s" !scalars 1, m + 2
    raw for !symbol "i" !number 3 !scalars 1
    raw binary !slot "sideways" !number 3 !operands %a, %b
    raw load_async !symbol "A_map" !number 99 !operands %a !scalars 1, 2
    matmul %a, %b !axes [m : 3, k, j : 4 dropped]
    send ab {
      mma_fence
    }
    for i = 0 to 2 step 1 {}
  }
}
)";
  EXPECT_EQ(RoundTrip(text), text);
}

TEST(IrText, TypesOfScalarsComeFromDeclarations) {
  Diagnostics diagnostics;
  const Result<Module> module = Parse(kTile, 0, diagnostics);
  ASSERT_TRUE(module);
  const Op& s = module->kernels[0].workers[1].body.at(9);
  ASSERT_EQ(s.code, OpCode::kBinary);
  EXPECT_EQ(s.scalars[0]->dtype, DType::kF32);
}

TEST(IrText, Errors) {
  EXPECT_EQ(ErrorOf("kernel k { worker w { fil 1.0 } }"), "expected an operation, found `fil`");
  EXPECT_EQ(ErrorOf("kernel k { worker w { %a = convert %b : f32[1, 1] } }"), "`%b` is used before it is defined");
  EXPECT_EQ(ErrorOf("kernel k { worker w { %a = fill 1.0 : f32[1, 1]\n%a = fill 1.0 : f32[1, 1] } }"), "`%a` is defined twice");
  EXPECT_EQ(ErrorOf("kernel k { worker w { %a = fill 1.0 : f31[1, 1] } }"), "expected an element type, found `f31`");
  EXPECT_EQ(ErrorOf("kernel k { worker w { mma_fence mma_commit } }"), "expected the end of the line, found `mma_commit`");
  EXPECT_EQ(ErrorOf("kernel k { shared s : f32[1, 1] swizzle 48 }"), "swizzle `48`; there are 0, 32, 64, 128 and t128");
  EXPECT_EQ(ErrorOf("kernel k { wrker w {} }"), "expected a declaration of the kernel, found `wrker`");
  EXPECT_EQ(ErrorOf("kernel k { worker w { %a = unary expp %b : f32[1, 1] } }").substr(0, 30), "expected one of `none`, `neg`,");
  EXPECT_EQ(ErrorOf("kernel k {"), "expected a declaration of the kernel, found the end of the text");
  EXPECT_EQ(ErrorOf("entry e = [1]"), "entry `e` names kernel 1; the text has 0");
  std::string deep = "kernel k { worker w ";
  for (int i = 0; i < 300; ++i) deep += "{ if true ";
  EXPECT_EQ(ErrorOf(deep), "expected at most 200 nested regions, found `{`");
}

/// Whatever bytes come: an error or a module, never a crash.
TEST(IrText, SurvivesDamage) {
  std::mt19937 random(7);
  for (int i = 0; i < 3000; ++i) {
    std::string text = i % 2 ? kTile : kSchedule;
    for (int j = 0; j < 3; ++j) {
      const size_t at = random() % text.size();
      switch (random() % 3) {
        case 0: text.erase(at, random() % 20); break;
        case 1: text[at] = static_cast<char>(random() % 128); break;
        default: text.insert(at, text.substr(random() % text.size(), random() % 20)); break;
      }
    }
    Diagnostics diagnostics;
    if (const Result<Module> module = Parse(text, 0, diagnostics)) {
      const std::string printed = Print(*module);
      EXPECT_EQ(RoundTrip(printed), printed);
    } else {
      EXPECT_EQ(diagnostics.ErrorCount(), 1u);
    }
  }
}

TEST(IrText, ValuesGetUniqueNames) {
  Kernel kernel;
  kernel.AddValue("a", {});
  kernel.AddValue("a_1", {});
  kernel.AddValue("a", {});
  kernel.AddValue("", {});
  EXPECT_EQ(kernel.values[2].name, "a_2");
  EXPECT_EQ(kernel.values[3].name, "value");
}

}  // namespace
}  // namespace tkc::ir

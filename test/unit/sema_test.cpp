// SPDX-License-Identifier: MIT
// The checker on whole kernels: what is accepted, and the typed tree that comes out. What is refused is in test/sema.
#include "compiler/sema/check.h"

#include <gtest/gtest.h>

#include <ctime>
#include <string>

#include "compiler/support/render.h"
#include "compiler/support/source_manager.h"
#include "compiler/syntax/parser.h"

namespace tkc {
namespace {

using typed::StmtKind;

struct Checked {
  bool ok = false;
  typed::Program program;
  std::string messages;

  const typed::Kernel& kernel(size_t i = 0) const { return program.entries.at(0).kernels.at(i); }
  const typed::Section& section() const { return kernel().sections.at(0); }
  const typed::Worker& worker(size_t i) const { return section().workers.at(i); }
};

Checked CheckText(const std::string& text, const std::vector<std::pair<std::string, std::string>>& defines = {}) {
  SourceManager sources;
  Diagnostics diagnostics;
  ast::Program program;
  program.files.push_back(ParseFile(sources, sources.Add("test.tk", text), diagnostics));
  CheckOptions options;
  for (const auto& [name, value] : defines) {
    Result<ast::ExprPtr> parsed = ParseExpression(sources, sources.Add("-D", value), 0, diagnostics);
    if (parsed) options.defines.push_back({name, parsed.Take(), kNoSpan});
  }
  Checked checked;
  if (!diagnostics.HasErrors()) {
    Result<typed::Program> result = Check(program, options, diagnostics);
    checked.ok = static_cast<bool>(result);
    if (result) checked.program = result.Take();
  }
  checked.messages = RenderText(diagnostics, sources);
  return checked;
}

#define EXPECT_ACCEPTED(checked) EXPECT_TRUE((checked).ok) << (checked).messages

const char* const kGemm = R"(
kernel gemm<BM = 128, BN = 256, BK = 64, W = 2>(A: bf16[M, K], B: bf16[K, N], C: out bf16[M, N]) {
    grid m in M by BM, n in N by BN
    pipe ab: (bf16[BM, BK], bf16[BK, BN])
    worker load { for k in K by BK { ab <- (A[m, k], B[k, n]) } }
    worker compute[W] as w {
        var acc: f32[BM / W, BN] = 0
        for k in K by BK {
            let (a, b) = <-ab
            acc += a.rows(w) @ b
        }
        C[m, n].rows(w) <- acc
    }
}
)";

TEST(Sema, GemmBecomesATreeOfStaticShapes) {
  const Checked checked = CheckText(kGemm);
  ASSERT_TRUE(checked.ok) << checked.messages;
  ASSERT_EQ(checked.kernel().dims.size(), 3u);
  const typed::Worker& compute = checked.worker(1);
  ASSERT_EQ(compute.body.size(), 3u);
  EXPECT_EQ(compute.body[0]->kind, StmtKind::kLet);
  const typed::Stmt& loop = *compute.body[1];
  ASSERT_EQ(loop.kind, StmtKind::kFor);
  EXPECT_EQ(loop.step, 64);
  EXPECT_TRUE(loop.is_block_loop);
  ASSERT_EQ(loop.body.size(), 2u);
  EXPECT_EQ(loop.body[0]->kind, StmtKind::kReceive);
  EXPECT_EQ(checked.kernel().vars[loop.body[0]->received.at(0)].name, "a");
  const typed::Expr& sum = *loop.body[1]->expr;
  EXPECT_EQ(sum.op, typed::Op::kAdd);
  EXPECT_EQ(sum.args[1]->kind, typed::ExprKind::kMatMul);
  EXPECT_EQ(sum.args[1]->type, typed::Type::Tile(DType::kF32, 64, 256));
  const typed::Stmt& store = *compute.body[2];
  ASSERT_EQ(store.kind, StmtKind::kStore);
  EXPECT_EQ(store.axes[0].extent, 64);
  EXPECT_EQ(store.axes[0].lo, nullptr) << "a block of the whole axis is bounded by the tensor";
  EXPECT_EQ(store.expr->kind, typed::ExprKind::kConvert);
  EXPECT_EQ(checked.section().pipes[0].least_slots, 1);
}

TEST(Sema, DefinesBeatSchedulesBeatDefaults) {
  const std::string text = std::string(kGemm) + "schedule small of gemm when M <= 64 { BM = 64; BN = 64; slots ab = 6 }\n";
  const Checked plain = CheckText(text);
  ASSERT_TRUE(plain.ok) << plain.messages;
  ASSERT_EQ(plain.program.entries[0].kernels.size(), 2u) << "the set, then the defaults";
  EXPECT_EQ(plain.kernel(0).schedule, "small");
  EXPECT_EQ(plain.kernel(0).bindings[0].number, 64);
  EXPECT_EQ(plain.kernel(0).sections[0].pipes[0].slots, 6);
  EXPECT_NE(plain.kernel(0).when, nullptr);
  EXPECT_EQ(plain.kernel(1).bindings[0].number, 128);
  const Checked defined = CheckText(text, {{"BM", "192"}, {"W", "3"}, {"BN", "64 + 64"}});
  ASSERT_TRUE(defined.ok) << defined.messages;
  EXPECT_EQ(defined.kernel(0).bindings[0].number, 192);
  EXPECT_EQ(defined.kernel(1).bindings[1].number, 128);
}

TEST(Sema, InstancesNameEntries) {
  const Checked checked = CheckText(R"(
kernel scale<D, last>(X: f32[M, D], Y: out f32[M, D]) {
    grid m in M by 64
    worker w { Y[m] <- if last { X[m] } else { 2 * X[m] } }
}
instance scale<D = 64, last = true>
instance scale<D = 128, last = false>
)");
  ASSERT_TRUE(checked.ok) << checked.messages;
  EXPECT_EQ(checked.program.entries[0].name, "scale_64_last");
  EXPECT_EQ(checked.program.entries[1].name, "scale_128");
}

TEST(Sema, ReceivesAreHoistedFromLeftToRight) {
  const Checked checked = CheckText(R"(
kernel k(X: f32[M, N], Y: out f32[M, N]) {
    grid m in M by 64, n in N by 64
    pipe p: f32[64, 64]
    pipe q[3]: f32[64, 64]
    worker load { q <- X[m, n]; p <- X[m, n]; p <- 2 * X[m, n] }
    worker store { Y[m, n] <- (<-p) * (<-q) - (<-p) }
}
)");
  ASSERT_TRUE(checked.ok) << checked.messages;
  const typed::Block& body = checked.worker(1).body;
  ASSERT_EQ(body.size(), 4u);
  EXPECT_EQ(body[0]->pipe, 0);
  EXPECT_EQ(body[1]->pipe, 1);
  EXPECT_EQ(body[2]->pipe, 0);
  EXPECT_EQ(checked.section().pipes[0].least_slots, 2) << "the first slot of p is held at the second receive";
}

TEST(Sema, StaticLoopsOverPartsAreUnrolled) {
  const Checked checked = CheckText(R"(
kernel k(X: f32[M, 256], Y: out f32[M, 64]) {
    grid m in M by 64
    worker w {
        let x = X[m]
        var s: f32[64, 64] = 0
        for u in 4 { s += x.cols(u) }
        for u in 2 { s.rows(u) += 1 }
        Y[m] <- s
    }
}
)");
  ASSERT_TRUE(checked.ok) << checked.messages;
  const typed::Block& body = checked.worker(0).body;
  ASSERT_EQ(body.size(), 9u);
  EXPECT_EQ(body[3]->kind, StmtKind::kAssign);
  EXPECT_EQ(body[7]->kind, StmtKind::kAssignPart);
  EXPECT_EQ(body[7]->row->int_value, 32);
}

TEST(Sema, BlocksOfAPartOfAnAxisKeepTheirBounds) {
  const std::string text = R"(
kernel k(X: f32[M, N], Y: out f32[M, N], from: i32) {
    grid m in M by 64
    worker w {
        for g in N by 256 { for n in g by BLOCK { Y[m, n] <- X[m, n] } }
    }
    worker v { }
}
)";
  for (const auto& [block, ends_with_axis] : {std::pair{"96", false}, std::pair{"64", true}}) {  // 64 divides 256: none reaches out
    std::string with_block = text;
    with_block.replace(with_block.find("BLOCK"), 5, block);
    const Checked checked = CheckText(with_block);
    ASSERT_TRUE(checked.ok) << checked.messages;
    const typed::Stmt& store = *checked.worker(0).body[0]->body.back()->body[0];
    ASSERT_EQ(store.kind, StmtKind::kStore);
    EXPECT_EQ(store.axes[0].hi, nullptr);
    EXPECT_EQ(store.axes[1].hi == nullptr, ends_with_axis);
  }
}

TEST(Sema, MasksAndFillsMakeReductionsRight) {
  EXPECT_ACCEPTED(CheckText(R"(
fn masked(s: f32[R, C], keep: bool[1, C]) -> f32[R, C] { where(keep, s, -inf) }
kernel attention<D = 64, BQ = 64, BK = 128, causal = true>(Q: bf16[H, N, D], K: bf16[H, S, D], V: bf16[H, S, D], O: out bf16[H, N, D], scale: f32) {
    grid h in H, i in N by BQ
    let end = if causal { min(S, i.end + (S - N)) } else { S }
    pipe q: bf16[BQ, D]
    pipe kv: (bf16[BK, D], bf16[BK, D])
    worker load {
        q <- Q[h, i]
        for j in end by BK { kv <- (K[h, j], V[h, j]) }
    }
    worker compute[1] as w {
        let qw = (<-q).rows(w)
        var o: f32[BQ, D] = 0
        var m: f32[BQ, 1] = -inf
        var l: f32[BQ, 1] = 0
        for j in end by BK {
            let (k, v) = <-kv
            let keep = valid(j).T and (not causal or pos(j).T <= pos(i).rows(w) + (S - N))
            let s = where(keep, qw @ k.T * (scale * log2e), -inf)
            let top = max(m, rowmax(s))
            let p = exp2(s - top)
            let a = exp2(m - top)
            l = l * a + rowsum(p)
            o = o * a + bf16(p) @ v
            m = top
        }
        O[h, i].rows(w) <- o / where(l > 0, l, 1)
    }
}
)"));
}

TEST(Sema, AMaskOfAnotherAxisDoesNotHelp) {
  const Checked checked = CheckText(R"(
kernel k(X: f32[M, N], Z: f32[M, K], Y: out f32[M]) {
    grid m in M by 64
    worker w {
        var t: f32[64, 1] = 0
        for n in N by 64 { for k in K by 64 { t += rowsum(where(valid(k).T, exp(X[m, n]), 0)) } }
        Y[m] <- t
    }
}
)");
  EXPECT_FALSE(checked.ok);
  EXPECT_NE(checked.messages.find("fill-not-neutral"), std::string::npos) << checked.messages;
}

TEST(Sema, AnAxisThatDividesHasNoMissingElements) {
  EXPECT_ACCEPTED(CheckText(R"(
kernel k(X: f32[M, 512], Z: f32[M, 128 * B], P: f32[B], Y: out f32[M], Q: out f32[M]) {
    grid m in M by 64
    worker w {
        var t: f32[64, 1] = -inf
        for n in 512 by 128 { t = max(t, rowmax(X[m, n])) }
        for n in 128 * B by 64 { t = max(t, rowmax(Z[m, n])) }
        Y[m] <- t
        Q[m] <- rowmax(X[m])
    }
}
)"));
}

TEST(Sema, APreviousBlockIsNotTheCurrentOne) {
  const char* const text = R"(
kernel k(X: f32[M, N], Y: out f32[M]) {
    grid m in M by 64
    worker w {
        var before: f32[64, 64] = 0
        var t: f32[64, 1] = 0
        for n in N by 64 {
            t += rowsum(where(valid(n%).T, before, 0))
            before = exp(X[m, n])
        }
        Y[m] <- t
    }
}
)";
  std::string shifted = text, same = text;
  shifted.replace(shifted.find('%'), 1, " - 1");
  same.replace(same.find('%'), 1, "");
  EXPECT_ACCEPTED(CheckText(shifted));
  EXPECT_FALSE(CheckText(same).ok);
}

TEST(Sema, StoresOfPartsTransposesAndBatches) {
  EXPECT_ACCEPTED(CheckText(R"(
kernel k<W = 2>(X: f32[B, M, N], Y: out f32[B, N, M], s: out f32[B, M] = 0, c: f32[B]) {
    grid b in B, m in M by 64, n in N by 64
    worker w[W] as i {
        let x = X[b, m, n].rows(i)
        Y[b, n, m].T.rows(i) <- x * c[b]
        s[b, m].rows(i) += rowsum(x)
    }
}
)"));
}

TEST(Sema, ValuesCarriedRoundALoopHoldASlot) {
  const Checked checked = CheckText(R"(
kernel k(X: f32[M, N], Y: out f32[M, N]) {
    grid m in M by 64
    pipe p: f32[64, 64]
    worker load {
        p <- X[m, -64 :+ 64]
        for n in N by 64 { p <- X[m, n] }
    }
    worker diff {
        var before = <-p
        for n in N by 64 {
            let now = <-p
            Y[m, n] <- now - before
            before = now
        }
    }
}
)");
  ASSERT_TRUE(checked.ok) << checked.messages;
  EXPECT_EQ(checked.section().pipes[0].least_slots, 2);
}

TEST(Sema, FiveThousandStatementsTakeLessThanASecond) {
  std::string text = "kernel k(X: f32[M, N], Y: out f32[M, N]) {\n grid m in M by 64\n pipe p: f32[64, 64]\n worker load {\n";
  for (int i = 0; i < 1250; ++i) text += "for n in N by 64 { p <- X[m, n] }\n";
  text += "}\n worker w {\n var t: f32[64, 64] = 0\n";
  for (int i = 0; i < 1250; ++i) text += "for n in N by 64 { t += <-p }\n";
  text += "for n in N by 64 { Y[m, n] <- t }\n }\n}\n";
  const std::clock_t start = std::clock();
  EXPECT_ACCEPTED(CheckText(text));
  EXPECT_LT((std::clock() - start) / CLOCKS_PER_SEC, 10) << "well below one in a release build; sanitizers are slower";
}

}  // namespace
}  // namespace tkc

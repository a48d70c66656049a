// SPDX-License-Identifier: MIT
// Workers and pipes: the whole GEMM, parts, broadcast, rings per worker, turns, deadlocks and pipes left filled.
#include <gtest/gtest.h>

#include <chrono>

#include "test/unit/interp_build.h"

namespace tkc::interp {
namespace {

using namespace build;
using Reals = std::vector<double>;

const Type kColumn = Type::Tile(DType::kF32, 2, 1);

/// A product: load sends (A[m, k], B[k, n]); compute[W] accumulates its rows.
struct Gemm : KernelBuilder {
  DimId m_dim = AddDim("M"), n_dim = AddDim("N"), k_dim = AddDim("K");
  ParamId a = AddTensor("A", DType::kBF16, {m_dim, k_dim}), b = AddTensor("B", DType::kBF16, {k_dim, n_dim});
  ParamId c = AddTensor("C", DType::kF32, {m_dim, n_dim}, TensorMode::kOut);
  VarId m = AddVar("m"), n = AddVar("n"), k = AddVar("k"), w = AddVar("w", Type::Scalar(DType::kI64), VarKind::kInstance);

  Gemm(int64_t bm, int64_t bn, int64_t bk, int64_t workers, int64_t slots, bool in_turn = false) {
    const Type a_tile = Type::Tile(DType::kBF16, bm, bk), b_tile = Type::Tile(DType::kBF16, bk, bn);
    const int64_t rows = in_turn ? bm : bm / workers;
    const Type acc_tile = Type::Tile(DType::kF32, rows, bn);
    const VarId ta = AddVar("a", a_tile, VarKind::kReceived), tb = AddVar("b", b_tile, VarKind::kReceived);
    const VarId acc = AddVar("acc", acc_tile, VarKind::kMutable);
    Section& section = AddSection();
    AddAxis(section, m, Int(0), DimOf(m_dim), bm);
    AddAxis(section, n, Int(0), DimOf(n_dim), bn);
    const PipeId ab = AddPipe(section, "ab", {{"", DType::kBF16, bm, bk}, {"", DType::kBF16, bk, bn}}, slots);
    StmtPtr send = Send(ab, Read(a, a_tile, AxesOf(Range(VarOf(m), bm), Range(VarOf(k), bk))),
                        Read(b, b_tile, AxesOf(Range(VarOf(k), bk), Range(VarOf(n), bn))));
    AddWorker(section, "load", BlockOf(For(k, Int(0), DimOf(k_dim), bk, BlockOf(std::move(send)))));
    const auto first_row = [&]() -> ExprPtr { return in_turn ? Int(0) : IntBinary(Op::kMul, VarOf(w), Int(rows)); };
    ExprPtr product = Product(PartOf(VarOf(ta, a_tile), first_row(), Int(0), rows, bk), VarOf(tb, b_tile));
    Worker& compute = AddWorker(
        section, "compute",
        BlockOf(
            Let(acc, Splat(Float(0), acc_tile)),
            For(k, Int(0), DimOf(k_dim), bk,
                BlockOf(Receive(ab, {ta, tb}), Assign(acc, Binary(Op::kAdd, VarOf(acc, acc_tile), std::move(product), acc_tile)))),
            Store(c, AxesOf(Range(IntBinary(Op::kAdd, VarOf(m), first_row()), rows), Range(VarOf(n), bn)), VarOf(acc, acc_tile))),
        workers, w);
    compute.in_turn = in_turn;
  }

  static Arguments Args(int64_t m, int64_t n, int64_t k) {
    Reals a, b;
    for (int64_t i = 0; i < m * k; ++i) a.push_back(static_cast<double>(i * 7 % 17 - 8));
    for (int64_t i = 0; i < k * n; ++i) b.push_back(static_cast<double>(i * 5 % 13 - 6));
    Arguments arguments;
    arguments.tensors["A"] = TensorOf(DType::kBF16, {m, k}, a);
    arguments.tensors["B"] = TensorOf(DType::kBF16, {k, n}, b);
    arguments.tensors["C"] = TensorOf(DType::kF32, {m, n}, Reals(static_cast<size_t>(m * n), -1));
    return arguments;
  }
};

void CheckGemm(const Kernel& kernel, int64_t m, int64_t n, int64_t k) {
  Arguments arguments = Gemm::Args(m, n, k);
  Diagnostics diagnostics;
  ASSERT_TRUE(Interpret(kernel, arguments, diagnostics)) << diagnostics.All().front().headline;
  const Reals a = arguments.tensors["A"].ToReals(), b = arguments.tensors["B"].ToReals(), c = arguments.tensors["C"].ToReals();
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < k; ++l) sum += a[static_cast<size_t>(i * k + l)] * b[static_cast<size_t>(l * n + j)];
      ASSERT_EQ(c[static_cast<size_t>(i * n + j)], sum) << i << ", " << j;
    }
  }
}

TEST(InterpPipe, GemmWithEdgesAndBroadcast) {
  for (const int64_t slots : {0, 1, 4}) {
    Gemm gemm(8, 4, 4, 2, slots);
    CheckGemm(gemm.kernel, 16, 8, 12);
    CheckGemm(gemm.kernel, 13, 5, 7);
    CheckGemm(gemm.kernel, 1, 1, 1);
    CheckGemm(gemm.kernel, 8, 4, 0);  // zeros are stored
    CheckGemm(gemm.kernel, 0, 4, 4);
  }
}

TEST(InterpPipe, WorkersInTurnMeanOneWorker) {
  Gemm gemm(8, 4, 4, 2, 2, true);
  CheckGemm(gemm.kernel, 20, 9, 11);
}

TEST(InterpPipe, GemmOf256IsFast) {
  Gemm gemm(64, 64, 32, 2, 2);
  const auto start = std::chrono::steady_clock::now();
  CheckGemm(gemm.kernel, 256, 256, 256);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  RecordProperty("milliseconds", static_cast<int>(seconds.count() * 1000));
  EXPECT_LT(seconds.count(), 20.0);  // far below 2 s in a release build; generous for sanitizers
}

/// A frame for small networks: X[N], Y[N] of f32, loop variable i, received variables, workers added by the test.
struct Network : KernelBuilder {
  DimId n = AddDim("N");
  ParamId x = AddTensor("X", DType::kF32, {n}), y = AddTensor("Y", DType::kF32, {n}, TensorMode::kOut);
  VarId i = AddVar("i"), w = AddVar("w", Type::Scalar(DType::kI64), VarKind::kInstance);
  VarId got = AddVar("got", kColumn, VarKind::kReceived), other = AddVar("other", kColumn, VarKind::kReceived);
  Section& section = AddSection();

  ExprPtr X(ExprPtr start, int64_t count = 2) {
    return Read(x, Type::Tile(DType::kF32, count, 1), AxesOf(Range(std::move(start), count)));
  }
  StmtPtr StoreGot(ExprPtr start) { return Store(y, AxesOf(Range(std::move(start), 2)), VarOf(got, kColumn)); }
  StmtPtr Rounds(Block body, int64_t count = 4) { return For(i, Int(0), Int(count * 2), 2, std::move(body)); }

  Result<void> Run(Reals& result, Diagnostics& diagnostics) {
    Arguments arguments;
    arguments.tensors["X"] = TensorOf(DType::kF32, {8}, {0, 1, 2, 3, 4, 5, 6, 7});
    arguments.tensors["Y"] = TensorOf(DType::kF32, {8}, Reals(8, -1));
    Result<void> ok = Interpret(kernel, arguments, diagnostics);
    result = arguments.tensors["Y"].ToReals();
    return ok;
  }
  Reals MustRun() {
    Reals result;
    Diagnostics diagnostics;
    EXPECT_TRUE(Run(result, diagnostics)) << diagnostics.All().front().headline;
    return result;
  }
  Diagnostic MustFail() {
    Reals result;
    Diagnostics diagnostics;
    EXPECT_FALSE(Run(result, diagnostics));
    return diagnostics.All().empty() ? Diagnostic{} : diagnostics.All().front();
  }
};

TEST(InterpPipe, ASlotIsFullWhenEveryPartIsSent) {
  Network net;
  const PipeId p = AddPipe(net.section, "p", {{"", DType::kBF16, 2, 1}}, 1);
  // make[2] sends row w of each slot; the sums are rounded to the slot's bf16.
  ExprPtr row =
      Binary(Op::kAdd, net.X(IntBinary(Op::kAdd, VarOf(net.i), VarOf(net.w)), 1), Float(0.001), Type::Tile(DType::kF32, 1, 1));
  AddWorker(net.section, "make", BlockOf(net.Rounds(BlockOf(SendRows(p, 0, VarOf(net.w), std::move(row))))), 2, net.w);
  net.kernel.vars[static_cast<size_t>(net.got)].type.dtype = DType::kBF16;
  const Type got = Type::Tile(DType::kBF16, 2, 1);
  AddWorker(net.section, "take",
            BlockOf(net.Rounds(BlockOf(Receive(p, {net.got}), Store(net.y, AxesOf(Range(VarOf(net.i), 2)), VarOf(net.got, got))))));
  EXPECT_EQ(net.MustRun(), (Reals{0.00099945068359375, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(InterpPipe, TheConsumerSetFollowsTheInstance) {
  // ds is sent in parts by both and received by instance 0 only, as in attention backward.
  Network net;
  const PipeId ds = AddPipe(net.section, "ds", {{"", DType::kF32, 2, 1}}, 1);
  AddWorker(net.section, "compute",
            BlockOf(net.Rounds(
                BlockOf(SendRows(ds, kNone, VarOf(net.w), net.X(IntBinary(Op::kAdd, VarOf(net.i), VarOf(net.w)), 1)),
                        If(Compare(Op::kEq, VarOf(net.w), Int(0)), BlockOf(Receive(ds, {net.got}), net.StoreGot(VarOf(net.i))))))),
            2, net.w);
  EXPECT_EQ(net.MustRun(), (Reals{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(InterpPipe, EveryConsumerReceivesEverySlot) {
  Network net;
  const PipeId p = AddPipe(net.section, "p", {{"", DType::kF32, 2, 1}}, 1);
  AddWorker(net.section, "load", BlockOf(net.Rounds(BlockOf(Send(p, net.X(VarOf(net.i)))))));
  // Instance w stores element w of each slot.
  ExprPtr part = PartOf(VarOf(net.got, kColumn), VarOf(net.w), Int(0), 1, 1);
  AddWorker(net.section, "take",
            BlockOf(net.Rounds(
                BlockOf(Receive(p, {net.got}),
                        Store(net.y, AxesOf(Range(IntBinary(Op::kAdd, VarOf(net.i), VarOf(net.w)), 1)), std::move(part))))),
            2, net.w);
  EXPECT_EQ(net.MustRun(), (Reals{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(InterpPipe, APipePerWorkerHasARingForEachInstance) {
  Network net;
  const PipeId p = AddPipe(net.section, "p", {{"", DType::kF32, 2, 1}}, 1);
  net.section.pipes[0].per_worker = 1;
  net.section.pipes[0].rings = 2;
  const VarId u = net.AddVar("u");
  StmtPtr send = Send(p, net.X(IntBinary(Op::kMul, VarOf(u), Int(2))));
  send->ring = VarOf(u);
  AddWorker(net.section, "load", BlockOf(For(u, Int(0), Int(2), 1, BlockOf(std::move(send)))));
  StmtPtr receive = Receive(p, {net.got});
  receive->ring = VarOf(net.w);
  AddWorker(net.section, "take", BlockOf(std::move(receive), net.StoreGot(IntBinary(Op::kMul, VarOf(net.w), Int(2)))), 2, net.w);
  EXPECT_EQ(net.MustRun(), (Reals{0, 1, 2, 3, -1, -1, -1, -1}));
}

TEST(InterpPipe, DeadlockNamesEveryWorker) {
  // load sends all of p, then all of q; take alternates. Two slots of p are too few for four rounds.
  Network net;
  const PipeId p = AddPipe(net.section, "p", {{"", DType::kF32, 2, 1}});
  const PipeId q = AddPipe(net.section, "q", {{"", DType::kF32, 2, 1}});
  AddWorker(net.section, "load",
            BlockOf(net.Rounds(BlockOf(Send(p, net.X(VarOf(net.i))))), net.Rounds(BlockOf(Send(q, net.X(VarOf(net.i)))))));
  AddWorker(net.section, "take", BlockOf(net.Rounds(BlockOf(Receive(p, {net.got}), Receive(q, {net.other})))));
  AddWorker(net.section, "idle", {});
  net.section.workers[0].body[0]->body[0]->span = {0, 10, 20};
  net.section.workers[1].body[0]->body[1]->span = {0, 30, 40};
  const Diagnostic deadlock = net.MustFail();
  EXPECT_EQ(deadlock.kind, DiagnosticKind::kDeadlock);
  EXPECT_EQ(deadlock.headline, "deadlock: 2 of 3 workers wait and none can go on");
  EXPECT_EQ(deadlock.span, (Span{0, 10, 20}));
  ASSERT_EQ(deadlock.labels.size(), 1u);
  EXPECT_EQ(deadlock.labels[0].text, "`load` waits to send to `p`: 2 of 2 slots are taken, the oldest is to be received by `take`");
  ASSERT_EQ(deadlock.notes.size(), 2u);
  EXPECT_EQ(deadlock.notes[0].text, "`take` waits to receive from `q`, which is empty");
  EXPECT_EQ(deadlock.notes[0].span, (Span{0, 30, 40}));
  EXPECT_EQ(deadlock.notes[1].text, "`idle` has finished the tile");
}

TEST(InterpPipe, EnoughSlotsLiftTheDeadlock) {
  Network net;
  const PipeId p = AddPipe(net.section, "p", {{"", DType::kF32, 2, 1}}, 4);
  const PipeId q = AddPipe(net.section, "q", {{"", DType::kF32, 2, 1}}, 1);
  AddWorker(net.section, "load",
            BlockOf(net.Rounds(BlockOf(Send(p, net.X(VarOf(net.i))))), net.Rounds(BlockOf(Send(q, net.X(VarOf(net.i)))))));
  AddWorker(net.section, "take",
            BlockOf(net.Rounds(BlockOf(Receive(p, {net.got}), Receive(q, {net.other}), net.StoreGot(VarOf(net.i))))));
  EXPECT_EQ(net.MustRun(), (Reals{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(InterpPipe, APartThatNobodySendsDeadlocks) {
  Network net;
  const PipeId p = AddPipe(net.section, "p", {{"", DType::kF32, 2, 1}});
  AddWorker(net.section, "make", BlockOf(SendRows(p, 0, Int(0), net.X(Int(0), 1))));
  AddWorker(net.section, "take", BlockOf(Receive(p, {net.got})));
  EXPECT_EQ(net.MustFail().labels[0].text, "`take` waits to receive from `p`, whose next slot lacks a part");
}

TEST(InterpPipe, ASendThatNobodyReceivesIsAFault) {
  Network net;
  const PipeId p = AddPipe(net.section, "p", {{"", DType::kF32, 2, 1}});
  AddWorker(net.section, "make", BlockOf(net.Rounds(BlockOf(Send(p, net.X(Int(0)))), 2)));
  const Diagnostic held = net.MustFail();
  EXPECT_EQ(held.kind, DiagnosticKind::kPipeNotEmpty);
  EXPECT_EQ(held.headline, "pipe `p` holds 2 slots at the end of the tile");
  net.section.workers[0].body[0]->hi = Int(8);
  EXPECT_EQ(net.MustFail().labels[0].text, "`make` waits to send to `p`: 2 of 2 slots are taken, and no worker receives from it");
}

TEST(InterpPipe, TheDeepestExpressionFitsAWorkersStack) {
  Network net;
  ExprPtr sum = net.X(Int(0));
  for (int i = 0; i < 1500; ++i) sum = build::Binary(Op::kAdd, std::move(sum), Float(1), kColumn);
  AddWorker(net.section, "w", BlockOf(Let(net.got, std::move(sum)), net.StoreGot(Int(0))));
  EXPECT_EQ(net.MustRun()[1], 1501);
}

TEST(InterpPipe, AFaultInOneWorkerEndsTheBlock) {
  Network net;
  const PipeId p = AddPipe(net.section, "p", {{"", DType::kF32, 2, 1}});
  AddWorker(net.section, "take", BlockOf(Receive(p, {net.got}), net.StoreGot(Int(0))));
  AddWorker(net.section, "make",
            BlockOf(Let(net.got, net.X(Int(0))), net.StoreGot(Int(0)), net.StoreGot(Int(0)), Send(p, net.X(Int(0)))));
  EXPECT_EQ(net.MustFail().kind, DiagnosticKind::kWrittenTwice);
}

}  // namespace
}  // namespace tkc::interp

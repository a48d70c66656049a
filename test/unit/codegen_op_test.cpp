// SPDX-License-Identifier: MIT
// Each operation of the schedule level and the line it prints as.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "compiler/codegen/emit_op.h"
#include "test/unit/codegen_role.h"

namespace tkc::codegen {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Scalar;

ir::Type Reg(int64_t rows, int64_t cols, DType dtype = DType::kF32) { return {dtype, rows, cols, ir::Space::kRegister, false}; }
ir::Type Smem(int64_t rows, int64_t cols) { return {DType::kBF16, rows, cols, ir::Space::kShared, false}; }
Scalar N(const char* name) { return symbolic::Name(name); }
Scalar I(int64_t value) { return symbolic::Int(value); }

class OpCpp : public testing::Test {
 protected:
  OpCpp() {
    kernel_.buffers = {{"ab_0", DType::kBF16, 128, 64, 4, 1, ir::Swizzle::k128, 0, false, false, false, {}, ""},
                       {"stage", DType::kBF16, 64, 64, 2, 2, ir::Swizzle::k128, 0, false, false, false, {}, ""},
                       {"scratch", DType::kF32, 4, 64, 1, 2, ir::Swizzle::kNone, 0, true, false, false, {}, ""},
                       {"one", DType::kBF16, 64, 64, 1, 1, ir::Swizzle::k128, 0, false, false, false, {}, ""}};
    kernel_.tensors = {{"A", DType::kBF16, {N("B"), N("M"), N("K")}},
                       {"C", DType::kF32, {N("M"), N("N")}, typed::TensorMode::kOut}};
    kernel_.barriers = {{"ab_full", 4, 1, ""}, {"ab_empty", 4, 8, ""}, {"q_full", 1, 1, ""}};
    kernel_.cluster = 2;
    role_.kind = ir::RoleKind::kCompute;
    role_.instances = 2;
    role_.instance_name = "w";
    x_ = kernel_.AddValue("x", Reg(64, 64));
    y_ = kernel_.AddValue("y", Reg(64, 64));
    column_ = kernel_.AddValue("c", Reg(64, 1));
    mask_ = kernel_.AddValue("mask", Reg(64, 64, DType::kBool));
    acc_ = kernel_.AddValue("acc", Reg(64, 64), true);
    view_ = kernel_.AddValue("v", Smem(128, 64));
  }

  static Op Make(OpCode code, std::vector<ir::ValueId> results, std::vector<ir::ValueId> operands, std::vector<Scalar> scalars = {},
                 std::string symbol = "", std::string slot = "", int64_t number = 0) {
    Op op{code};
    op.results = std::move(results);
    op.operands = std::move(operands);
    op.scalars = std::move(scalars);
    op.symbol = std::move(symbol);
    op.raw_slot = std::move(slot);
    op.raw_number = number;
    op.span = {0, ++place, place + 1};  // statements of their own
    return op;
  }
  static Op Plain(OpCode code, std::string symbol = "", std::string slot = "", int64_t number = 0,
                  std::vector<Scalar> scalars = {}) {
    return Make(code, {}, {}, std::move(scalars), std::move(symbol), std::move(slot), number);
  }

  /// The text of a role whose body this is; every value is used once more, so that it gets a name.
  std::string Print(ir::Region body) {
    role_.body = std::move(body);
    kernel_.workers = {role_};
    KernelUses uses(kernel_);
    for (int& count : uses.values) ++count;
    for (const char* name : {"ab", "q"}) uses.rings.insert(name);
    for (const char* name : {"n", "flag", "go", "n_block"}) uses.names_of[kernel_.workers.data()].insert(name);
    return PrintedRole(kernel_, uses);
  }
  std::string Print(Op op) { return Print(ir::Region{std::move(op)}); }
  /// Called r, r_1, r_2 ..
  ir::ValueId New(ir::Type type) {
    const ir::ValueId value = kernel_.AddValue("r", type);
    kernel_.values[value].base.clear();
    return value;
  }

  static uint32_t place;
  ir::Kernel kernel_;
  ir::Worker role_;
  ir::ValueId x_, y_, column_, mask_, acc_, view_;
};
uint32_t OpCpp::place = 0;

TEST_F(OpCpp, Scalars) {
  EXPECT_EQ(Print(Plain(OpCode::kLet, "n", "", 0, {I(3)})), "const int n = 3;\n");
  EXPECT_EQ(Print(Plain(OpCode::kLet, "n", "", 1, {symbolic::Float(0.5)})), "const float n = 0.5f;\n");
  EXPECT_EQ(Print(Plain(OpCode::kLet, "n", "", 2, {N("m")})), "n = m;\n");
  EXPECT_EQ(Print(Plain(OpCode::kLet, "unused", "", 0, {I(3)})), "");
}

TEST_F(OpCpp, Loops) {
  Op loop = Plain(OpCode::kFor, "k", "", 64, {I(0), N("K")});
  loop.regions = {{Plain(OpCode::kMmaCommit)}};
  EXPECT_EQ(Print(loop), "for (int k = 0; k < K; k += 64) {\n  tk::warpgroup::mma_commit();\n}\n");
  loop.raw_number = 1;
  EXPECT_EQ(Print(loop), "for (int k = 0; k < K; ++k) {\n  tk::warpgroup::mma_commit();\n}\n");
  Op unroll = Plain(OpCode::kUnroll, "i", "", 4);
  unroll.regions = loop.regions;
  EXPECT_EQ(Print(unroll), "TK_UNROLL\nfor (int i = 0; i < 4; ++i) {\n  tk::warpgroup::mma_commit();\n}\n");
  Op tiles = Plain(OpCode::kForTiles, "tile", "", 0,
                   {symbolic::Call("block::index", DType::kI32, {}), N("tiles"), symbolic::Call("block::count", DType::kI32, {})});
  tiles.regions = loop.regions;
  EXPECT_EQ(Print(tiles),
            "for (int tile = tk::block::index(); tile < tiles; tile += tk::block::count()) {\n  tk::warpgroup::mma_commit();\n}\n");
  EXPECT_EQ(Print(Plain(OpCode::kTilePosition, "m_block n_block", "", 8, {N("tile"), N("a"), N("b")})),
            "const auto [m_block, n_block] = tk::grouped_order(tile, a, b, 8);\n");
  EXPECT_EQ(Print(Plain(OpCode::kTilePosition, "unused unused_too", "", 8, {N("tile"), N("a"), N("b")})), "");
}

TEST_F(OpCpp, Branches) {
  Op choice = Plain(OpCode::kIf, "", "", 0, {symbolic::Name("go", DType::kBool)});
  choice.regions = {{Plain(OpCode::kMmaFence)}, {}};
  EXPECT_EQ(Print(choice), "if (go) tk::warpgroup::mma_fence();\n");
  choice.regions = {{}, {Plain(OpCode::kMmaFence)}};
  EXPECT_EQ(Print(choice), "if (!go) tk::warpgroup::mma_fence();\n");
  choice.regions = {{Plain(OpCode::kMmaFence)}, {Plain(OpCode::kMmaCommit)}};
  EXPECT_EQ(Print(choice), "if (go) {\n  tk::warpgroup::mma_fence();\n} else {\n  tk::warpgroup::mma_commit();\n}\n");
  Op elected = Plain(OpCode::kIfElected, "", "", 1);
  elected.regions = {{Plain(OpCode::kCommitStores), Plain(OpCode::kCommitStores)}};
  EXPECT_EQ(Print(elected), "if (tk::warp::elect()) {\n  tk::commit_stores();\n  tk::commit_stores();\n}\n");
}

TEST_F(OpCpp, ReadsAndStores) {
  Op read = Make(OpCode::kRead, {New(Reg(64, 64, DType::kBF16))}, {}, {symbolic::Float(-INFINITY)}, "A");
  read.axes = {{N("b"), 1, true, nullptr, nullptr}, {N("m"), 64, false, nullptr, nullptr}, {N("k"), 64, false, N("lo"), N("hi")}};
  EXPECT_EQ(Print(read),
            "const auto r = tk::warpgroup::load<64, 64, layout>(A.block(tk::at(b), tk::span(m), tk::span(k, lo, hi)), "
            "-tk::infinity());\n");
  Op store = Make(OpCode::kStore, {}, {x_}, {}, "C", "", 1);
  store.axes = {{N("m"), 64, false, nullptr, nullptr}, {I(0), 64, false, nullptr, nullptr}};
  EXPECT_EQ(Print(store), "tk::warpgroup::add(C.block(tk::span(m), tk::span(0)), x);\n");
  store.raw_slot = "transposed";
  store.raw_number = 0;
  EXPECT_EQ(Print(store), "tk::warpgroup::store(tk::transposed(C.block(tk::span(m), tk::span(0))), x);\n");
  Op copy = Make(OpCode::kCopyToShared, {}, {view_}, {}, "A", "", 1);
  copy.axes = store.axes;
  EXPECT_EQ(Print(copy), "tk::warp::copy_global_to_shared(v, A.block(tk::span(m), tk::span(0)));\n");
  copy.code = OpCode::kCopyToGlobal;
  EXPECT_EQ(Print(copy), "tk::warpgroup::copy_shared_to_global(A.block(tk::span(m), tk::span(0)), v);\n");
}

TEST_F(OpCpp, Gathers) {
  const auto column = [&] { return New(Reg(64, 1, DType::kI32)); };
  const ir::ValueId rows = column(), wanted = column();
  Op gather = Make(OpCode::kGather, {New(Reg(64, 1, DType::kBF16))}, {rows, wanted}, {}, "A");
  const ir::AxisRange chosen{.start = I(0), .dropped = true, .chosen = true};
  gather.axes = {chosen, {.start = N("b"), .dropped = true}, chosen};
  EXPECT_EQ(Print(gather),
            fmt::format("const auto {} = tk::warpgroup::gather(A, 0, {}, b, {});\n", kernel_.values[gather.results[0]].name,
                        kernel_.values[rows].name, kernel_.values[wanted].name));
  gather.scalars.push_back(symbolic::Float(1));
  EXPECT_NE(Print(gather).find("gather(A, 1.0f, "), std::string::npos);
  kernel_.TypeOf(gather.results[0]).cols = 128;
  gather.axes[2] = {.start = N("m"), .extent = 128, .exists = true, .aligned = true};
  gather.operands = {rows};
  EXPECT_EQ(Print(gather),
            fmt::format("const auto {} = tk::warpgroup::load<64, 128, layout>(tk::aligned(tk::chosen(A, {}, tk::at(b), "
                        "tk::inside<128>(m))), 1.0f);\n",
                        kernel_.values[gather.results[0]].name, kernel_.values[rows].name));
}

TEST_F(OpCpp, AllOfALiteralExtent) {
  kernel_.tensors = {{"A", DType::kF32, {N("M"), I(64)}}};
  Op read = Make(OpCode::kRead, {New(Reg(64, 64))}, {}, {}, "A");
  read.axes = {{I(0), 64, false, nullptr, nullptr}, {I(0), 64, false, nullptr, nullptr}};
  EXPECT_EQ(Print(read), "const auto r = tk::warpgroup::load<64, 64, layout>(A.block(tk::span(0), tk::all<64>()));\n");
  read.axes[1] = {I(32), 32, false, nullptr, nullptr};
  EXPECT_EQ(Print(read), "const auto r = tk::warpgroup::load<64, 64, layout>(A.block(tk::span(0), tk::span(32)));\n");
}

TEST_F(OpCpp, ExactReads) {
  kernel_.threads = 256;
  kernel_.tensors = {{"A", DType::kBF16, {N("M"), N("K")}, typed::TensorMode::kInOut}, {"S", DType::kBF16, {N("M"), N("K")}}};
  kernel_.tensors[1].is_work = true;
  const std::vector<ir::AxisRange> axes = {{N("m"), 128, false, nullptr, nullptr}, {N("k"), 64, false, nullptr, nullptr}};
  Op read = Make(OpCode::kRead, {New(Reg(128, 64))}, {}, {}, "A");
  read.axes = axes;
  EXPECT_EQ(Print(read), "const auto r = tk::warpgroup::load<128, 64, layout>(tk::exact(A.block(tk::span(m), tk::span(k))));\n");
  read.symbol = "S";
  read.raw_slot = "transposed";
  read.axes.back().aligned = true;
  EXPECT_EQ(Print(read),
            "const auto r = tk::warpgroup::load<128, 64, layout>(tk::exact(tk::aligned(tk::transposed(S.block(tk::span(m), "
            "tk::span(k))))));\n");
  Op copy = Make(OpCode::kCopyAsync, {}, {view_}, {}, "A");
  copy.axes = axes;
  EXPECT_EQ(Print(copy), "tk::block::copy_async<256>(v, tk::exact(A.block(tk::span(m), tk::span(k))));\n");
  copy.code = OpCode::kCopyToShared;
  copy.raw_number = ir::kByWarp;
  EXPECT_EQ(Print(copy), "tk::warp::copy_global_to_shared(v, tk::exact(A.block(tk::span(m), tk::span(k))));\n");
  Op parts = Make(OpCode::kReadParts, {New(Reg(128, 64)), New(Reg(128, 64))}, {}, {}, "A");
  parts.axes = {axes[0], axes[1], {I(0), 2, true, nullptr, nullptr}};
  EXPECT_EQ(
      Print(parts),
      "const auto [r_1, r_2] = tk::warpgroup::load_parts<2, 128, 64, layout>(tk::exact(A.parts(tk::span(m), tk::span(k))));\n");
  Op store = Make(OpCode::kStore, {}, {x_}, {}, "A");
  store.axes = axes;
  EXPECT_EQ(Print(store), "tk::warpgroup::store(A.block(tk::span(m), tk::span(k)), x);\n");
}

TEST_F(OpCpp, PartsOfStructures) {
  const std::vector<ir::AxisRange> axes = {
      {N("m"), 64, false, nullptr, nullptr}, {N("k"), 64, false, nullptr, nullptr}, {I(0), 2, true, nullptr, nullptr}};
  Op read = Make(OpCode::kReadParts, {New(Reg(64, 64)), New(Reg(64, 64))}, {}, {symbolic::Float(1)}, "A");
  read.axes = axes;
  EXPECT_EQ(Print(read),
            "const auto [r, r_1] = tk::warpgroup::load_parts<2, 64, 64, layout>(A.parts(tk::span(m), tk::span(k)), 1.0f);\n");
  Op store = Make(OpCode::kStoreParts, {}, {x_, y_}, {}, "C");
  store.axes = axes;
  EXPECT_EQ(Print(store), "tk::warpgroup::store_parts(C.parts(tk::span(m), tk::span(k)), x, y);\n");
}

TEST_F(OpCpp, Variables) {
  const ir::ValueId r = New(Reg(64, 64));
  EXPECT_EQ(Print(Make(OpCode::kVar, {r}, {x_})), "const auto r = x;\n");
  EXPECT_EQ(Print(Make(OpCode::kVar, {r}, {})), "tk::register_tile<float, 64, 64, layout> r;\n");
  EXPECT_EQ(Print(Make(OpCode::kAssign, {}, {acc_, x_})), "acc = x;\n");
  EXPECT_EQ(Print(Make(OpCode::kFill, {r}, {}, {symbolic::Float(0)})), "const auto r = tk::fill<float, 64, 64, layout>(0.0f);\n");
}

TEST_F(OpCpp, Elementwise) {
  const ir::ValueId r = New(Reg(64, 64));
  const auto binary = [&](typed::Op op, std::vector<ir::ValueId> operands, std::vector<Scalar> scalars = {},
                          std::string side = "") {
    return Print(
        Make(OpCode::kBinary, {r}, std::move(operands), std::move(scalars), "", std::move(side), static_cast<int64_t>(op)));
  };
  EXPECT_EQ(binary(typed::Op::kAdd, {x_, y_}), "const auto r = x + y;\n");
  EXPECT_EQ(binary(typed::Op::kSub, {x_}, {symbolic::Float(1)}, "left"), "const auto r = 1.0f - x;\n");
  EXPECT_EQ(binary(typed::Op::kMul, {x_}, {symbolic::Add(N("a"), N("b"))}, "right"), "const auto r = x * (a + b);\n");
  EXPECT_EQ(binary(typed::Op::kMax, {x_, column_}), "const auto r = tk::max(x, c);\n");
  EXPECT_EQ(binary(typed::Op::kAnd, {mask_, mask_}), "const auto r = mask & mask;\n");
  EXPECT_EQ(binary(typed::Op::kMod, {mask_, mask_}), "const auto r = tk::floor_mod(mask, mask);\n");
  EXPECT_EQ(Print(Make(OpCode::kUnary, {r}, {x_}, {}, "", "", static_cast<int64_t>(typed::Op::kExp2))),
            "const auto r = tk::exp2(x);\n");
  EXPECT_EQ(Print(Make(OpCode::kUnary, {r}, {x_}, {}, "", "", static_cast<int64_t>(typed::Op::kNeg))), "const auto r = -x;\n");
  EXPECT_EQ(Print(Make(OpCode::kSelect, {r}, {mask_, x_}, {symbolic::Float(0)}, "", "ts")),
            "const auto r = tk::where(mask, x, 0.0f);\n");
  EXPECT_EQ(Print(Make(OpCode::kSelect, {r}, {mask_, x_, y_}, {}, "", "tt")), "const auto r = tk::where(mask, x, y);\n");
  EXPECT_EQ(Print(Make(OpCode::kConvert, {New(Reg(64, 64, DType::kBF16))}, {x_})), "const auto r_1 = tk::convert<tk::bf16>(x);\n");
}

TEST_F(OpCpp, ReductionsPositionsParts) {
  const auto add = static_cast<int64_t>(typed::Op::kAdd), max = static_cast<int64_t>(typed::Op::kMax);
  EXPECT_EQ(Print(Make(OpCode::kReduce, {New(Reg(64, 1))}, {x_}, {}, "", "rows", max)), "const auto r = tk::row_max(x);\n");
  EXPECT_EQ(Print(Make(OpCode::kReduce, {New(Reg(1, 64))}, {x_}, {}, "scratch", "cols", add)),
            "const auto r_1 = tk::col_sum(x, shared.scratch[w]);\n");
  EXPECT_EQ(Print(Make(OpCode::kPositions, {New(Reg(64, 1, DType::kI32))}, {}, {N("m")}, "", "rows")),
            "const auto r_2 = tk::row_positions<64, layout>(m);\n");
  EXPECT_EQ(Print(Make(OpCode::kAligned, {New(Reg(64, 64, DType::kI32))}, {x_})), "const auto r_3 = tk::aligned(x);\n");
  EXPECT_EQ(Print(Make(OpCode::kPart, {New(Smem(64, 64))}, {view_}, {symbolic::Mul(N("w"), I(64)), I(0)})),
            "const auto r_4 = tk::rows<64>(v, w * 64);\n");
  EXPECT_EQ(Print(Make(OpCode::kPart, {New(Reg(64, 32))}, {x_}, {I(0), I(32)})), "const auto r_5 = tk::columns<32>(x, 32);\n");
  EXPECT_EQ(Print(Make(OpCode::kReshape, {New(Reg(128, 32))}, {x_})), "const auto r_6 = tk::reshape<128, 32, layout>(x);\n");
  EXPECT_EQ(Print(Make(OpCode::kTranspose, {New(Smem(64, 128))}, {view_})), "const auto r_7 = tk::transposed(v);\n");
  EXPECT_EQ(Print(Make(OpCode::kReduceOwn, {New(Reg(64, 1))}, {x_}, {}, "", "rows", max)),
            "const auto r_8 = tk::thread::row_max(x);\n");
  EXPECT_EQ(Print(Make(OpCode::kReduceThreads, {New(Reg(64, 1))}, {x_}, {}, "", "rows", max)),
            "const auto r_9 = tk::row_max_of_threads(x);\n");
}

TEST_F(OpCpp, ScansAndJoinedTiles) {
  EXPECT_EQ(Print(Make(OpCode::kCumsum, {New(Reg(64, 64))}, {x_}, {}, "", "rows")), "const auto r = tk::row_cumsum(x);\n");
  EXPECT_EQ(Print(Make(OpCode::kCumsum, {New(Reg(64, 64))}, {x_}, {}, "scratch", "cols")),
            "const auto r_1 = tk::col_cumsum(x, shared.scratch[w]);\n");
  EXPECT_EQ(Print(Make(OpCode::kCat, {New(Reg(64, 128))}, {x_, x_})), "const auto r_2 = tk::cat(x, x);\n");
  EXPECT_EQ(Print(Make(OpCode::kPart, {New(Reg(32, 32))}, {x_}, {I(32), I(0)})), "const auto r_3 = tk::part<32, 32>(x, 32, 0);\n");
  EXPECT_EQ(Print(Make(OpCode::kAssignPart, {}, {x_, x_}, {I(64), I(0)})), "tk::assign_part(x, x, 64, 0);\n");
}

TEST_F(OpCpp, MatrixUnit) {
  EXPECT_EQ(Print(Make(OpCode::kMmaFence, {}, {acc_, x_})), "tk::warpgroup::mma_fence(acc, x);\n");
  EXPECT_EQ(Print(Make(OpCode::kMma, {}, {acc_, x_, view_})), "tk::warpgroup::mma(acc, x, v);\n");
  EXPECT_EQ(Print(Make(OpCode::kMma, {}, {acc_, x_, view_}, {}, "", "", 1)), "tk::warpgroup::mma_subtract(acc, x, v);\n");
  EXPECT_EQ(Print(Make(OpCode::kMma, {}, {acc_, x_, view_}, {}, "", "", 2)), "tk::warpgroup::mma_zero(acc, x, v);\n");
  EXPECT_EQ(Print(Make(OpCode::kMmaWait, {}, {acc_}, {}, "", "", 1)), "tk::warpgroup::mma_wait<1>(acc);\n");
}

TEST_F(OpCpp, SharedMemory) {
  EXPECT_EQ(Print(Make(OpCode::kView, {New(Smem(128, 64))}, {}, {}, "ab_0", "ab")), "const auto& r = shared.ab_0[ab.slot];\n");
  EXPECT_EQ(Print(Make(OpCode::kView, {New(Smem(64, 64))}, {}, {N("i")}, "stage")), "const auto& r_1 = shared.stage[w][i];\n");
  EXPECT_EQ(Print(Make(OpCode::kView, {New(Smem(64, 64))}, {}, {}, "one")), "const auto& r_2 = shared.one;\n");
  EXPECT_EQ(Print(Make(OpCode::kLoadShared, {New(Reg(128, 64))}, {view_})),
            "const auto r_3 = tk::warpgroup::load_shared<layout>(v);\n");
  EXPECT_EQ(Print(Make(OpCode::kStoreShared, {}, {view_, x_})), "tk::warpgroup::store_shared(v, x);\n");
  EXPECT_EQ(Print(Make(OpCode::kStoreCluster, {}, {view_, x_}, {}, "ab_full", "ab", 2)),
            "tk::warpgroup::store_cluster<2>(v, x, shared.ab_full[ab.slot]);\n");
  EXPECT_EQ(
      Print(Plain(OpCode::kFenceAsync)),
      "tk::fence_async_proxy();  // orders what threads read and wrote before what the copy engine or matrix unit does next\n");
  EXPECT_EQ(Print(Plain(OpCode::kSyncRole, "", "", 0, {N("w")})), "tk::warpgroup::sync(w + 1);\n");
  EXPECT_EQ(Print(Plain(OpCode::kSyncRole, "", "", 1)), "tk::warp::sync();\n");
}

TEST_F(OpCpp, Pipes) {
  const std::string why = "  // emptied in the lap before; in the first lap all are empty\n";  // once a kernel
  EXPECT_EQ(Print(Plain(OpCode::kRing, "ab", "", 4)), "tk::ring<4> ab;\n");
  EXPECT_EQ(Print(Plain(OpCode::kAdvance, "ab")), "ab.advance();\n");
  EXPECT_EQ(Print(Plain(OpCode::kAdvance, "ab", "", 0, {N("n")})), "ab.skip(n);\n");
  EXPECT_EQ(Print(Plain(OpCode::kWaitFull, "ab_full", "ab")), "tk::wait(shared.ab_full[ab.slot], ab.phase);\n");
  EXPECT_EQ(Print(Plain(OpCode::kWaitEmpty, "ab_empty", "ab")), "tk::wait(shared.ab_empty[ab.slot], ab.phase ^ 1);" + why);
  EXPECT_EQ(Print(Plain(OpCode::kWaitEmpty, "ab_empty", "ab.previous")),
            "tk::wait(shared.ab_empty[ab.previous()], ab.phase_of_previous() ^ 1);" + why);
  EXPECT_EQ(Print(Plain(OpCode::kWaitEmpty, "ab_empty", "ab+stage")),
            "tk::wait(shared.ab_empty[ab.ahead(stage)], ab.phase_ahead(stage) ^ 1);" + why);
  EXPECT_EQ(Print(Plain(OpCode::kWaitFull, "q_full", "q")), "tk::wait(shared.q_full, q.phase);\n");
  EXPECT_EQ(
      Print({Plain(OpCode::kRing, "ab", "", 4), Plain(OpCode::kWaitFull, "ab_full", "ab")}),
      "tk::ring<4> ab;  // the slot at hand, and the parity of this lap: phase\ntk::wait(shared.ab_full[ab.slot], ab.phase);\n");
  EXPECT_EQ(Print({Plain(OpCode::kRing, "q", "", 1), Plain(OpCode::kWaitFull, "q_full", "q")}),
            "tk::wait(shared.q_full, /*parity=*/0);\n");
  EXPECT_EQ(Print(Plain(OpCode::kExpect, "ab_full", "ab", 49152)), "tk::expect_bytes(shared.ab_full[ab.slot], 49152);\n");
  EXPECT_EQ(Print(Plain(OpCode::kArrive, "ab_empty", "ab.previous")), "tk::warp::arrive(shared.ab_empty[ab.previous()]);\n");
  EXPECT_EQ(Print(Plain(OpCode::kArrive, "ab_empty", "ab", 1)), "tk::arrive(shared.ab_empty[ab.slot]);\n");
  EXPECT_EQ(Print(Plain(OpCode::kArrive, "ab_empty", "ab", 1, {I(0)})), "tk::arrive_remote(shared.ab_empty[ab.slot], 0);\n");
  EXPECT_EQ(Print({Plain(OpCode::kArrive, "ab_empty", "ab", 0, {I(0)}), Plain(OpCode::kWaitEmpty, "ab_empty", "ab")}),
            "tk::warp::arrive_remote(shared.ab_empty[ab.slot], 0);\ntk::wait(shared.ab_empty[ab.slot], ab.phase ^ 1);" + why);
  EXPECT_EQ(Print({Plain(OpCode::kArrive, "ab_empty", "ab", 2), Plain(OpCode::kWaitEmpty, "ab_empty", "ab")}),
            "tk::warp::arrive_cluster(shared.ab_empty[ab.slot], 2);\ntk::wait(shared.ab_empty[ab.slot], ab.phase ^ 1);" + why);
}

TEST_F(OpCpp, DrawnTiles) {
  EXPECT_EQ(Print(Plain(OpCode::kDrawTile, "next", "count", 0, {N("taken")})), "const int next = tk::draw_tile(count, taken);\n");
  EXPECT_EQ(Print(Plain(OpCode::kDrawTile, "next", "count", 1, {N("taken")})),
            "const int next = tk::warp::draw_tile(count, taken);\n");
  EXPECT_EQ(Print(Plain(OpCode::kDrawTile, "next", "count", 2, {N("taken"), N("first")})),
            "const int next = tk::warpgroup::draw_tile(count, taken, first);\n");
  EXPECT_EQ(Print(Make(OpCode::kPutTile, {}, {view_}, {N("next")}, "", "", 0)), "tk::put_tile(v, next);\n");
  EXPECT_EQ(Print(Make(OpCode::kPutTileCluster, {}, {view_}, {N("next")}, "ab_full", "ab", 2)),
            "tk::put_tile_cluster<2>(v, next, shared.ab_full[ab.slot]);\n");
  EXPECT_EQ(Print(Make(OpCode::kTakeTile, {}, {view_}, {}, "tile", "", 0)), "tile = tk::warp::take_tile(v);\n");
  EXPECT_EQ(Print(Make(OpCode::kTakeTile, {}, {view_}, {}, "tile", "", 1)), "tile = tk::take_tile(v);\n");
}

TEST_F(OpCpp, CopyEngine) {
  EXPECT_EQ(Print(Make(OpCode::kLoadAsync, {}, {view_}, {N("m"), N("k")}, "A_map", "ab", 0)),
            "tk::load_async(v, A_map, shared.ab_full[ab.slot], m, k);\n");
  ir::TensorMap by_rows;
  by_rows.name = "A_map_rows";
  by_rows.box = {16, 64};
  kernel_.maps.push_back(by_rows);
  EXPECT_EQ(Print(Make(OpCode::kLoadRows, {}, {view_}, {N("m"), N("k"), N("rows")}, "A_map", "ab", 0)),
            "tk::load_rows<16>(v, A_map, A_map_rows, shared.ab_full[ab.slot], rows, m, k);\n");
  EXPECT_EQ(Print(Make(OpCode::kLoadMulticast, {}, {view_}, {N("m"), N("k"), I(3)}, "A_map", "ab", 0)),
            "tk::load_multicast(v, A_map, shared.ab_full[ab.slot], 3, m, k);\n");
  EXPECT_EQ(Print(Make(OpCode::kLoadRowsMulticast, {}, {view_}, {N("m"), N("k"), N("rows"), I(3)}, "A_map", "ab", 0)),
            "tk::load_rows_multicast<16>(v, A_map, A_map_rows, shared.ab_full[ab.slot], rows, 3, m, k);\n");
  EXPECT_EQ(Print(Make(OpCode::kStoreAsync, {}, {view_}, {N("m"), N("k")}, "C_map")), "tk::store_async(C_map, v, m, k);\n");
  EXPECT_EQ(Print(Plain(OpCode::kCommitStores)), "tk::commit_stores();\n");
  EXPECT_EQ(Print(Plain(OpCode::kWaitStores, "", "read", 1)), "tk::wait_stores_read<1>();\n");
  EXPECT_EQ(Print(Plain(OpCode::kWaitStores, "", "done", 0)), "tk::wait_stores<0>();\n");
}

TEST_F(OpCpp, CopiesOfThreads) {
  kernel_.threads = 256;
  Op copy = Make(OpCode::kCopyAsync, {}, {view_}, {}, "A");
  copy.axes = {{N("m"), 128, false, nullptr, nullptr}, {N("k"), 64, false, nullptr, nullptr}};
  EXPECT_EQ(Print(copy), "tk::block::copy_async<256>(v, A.block(tk::span(m), tk::span(k)));\n");
  const std::vector<ir::AxisRange> axes = copy.axes;
  copy.raw_number = 1;
  EXPECT_EQ(Print(copy), "tk::block::copy_pieces<256>(v, A.block(tk::span(m), tk::span(k)));\n");
  const ir::ValueId place = kernel_.AddValue("A_pieces", {DType::kBF16, 128, 64, ir::Space::kPieces, false}, true);
  Op pieces = Make(OpCode::kPieces, {place}, {}, {}, "A", "ab_0");
  pieces.axes = axes;
  EXPECT_EQ(Print(pieces), "auto A_pieces = tk::block::pieces<256>(shared.ab_0[0], A.block(tk::span(m), tk::span(k)));\n");
  copy.operands.push_back(place);
  EXPECT_EQ(Print(copy), "tk::block::copy_pieces<256>(v, A_pieces);\n");
  EXPECT_EQ(Print(Make(OpCode::kMovePieces, {}, {place}, {I(0), I(64)})), "A_pieces.move(0, 64);\n");
  const ir::ValueId fetched = kernel_.AddValue("f", Reg(128, 64, DType::kBF16));
  Op fetch = Make(OpCode::kFetch, {fetched}, {}, {}, "A", "transposed");
  fetch.axes = axes;
  EXPECT_EQ(Print(fetch), "const auto f = tk::block::fetch_turned<256, 128, 64>(A.block(tk::span(m), tk::span(k)));\n");
  Op put = Make(OpCode::kCopyToShared, {}, {view_, fetched}, {}, "A");
  put.axes = axes;
  put.raw_number = 2;
  EXPECT_EQ(Print(put), "tk::block::put<256>(v, f);\n");
  EXPECT_EQ(Print(Plain(OpCode::kCommitCopies)), "tk::commit_copies();\n");
  EXPECT_EQ(Print(Plain(OpCode::kWaitCopies, "", "", 2)), "tk::wait_copies<2>();\n");
  EXPECT_EQ(Print(Plain(OpCode::kSyncBlock)), "tk::block::sync();\n");
  EXPECT_EQ(Print(Make(OpCode::kView, {New(Smem(128, 64))}, {}, {}, "ab_0", "ab+2")),
            "const auto& r = shared.ab_0[ab.ahead(2)];\n");
}

TEST_F(OpCpp, ProductsOfWarps) {
  const ir::ValueId left = New({DType::kBF16, 64, 16, ir::Space::kLeft, false});
  const ir::ValueId right = New({DType::kBF16, 16, 64, ir::Space::kRight, false});
  EXPECT_EQ(Print(Make(OpCode::kLoadLeft, {left}, {view_})), "const auto r = tk::warpgroup::load_left<layout>(v);\n");
  EXPECT_EQ(Print(Make(OpCode::kLoadRight, {right}, {view_})), "const auto r_1 = tk::warpgroup::load_right<layout>(v);\n");
  EXPECT_EQ(Print(Make(OpCode::kMultiply, {}, {acc_, left, right})), "tk::warpgroup::multiply(acc, r, r_1);\n");
  EXPECT_EQ(Print(Make(OpCode::kMultiply, {}, {acc_, left, right}, {}, "", "", 1)),
            "tk::warpgroup::multiply_subtract(acc, r, r_1);\n");
  EXPECT_EQ(Print(Make(OpCode::kMultiply, {}, {acc_, left, right}, {}, "", "", 2)), "tk::warpgroup::multiply_zero(acc, r, r_1);\n");
}

TEST_F(OpCpp, MeetingsInSharedMemory) {
  role_.warps_meet = "ws";
  role_.all_meet = "all";
  role_.layout = {16, 4, 1, 4, 4, 1, false};
  EXPECT_EQ(Print(Plain(OpCode::kSyncRole)), "tk::warp::meet(shared.ws[w]);\n");
  EXPECT_EQ(Print(Plain(OpCode::kNamedSync, "", "", 512, {I(9)})), "tk::warp::meet(shared.all);\n");
  EXPECT_EQ(Print(Make(OpCode::kReduce, {New(Reg(1, 64))}, {x_}, {}, "scratch", "cols", static_cast<int64_t>(typed::Op::kAdd))),
            "const auto r = tk::col_sum(x, shared.scratch[w], shared.ws[w]);\n");
}

TEST_F(OpCpp, RolesAndComments) {
  EXPECT_EQ(Print(Plain(OpCode::kNamedSync, "", "", 256, {I(8)})), "tk::named_barrier_sync(8, 256);\n");
  EXPECT_EQ(Print(Plain(OpCode::kNamedArrive, "", "", 256, {I(8)})), "tk::named_barrier_arrive(8, 256);\n");
  EXPECT_EQ(Print(Plain(OpCode::kClusterSync)), "tk::cluster::sync();\n");
  EXPECT_EQ(Print(Plain(OpCode::kClusterWait)), "tk::cluster::wait();\n");
  EXPECT_EQ(Print(Plain(OpCode::kWaitPrevious, "", "", 0, {symbolic::Make(symbolic::Kind::kEq, DType::kBool, {N("tile"), I(0)})})),
            "if (tile == 0) tk::grid::wait_previous();  // programmatic dependent launch: waits for the previous kernel\n");
  EXPECT_EQ(Print(Plain(OpCode::kPriority, "", "", 1)), "tk::warp::set_priority<1>();\n");
  EXPECT_EQ(Print(Plain(OpCode::kComment, "why \\")), "// why \\ .\n");
}

/// Around the roles: barriers of as many elements, behind each other, share a loop.
TEST_F(OpCpp, Frame) {
  kernel_.barriers.push_back({"row_full", 2, 4, "", 2});
  Op elected = Plain(OpCode::kIfElected, "", "", ir::kOfBlock);
  elected.regions = {{Plain(OpCode::kPrefetchMap, "A_map"), Plain(OpCode::kInitBarrier, "ab_full"),
                      Plain(OpCode::kInitBarrier, "ab_empty"), Plain(OpCode::kInitBarrier, "q_full"),
                      Plain(OpCode::kInitBarrier, "row_full"), Plain(OpCode::kFenceBarrierInit)}};
  kernel_.setup = {Plain(OpCode::kComment, "why"), elected, Plain(OpCode::kClusterArrive), Plain(OpCode::kSyncBlock),
                   Plain(OpCode::kClusterSync)};
  EXPECT_EQ(PrintedSetup(kernel_), R"(// why
if (tk::thread::index() == 0) {
  tk::prefetch(A_map);
  for (int slot = 0; slot < 4; ++slot) {
    tk::init(shared.ab_full[slot], 1);
    tk::init(shared.ab_empty[slot], 8);
  }
  tk::init(shared.q_full, 1);
  for (int instance = 0; instance < 2; ++instance) {
    for (int slot = 0; slot < 2; ++slot) {
      tk::init(shared.row_full[instance][slot], 4);
    }
  }
  tk::fence_barrier_init();
}
tk::cluster::arrive();
tk::block::sync();
tk::cluster::sync();
)");
}

/// A value used once by its own statement is written there; one of another statement, or one that a change might reach, is not.
TEST_F(OpCpp, NumberedNamesHaveNoGaps) {
  const auto fill = [&](ir::ValueId value) { return Make(OpCode::kFill, {value}, {}, {symbolic::Float(0)}); };
  const auto name = [&](const char* base) { return kernel_.AddValue(base, Reg(64, 64)); };
  const std::string zeros = " = tk::fill<float, 64, 64, layout>(0.0f);\n";
  for (int i = 0; i < 3; ++i) name("s");
  const ir::ValueId first = name("s"), second = name("s"), own = name("s_1");
  EXPECT_EQ(Print({fill(second), fill(first), fill(own)}),
            "const auto s" + zeros + "const auto s_1" + zeros + "const auto s_1_1" + zeros);
  // The source's own name stays with the value that has it.
  EXPECT_EQ(Print({fill(x_), fill(kernel_.AddValue("x", Reg(64, 64)))}), "const auto x" + zeros + "const auto x_1" + zeros);
}

/// Every operation of the schedule level is one of those above: a new one must get its case and its test.
TEST(Operations, AllScheduleLevelOperationsAreCounted) {
  int count = 0;
#define TKC_OP(code, text, levels, threads, slot, number) count += std::string_view(levels).find('S') != std::string_view::npos;
#include "compiler/ir/op.def"
#undef TKC_OP
  EXPECT_EQ(count, 84) << "add the new operation to emit_op.cpp or emit_tile.cpp, to this file, and count it here";
}

}  // namespace
}  // namespace tkc::codegen

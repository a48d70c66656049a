// SPDX-License-Identifier: MIT
// The schedule level of gemm (one section of it, `large`: persistent, four slots, one group of products in flight), built by hand:
// what the passes hand to the printer. Names follow them: buffers PIPE_FIELD, barriers PIPE_full and PIPE_empty, ring PIPE,
// views named as the received values, `tile`, AXIS_block, AXIS_blocks, tiles, TENSOR_map, TENSOR_map_usable, TENSOR_stage.
#pragma once

#include <string>
#include <utility>

#include "compiler/ir/ir.h"
#include "compiler/ir/op_traits.h"
#include "compiler/support/source_manager.h"

namespace tkc::test {

inline constexpr const char* kGemmSource = R"(/// C = A · B, accumulated in f32.
kernel gemm<BM = 128, BN = 256, BK = 64, W = 2>(A: bf16[M, K], B: bf16[K, N], C: out bf16[M, N]) {
    grid m in M by BM, n in N by BN
    pipe ab: (bf16[BM, BK], bf16[BK, BN])

    worker load {
        for k in K by BK { ab <- (A[m, k], B[k, n]) }
    }
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

class GemmFixture {
 public:
  SourceManager sources;
  ir::Module module;

  GemmFixture() {
    file_ = sources.Add("gemm.tk", kGemmSource);
    ir::Kernel kernel;
    Interface(kernel);
    Memory(kernel);
    kernel.workers = {Load(kernel), Compute(kernel)};
    module.kernels.push_back(std::move(kernel));
    module.entries.push_back({"gemm", {{0}}});
  }

  /// The span of the first `text` in the source.
  Span At(const std::string& text) const {
    const size_t begin = std::string(kGemmSource).find(text);
    return {file_, static_cast<uint32_t>(begin), static_cast<uint32_t>(begin + text.size())};
  }

 private:
  using Scalar = ir::Scalar;
  using Op = ir::Op;
  using OpCode = ir::OpCode;
  static Scalar N(const std::string& name) { return symbolic::Name(name); }
  static Scalar I(int64_t value) { return symbolic::Int(value); }
  static Scalar Times(Scalar a, int64_t b) { return symbolic::Mul(std::move(a), I(b)); }

  void Interface(ir::Kernel& k) const {
    k.name = "gemm_large";
    k.entry = "gemm";
    k.schedule = "large";
    k.target = "sm_90a";
    k.bindings = {{"BM", 128}, {"BN", 256}, {"BK", 64}, {"W", 2}};
    k.dims = {"M", "K", "N"};
    k.tensors = {{"A", DType::kBF16, {N("M"), N("K")}, typed::TensorMode::kIn, false, false, 0, 0, At("A: bf16[M, K]")},
                 {"B", DType::kBF16, {N("K"), N("N")}, typed::TensorMode::kIn, false, false, 0, 0, At("B: bf16[K, N]")},
                 {"C", DType::kBF16, {N("M"), N("N")}, typed::TensorMode::kOut, false, false, 0, 0, At("C: out bf16[M, N]")}};
    k.axes = {{"m", I(0), N("M"), 128, true}, {"n", I(0), N("N"), 256, true}};
    k.persistent = true;
    k.order = typed::GridOrder::kGrouped;
    k.is_schedule = true;
    k.threads = 384;
    k.launch_lets = {{"m_blocks", symbolic::Cdiv(N("M"), I(128))},
                     {"n_blocks", symbolic::Cdiv(N("N"), I(256))},
                     {"tiles", symbolic::Mul(N("m_blocks"), N("n_blocks"))}};
    k.tiles = N("tiles");
    k.span = k.declaration = At("kernel gemm");
  }

  void Memory(ir::Kernel& k) const {
    ir::Pipe& ab = k.pipes.emplace_back();
    ab.name = "ab";
    ab.fields = {{"", DType::kBF16, 128, 64}, {"", DType::kBF16, 64, 256}};
    ab.slots = 4;
    ab.senders = 1;
    ab.receivers = 2;
    ab.span = At("pipe ab");
    constexpr const char* kOfStage = "staging of C, 64 columns at a time";
    k.buffers = {{"ab_0", DType::kBF16, 128, 64, 4, 1, ir::Swizzle::k128, 0, false, false, false, {}, "pipe ab, field 0"},
                 {"ab_1", DType::kBF16, 64, 256, 4, 1, ir::Swizzle::k128, 65536, false, false, false, {}, "pipe ab, field 1"},
                 {"C_stage", DType::kBF16, 64, 64, 2, 2, ir::Swizzle::k128, 196608, false, false, false, {}, kOfStage}};
    k.barriers = {{"ab_full", 4, 1, "a slot of ab has been filled"},
                  {"ab_empty", 4, 8, "every warp that reads is done with a slot of ab"}};
    k.maps = {{"A_map", "A", {128, 64}, ir::Swizzle::k128, false},
              {"B_map", "B", {64, 64}, ir::Swizzle::k128, false},
              {"C_map", "C", {64, 64}, ir::Swizzle::k128, true}};
    k.shared_bytes = 230400;
    Op elected = Make(OpCode::kIfElected, k.span, "", "", ir::kOfBlock);
    ir::Region& by_one = elected.regions.emplace_back();
    for (const ir::TensorMap& map : k.maps) by_one.push_back(Make(OpCode::kPrefetchMap, k.span, map.name));
    for (const ir::Barrier& barrier : k.barriers) by_one.push_back(Make(OpCode::kInitBarrier, k.span, barrier.name));
    by_one.push_back(Make(OpCode::kFenceBarrierInit, k.span));
    k.setup = {Make(OpCode::kComment, k.span, "One thread initialises the barriers; all others wait for it."), std::move(elected),
               Make(OpCode::kSyncBlock, k.span)};
  }

  /// `symbol`, `slot` and `number` of an operation without values.
  static Op Make(OpCode code, Span span, std::string symbol = "", std::string slot = "", int64_t number = 0) {
    Op op{code};
    op.symbol = std::move(symbol);
    op.raw_slot = std::move(slot);
    op.raw_number = number;
    op.span = span;
    return op;
  }
  static Op Let(Span span, const std::string& name, Scalar value) {
    Op op = Make(OpCode::kLet, span, name);
    op.scalars = {std::move(value)};
    return op;
  }
  static Op With(Op op, std::vector<ir::ValueId> results, std::vector<ir::ValueId> operands, std::vector<Scalar> scalars = {}) {
    op.results = std::move(results);
    op.operands = std::move(operands);
    op.scalars = std::move(scalars);
    return op;
  }

  /// for each tile of this block: m, n, in the first one the wait for the launch before, then `body`.
  ir::Region Tiles(ir::Region body) const {
    const Span grid = At("grid m in M by BM, n in N by BN");
    Op position = Make(OpCode::kTilePosition, grid, "m_block n_block", "", 8);
    position.scalars = {N("tile"), N("m_blocks"), N("n_blocks")};
    Op loop = Make(OpCode::kForTiles, grid, "tile");
    loop.scalars = {symbolic::Call("block::index", DType::kI32, {}), N("tiles"), symbolic::Call("block::count", DType::kI32, {})};
    Op wait = Make(OpCode::kWaitPrevious, grid);
    wait.scalars = {ir::IsFirstTile(loop)};
    loop.regions = {{position, Let(grid, "m", Times(N("m_block"), 128)), Let(grid, "n", Times(N("n_block"), 256)), wait}};
    for (Op& op : body) loop.regions[0].push_back(std::move(op));
    return {Make(OpCode::kRing, kNoSpan, "ab", "", 4), loop};
  }

  Op LoopK(Span span, ir::Region body) const {
    Op loop = Make(OpCode::kFor, span, "k", "", 64);
    loop.scalars = {I(0), N("K")};
    loop.regions = {std::move(body)};
    return loop;
  }

  static ir::Type Shared(int64_t rows, int64_t cols) { return {DType::kBF16, rows, cols, ir::Space::kShared, false}; }
  static ir::Type Register(DType dtype, int64_t rows, int64_t cols) { return {dtype, rows, cols, ir::Space::kRegister, false}; }

  ir::Worker Load(ir::Kernel& k) const {
    const Span send = At("ab <- (A[m, k], B[k, n])");
    const ir::ValueId a = k.AddValue("ab_0", Shared(128, 64)), b = k.AddValue("ab_1", Shared(64, 256));
    ir::Region body = {Make(OpCode::kWaitEmpty, send, "ab_empty", "ab"),
                       With(Make(OpCode::kView, send, "ab_0", "ab"), {a}, {}),
                       With(Make(OpCode::kView, send, "ab_1", "ab"), {b}, {}),
                       Make(OpCode::kExpect, send, "ab_full", "ab", 49152),
                       With(Make(OpCode::kLoadAsync, send, "A_map", "ab", 0), {}, {a}, {N("m"), N("k")}),
                       With(Make(OpCode::kLoadAsync, send, "B_map", "ab", 0), {}, {b}, {N("k"), N("n")}),
                       Make(OpCode::kAdvance, send, "ab")};
    ir::Worker role;
    role.name = "load";
    role.kind = ir::RoleKind::kCopyThread;
    role.registers = 40;
    role.span = At("worker load");
    role.body = Tiles({LoopK(At("for k in K by BK { ab <-"), std::move(body))});
    return role;
  }

  ir::Worker Compute(ir::Kernel& k) const {
    const Span var = At("var acc: f32[BM / W, BN] = 0"), receive = At("let (a, b) = <-ab"), sum = At("acc += a.rows(w) @ b");
    const Span loop = At("for k in K by BK {\n");
    const ir::ValueId zero = k.AddValue("", Register(DType::kF32, 64, 256));
    const ir::ValueId acc = k.AddValue("acc", Register(DType::kF32, 64, 256), true);
    const ir::ValueId a = k.AddValue("a", Shared(128, 64)), b = k.AddValue("b", Shared(64, 256)),
                      part = k.AddValue("", Shared(64, 64));
    const auto hand_back = [&](symbolic::Kind compare, const std::string& left, Scalar right, Span span) {
      Op op = Make(OpCode::kIf, span);
      op.scalars = {symbolic::Make(compare, DType::kBool, {N(left), std::move(right)})};
      op.regions = {{Make(OpCode::kArrive, span, "ab_empty", "ab.previous")}, {}};
      return op;
    };
    ir::Region step = {Make(OpCode::kWaitFull, receive, "ab_full", "ab"),
                       With(Make(OpCode::kView, receive, "ab_0", "ab"), {a}, {}),
                       With(Make(OpCode::kView, receive, "ab_1", "ab"), {b}, {}),
                       With(Make(OpCode::kPart, sum), {part}, {a}, {Times(N("w"), 64), I(0)}),
                       Make(OpCode::kMmaFence, sum),
                       With(Make(OpCode::kMma, sum), {}, {acc, part, b}),
                       Make(OpCode::kMmaCommit, sum),
                       Make(OpCode::kComment, sum, "The products of the slot before are complete: it goes back."),
                       Make(OpCode::kMmaWait, sum, "", "", 1),
                       hand_back(symbolic::Kind::kGt, "k", I(0), sum),
                       Make(OpCode::kAdvance, sum, "ab")};
    ir::Region body = {With(Make(OpCode::kFill, var), {zero}, {}, {symbolic::Float(0)}),
                       With(Make(OpCode::kVar, var), {acc}, {zero}),
                       LoopK(loop, std::move(step)),
                       With(Make(OpCode::kMmaWait, loop), {}, {acc}),
                       hand_back(symbolic::Kind::kGt, "K", I(0), loop),
                       Store(k, acc)};
    ir::Worker role;
    role.name = "compute";
    role.instances = 2;
    role.instance_name = "w";
    role.kind = ir::RoleKind::kCompute;
    role.first_warp = 4;
    role.registers = 232;
    role.span = At("worker compute[W] as w");
    role.body = Tiles(std::move(body));
    role.body.push_back(Make(OpCode::kWaitStores, kNoSpan, "", "read", 0));
    return role;
  }

  /// Chunks of 64 columns through shared memory, from there by the copy engine, or by guarded stores where it can't.
  /// (Stores of the whole accumulator from registers would spill: the addresses of 128 elements do not fit beside them.)
  Op Store(ir::Kernel& k, ir::ValueId acc) const {
    const Span span = At("C[m, n].rows(w) <- acc");
    const ir::ValueId chunk = k.AddValue("acc_chunk", Register(DType::kF32, 64, 64)),
                      rounded = k.AddValue("C_values", Register(DType::kBF16, 64, 64));
    const ir::ValueId stage = k.AddValue("stage", Shared(64, 64));
    const Scalar col = Times(N("C_chunk"), 64), row = symbolic::Add(N("m"), Times(N("w"), 64));
    const auto elected = [&](ir::Region inner) {
      Op op = Make(OpCode::kIfElected, span);
      op.regions = {std::move(inner)};
      return op;
    };
    Op guarded = With(Make(OpCode::kCopyToGlobal, span, "C"), {}, {stage});
    guarded.axes = {{row, 64, false, nullptr, nullptr}, {symbolic::Add(N("n"), col), 64, false, nullptr, nullptr}};
    Op choice = Make(OpCode::kIf, span);
    choice.scalars = {symbolic::Name("C_map_usable", DType::kBool)};
    choice.regions = {{elected({With(Make(OpCode::kStoreAsync, span, "C_map"), {}, {stage}, {row, symbolic::Add(N("n"), col)}),
                                Make(OpCode::kCommitStores, span)})},
                      {std::move(guarded)}};
    Op unroll = Make(OpCode::kUnroll, span, "C_chunk", "", 4);
    unroll.regions = {
        {With(Make(OpCode::kPart, span), {chunk}, {acc}, {I(0), col}), With(Make(OpCode::kConvert, span), {rounded}, {chunk}),
         With(Make(OpCode::kView, span, "C_stage"), {stage}, {},
              {symbolic::Make(symbolic::Kind::kMod, DType::kI64, {N("C_chunk"), I(2)})}),
         elected({Make(OpCode::kWaitStores, span, "", "read", 1)}), With(Make(OpCode::kSyncRole, span), {}, {}, {N("w")}),
         With(Make(OpCode::kStoreShared, span), {}, {stage, rounded}), Make(OpCode::kFenceAsync, span),
         With(Make(OpCode::kSyncRole, span), {}, {}, {N("w")}), std::move(choice)}};
    return unroll;
  }

  uint32_t file_ = 0;
};

}  // namespace tkc::test

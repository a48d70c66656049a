// SPDX-License-Identifier: MIT
// The verifier accepts a kernel of each level and names each kind of fault in it: one text edit, one message.
#include <gtest/gtest.h>

#include "compiler/ir/parse.h"
#include "compiler/ir/verify.h"

namespace tkc::ir {
namespace {

constexpr const char* kTile = R"(kernel k {
  dim M
  dim K
  tensor A : in bf16[M, K]
  tensor C : out f32[M, K]
  scalar alpha : f32
  grid m = 0 to M by 128
  pipe p (bf16[64, 64])
  worker load {
    for k = 0 to K step 64 {
      %a = read A[m : 64, k : 64] : bf16[64, 64]
      send p %a
    }
  }
  worker compute x2 as w {
    %zero = fill 0.0 : f32[64, 64]
    %acc = var %zero : f32[64, 64]
    for k = 0 to K step 64 {
      %x = receive p : bf16[64, 64]
      %xt = transpose %x : bf16[64, 64]
      accumulate %acc, %x, %xt
    }
    %r = reduce add rows %acc : f32[64, 1]
    %s = binary mul %acc, %r : f32[64, 64]
    %t = binary mul %s, (alpha) : f32[64, 64]
    %h = part %t at 0, 32 : f32[64, 32]
    store C[m + w * 64 : 64, 0 : 64] = %t
  }
}
)";

constexpr const char* kSchedule = R"(kernel k {
  dim M
  dim K
  tensor A : in bf16[M, K]
  tensor C : out bf16[M, K]
  grid m = 0 to M by 128
  pipe p (bf16[64, 64]) slots 2 senders 1 receivers 2
  level schedule
  threads 384
  launch tiles = cdiv(M, 128)
  tiles tiles
  shared p_slot : bf16[64, 64] x2 swizzle 128 offset 0 "pipe p"
  shared stage : bf16[64, 64] instances 2 swizzle 128 offset 16384
  barrier p_full x2 arrivals 1
  barrier p_empty x2 arrivals 8
  map A_map : A box [64, 64] swizzle 128
  map C_map : C box [64, 64] swizzle 128 store
  shared_bytes 33024
  worker load role copy_thread registers 40 {
    ring p slots 2
    for_tiles tile = @block::index.i32() to tiles step @block::count.i32() {
      let m = tile * 128
      wait_empty p_empty[p]
      %a = view p_slot[p] : smem bf16[64, 64]
      expect p_full[p] bytes 8192
      load_async %a = A_map at m, 0 on p_full[p]
      advance p
    }
  }
  worker compute x2 as w role compute first_warp 4 registers 232 {
    ring p slots 2
    %acc = var : reg f32[64, 64]
    wait_full p_full[p]
    %x = view p_slot[p] : smem bf16[64, 64]
    %xt = transpose %x : smem transposed bf16[64, 64]
    mma_fence
    mma %acc, %x, %xt set
    mma_commit
    mma_wait 0
    arrive p_empty[p] by warp
    advance p
    %h = convert %acc : reg bf16[64, 64]
    if C_map_usable {
      %v = view stage : smem bf16[64, 64]
      store_shared %v = %h
      fence_async
      sync_role warpgroup instance w
      if_elected warpgroup {
        store_async C_map at w * 64, 0 = %v
        commit_stores
      }
    } else {
      store C[w * 64 : 64, 0 : 64] = %h
    }
    named_sync 1 threads 256
  }
}
)";

std::vector<Fault> FaultsOf(const std::string& text, Level level) {
  Diagnostics diagnostics;
  Result<Module> module = Parse(text, 0, diagnostics);
  if (!module) return {{"does not parse: " + diagnostics.All().at(0).headline, {}}};
  return Verify(module->kernels[0], level, FindTarget("sm_90a"));
}

std::string Edited(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

std::string FirstFault(const char* text, Level level, const std::string& from, const std::string& to) {
  const std::vector<Fault> faults = FaultsOf(Edited(text, from, to), level);
  return faults.empty() ? "no fault" : faults[0].message;
}

TEST(IrVerify, AcceptsBothLevels) {
  for (const Fault& fault : FaultsOf(kTile, Level::kTile)) ADD_FAILURE() << fault.message;
  for (const Fault& fault : FaultsOf(kSchedule, Level::kSchedule)) ADD_FAILURE() << fault.message;
  for (const Fault& fault : FaultsOf(kTile, Level::kLowering)) ADD_FAILURE() << fault.message;
  for (const Fault& fault : FaultsOf(kSchedule, Level::kLowering)) ADD_FAILURE() << fault.message;
}

struct Case {
  const char *from, *to, *message;
};

TEST(IrVerify, TileLevelFaults) {
  const Case cases[] = {
      {"m : 64, k : 64", "m : 64, j : 64", "worker `load`: `j`, used in `read`, is not defined there"},
      {"m : 64, k : 64", "m : 64, k : 32",
       "worker `load`: `%a = read A[m : 64, k : 32] : bf16[64, 64]`: 64 x 64 where 64 x 32 is wanted"},
      {"m : 64, k : 64", "m : 64", "worker `load`: `%a = read A[m : 64] : bf16[64, 64]`: 1 axes for the 2 of `A`"},
      {"read A[m", "read B[m", "worker `load`: `%a = read B[m : 64, k : 64] : bf16[64, 64]`: there is no tensor `B`"},
      {"send p %a", "send q %a", "worker `load`: `send q %a`: there is no pipe `q`"},
      {"send p %a", "send p %a, %a", "worker `load`: `send p %a, %a`: 0 results, 2 operands and 0 scalars, not 0, 1 and 0 to 3"},
      {"accumulate %acc", "accumulate %zero", "worker `compute`: `accumulate %zero, %x, %xt`: `%zero` is not mutable"},
      {"accumulate %acc, %x, %xt", "mma_fence", "worker `compute`: `mma_fence`: `mma_fence` does not exist at the tile level"},
      {"%xt = transpose %x : bf16[64, 64]", "%xt = transpose %x : bf16[32, 64]",
       "worker `compute`: `%xt = transpose %x : bf16[32, 64]`: 32 x 64 where 64 x 64 is wanted"},
      {"rows %acc : f32[64, 1]", "cols %acc : f32[64, 1]",
       "worker `compute`: `%r = reduce add cols %acc : f32[64, 1]`: 64 x 1 where 1 x 64 is wanted"},
      {"%s = binary mul %acc, %r", "%s = binary lt %acc, %r",
       "worker `compute`: `%s = binary lt %acc, %r : f32[64, 64]`: a comparison gives truth values"},
      {"at 0, 32 : f32[64, 32]", "at 0, 40 : f32[64, 32]",
       "worker `compute`: `%h = part %t at 0, 40 : f32[64, 32]`: the part of 64 x 32 at 0, 40 is not inside 64 x 64"},
      {"step 64", "step 0", "worker `load`: `for k = 0 to K step 0 { ... }`: a step of 0"},
      {"%zero = fill 0.0 : f32[64, 64]", "%zero = fill 0.0 : reg f32[64, 64]",
       "worker `compute`: `%zero = fill 0.0 : reg f32[64, 64]`: `%zero` has a place already"},
      {"(alpha)", "(beta)", "worker `compute`: `beta`, used in `binary`, is not defined there"},
      {"var %zero : f32[64, 64]", "var %zero : f32[64, 32]",
       "worker `compute`: `%acc = var %zero : f32[64, 32]`: 64 x 64 where 64 x 32 is wanted"},
  };
  for (const Case& c : cases) EXPECT_EQ(FirstFault(kTile, Level::kTile, c.from, c.to), c.message);
}

TEST(IrVerify, ReshapesCutOrJoinRows) {
  constexpr const char* kReshapes = R"(kernel k {
  dim M
  worker w {
    %x = fill 0.0 : f32[4, 1024]
    %cut = reshape %x : f32[32, 128]
    %joined = reshape %cut : f32[8, 512]
  }
}
)";
  const Case cases[] = {
      {"32, 128", "32, 128", "no fault"},
      {"%cut = reshape %x : f32[32, 128]", "%cut = reshape %x : f32[32, 64]",
       "worker `w`: `%cut = reshape %x : f32[32, 64]`: rows of 1024 elements are neither cut into nor joined to rows of 64"},
      {"%cut = reshape %x : f32[32, 128]", "%cut = reshape %x : bf16[32, 128]",
       "worker `w`: `%cut = reshape %x : bf16[32, 128]`: f32 into bf16"},
  };
  for (const Case& c : cases) EXPECT_EQ(FirstFault(kReshapes, Level::kTile, c.from, c.to), c.message);
}

TEST(IrVerify, PartsOfStructures) {
  constexpr const char* kParts = R"(kernel k {
  tensor A : in bf16[64, 64, 2]
  worker compute role compute {
    %a, %b = read_parts A[0 : 64, 0 : 64, 0 : 2 dropped] : bf16[64, 64], bf16[64, 64]
  }
})";
  EXPECT_EQ(FirstFault(kParts, Level::kLowering, "worker", "worker"), "no fault");
  const std::string where = "worker `compute`: `%a, %b = read_parts A[0 : 64, 0 : 64, ";
  const std::string types = "] : bf16[64, 64], bf16[64, 64]`: ";
  const std::string not_all = "the last axis is not all parts of the structures in `A`";
  EXPECT_EQ(FirstFault(kParts, Level::kLowering, "0 : 2 dropped", "0 : 4 dropped"), where + "0 : 4 dropped" + types + not_all);
  EXPECT_EQ(FirstFault(kParts, Level::kLowering, "0 : 2 dropped", "1 : 2 dropped"), where + "1 : 2 dropped" + types + not_all);
  EXPECT_EQ(FirstFault(kParts, Level::kLowering, ", bf16[64, 64]\n", ", bf16[64, 32]\n"),
            where + "0 : 2 dropped] : bf16[64, 64], bf16[64, 32]`: 64 x 32 where 64 x 64 is wanted");
}

TEST(IrVerify, PlacesOfPieces) {
  constexpr const char* kPieces = R"(kernel k {
  tensor A : in bf16[64, 64]
  shared s : bf16[64, 32] swizzle 64 offset 0
  worker compute role compute {
    %p = pieces A[0 : 64, 0 : 32] for s : mutable pieces bf16[64, 32]
    %v = view s : smem bf16[64, 32]
    copy_async %v from %p = A[0 : 64, 0 : 32] in_pieces
    move_pieces %p by 0, 32
  }
})";
  const std::string where = "worker `compute`: `%p = pieces A[0 : 64, 0 : 32] for ";
  EXPECT_EQ(FirstFault(kPieces, Level::kLowering, "worker", "worker"), "no fault");
  EXPECT_EQ(FirstFault(kPieces, Level::kLowering, "for s", "for t"),
            where + "t : mutable pieces bf16[64, 32]`: there is no buffer `t`");
  EXPECT_EQ(FirstFault(kPieces, Level::kLowering, "mutable pieces", "pieces"),
            where + "s : pieces bf16[64, 32]`: `%p` is not mutable");
  EXPECT_EQ(FirstFault(kPieces, Level::kLowering, "mutable pieces", "mutable reg"),
            where + "s : mutable reg bf16[64, 32]`: `%p` is no place of pieces");
  EXPECT_EQ(FirstFault(kPieces, Level::kLowering, "bf16[64, 32] swizzle", "bf16[32, 32] swizzle"),
            where + "s : mutable pieces bf16[64, 32]`: `s` holds tiles of another type");
  EXPECT_EQ(FirstFault(kPieces, Level::kLowering, "move_pieces %p", "move_pieces %v"),
            "worker `compute`: `move_pieces %v by 0, 32`: `%v` is no place of pieces");
}

TEST(IrVerify, ValuesEndWithTheirRegion) {
  // The parser knows no regions, so that what a pass moved wrongly can be written down.
  EXPECT_EQ(FirstFault(kTile, Level::kTile, "binary mul %acc, %r", "binary mul %x, %r"),
            "worker `compute`: `%s = binary mul %x, %r : f32[64, 64]`: `%x` is not defined here");
}

TEST(IrVerify, ScheduleLevelFaults) {
  const Case cases[] = {
      {"mma_wait 0", "%q = matmul %x, %xt : reg f32[64, 64]",
       "worker `compute`: `%q = matmul %x, %xt : reg f32[64, 64]`: `matmul` does not exist at the schedule level"},
      {"wait_empty p_empty[p]", "wait_empty q_empty[p]", "worker `load`: `wait_empty q_empty[p]`: there is no barrier `q_empty`"},
      {"wait_empty p_empty[p]", "wait_empty p_empty[q]", "worker `load`: `wait_empty p_empty[q]`: the role has no ring `q`"},
      {"wait_empty p_empty[p]", "wait_empty p_empty[p.next]", "worker `load`: `wait_empty p_empty[p.next]`: a ring has no `next`"},
      {"wait_empty p_empty[p]", "wait_empty p_empty", "worker `load`: `wait_empty p_empty`: which of the 2 is not said"},
      {"view p_slot[p]", "view slot[p]", "worker `load`: `%a = view slot[p] : smem bf16[64, 64]`: there is no buffer `slot`"},
      {"A_map at m, 0", "A_map at m", "worker `load`: `load_async %a = A_map at m on p_full[p]`: 1 coordinates, not 2"},
      {"load_async %a = A_map at m, 0", "load_rows %a = A_map at m, 0, M - m",
       "worker `load`: `load_rows %a = A_map at m, 0, M - m on p_full[p]`: no map `A_map_rows` with boxes of fewer rows"},
      {"load_async %a = A_map at m, 0", "load_rows_multicast %a = A_map at m, 0, 3",
       "worker `load`: `load_rows_multicast %a = A_map at m, 0, 3 on p_full[p]`: 3 coordinates, not 4"},
      {"= A_map", "= C_map", "worker `load`: `load_async %a = C_map at m, 0 on p_full[p]`: `C_map` is made for stores"},
      {"box [64, 64] swizzle 128\n", "box [64, 32] swizzle 64\n",
       "worker `load`: `load_async %a = A_map at m, 0 on p_full[p]`: a buffer of swizzle 128, a map of 64"},
      {"box [64, 64] swizzle 128\n", "box [64, 128] swizzle 128\n",
       "map `A_map`: rows of 256 bytes, and panels of 128, as wide as the swizzle"},
      {"box [64, 64] swizzle 128\n", "box [64, 32] swizzle 128\n",
       "map `A_map`: rows of 64 bytes, and panels of 128, as wide as the swizzle"},
      {"box [64, 64] swizzle 128\n", "box [512, 64] swizzle 128\n",
       "map `A_map`: a box of 512 along one dimension; 1 to 256 can be copied"},
      {"threads 256", "threads 100", "worker `compute`: `named_sync 1 threads 100`: 100 threads of 384"},
      {"threads 384", "threads 400", "400 threads; `sm_90a` takes multiples of 32 up to 1024"},
      {"threads 384", "threads 1152", "1152 threads; `sm_90a` takes multiples of 32 up to 1024"},
      {"threads 384", "threads 384\n  launch_registers 256", "a launch with 256 registers a thread; `sm_90a` has 255 at most"},
      {"threads 384", "cluster 16\n  threads 384", "a cluster of 16 blocks; `sm_90a` takes up to 8"},
      {"shared_bytes 33024", "shared_bytes 30000",
       "tiles and barriers take 32800 bytes of shared memory, the launch asks for 30000"},
      {"shared_bytes 33024", "shared_bytes 233000", "233000 bytes of shared memory; `sm_90a` has 232448"},
      {"registers 40", "registers 42", "worker `load` asks for 42 registers; `sm_90a` grants multiples of 8 from 24 to 256"},
      {"first_warp 4", "first_warp 2", "worker `compute` starts at warp 2: a warpgroup starts at a multiple of 4"},
      {"offset 16384", "offset 16500", "shared `stage` starts at byte 16500, not a multiple of 1024"},
      {"arrivals 8", "arrivals 0", "barrier `p_empty` expects 0 arrivals; 1 to 1048575 can be counted"},
      {"convert %acc : reg bf16[64, 64]", "convert %acc : bf16[64, 64]",
       "worker `compute`: `%h = convert %acc : bf16[64, 64]`: `%h` has no place yet"},
      {"store_shared %v = %h", "store_shared %v = %acc",
       "worker `compute`: `store_shared %v = %acc`: f32 in registers, bf16 in shared memory: this converts nothing"},
      {"mma %acc, %x, %xt set", "mma %x, %x, %xt set", "worker `compute`: `mma %x, %x, %xt set`: `%x` is not mutable"},
      {"advance p", "advance q", "worker `load`: `advance q`: the role has no ring `q`"},
  };
  for (const Case& c : cases) EXPECT_EQ(FirstFault(kSchedule, Level::kSchedule, c.from, c.to), c.message);
}

/// What op.def says that a slot and a number are.
TEST(IrVerify, FieldsByMeaning) {
  const Case tile[] = {
      {"reduce add rows %acc : f32[64, 1]", "reduce add diagonals %acc : f32[64, 1]",
       "worker `compute`: `%r = reduce add diagonals %acc : f32[64, 1]`: `diagonals` is neither `rows` nor `cols`"},
      {"0 : 64] = %t", "0 : 64] = %t as mirrored",
       "worker `compute`: `store C[m + w * 64 : 64, 0 : 64] = %t as mirrored`: `mirrored` is no way for a tile to lie"},
      {"part %t at 0, 32", "part %t at 0, 32 !slot \"rows\"",
       "worker `compute`: `%h = part %t at 0, 32 !slot \"rows\" : f32[64, 32]`: it has no slot, such as `rows`"},
      {"part %t at 0, 32", "part %t at 0, 32 !number 2",
       "worker `compute`: `%h = part %t at 0, 32 !number 2 : f32[64, 32]`: it has no number, such as 2"},
      {"accumulate %acc, %x, %xt", "raw accumulate !number 2 !operands %acc, %x, %xt",
       "worker `compute`: `raw accumulate !number 2 !operands %acc, %x, %xt`: 2 is none of its 2 choices"},
  };
  for (const Case& c : tile) EXPECT_EQ(FirstFault(kTile, Level::kTile, c.from, c.to), c.message);
  EXPECT_EQ(FirstFault(kSchedule, Level::kSchedule, "commit_stores\n", "commit_stores\n        wait_stores seen 0\n"),
            "worker `compute`: `wait_stores seen 0`: `seen` is neither `read` nor `done`");
}

/// Who asks an operation for what it does not have is told so at once.
TEST(OpFieldsDeathTest, OtherMeanings) {
  Op fill{OpCode::kFill};
  EXPECT_DEATH((void)fill.IsOfRows(), "`fill` has no axis");
  EXPECT_DEATH(fill.Set(kStays), "`fill` has no number of this meaning");
  EXPECT_DEATH((void)Op{OpCode::kFor}.Trips(), "`for` has no number of this meaning");
  EXPECT_FALSE(fill.IsTurned());
  EXPECT_EQ(fill.SlotIfAny(), "");
}

TEST(Targets, Table) {
  EXPECT_EQ(FindTarget("sm_91"), nullptr);
  const Target& sm90 = *FindTarget("sm_90a");
  EXPECT_TRUE(sm90.implemented);
  EXPECT_EQ(sm90.registers.AtEntry(384), 168);
  EXPECT_EQ(sm90.registers.Pool(384), 504);
  EXPECT_EQ(sm90.registers.Pool(512), 512);
  EXPECT_EQ(sm90.registers.Pool(256), 512);
  ASSERT_NE(FindMatrixShape(sm90, DType::kBF16), nullptr);
  EXPECT_EQ(FindMatrixShape(sm90, DType::kF32), nullptr);
  for (const Target& target : Targets()) {
    EXPECT_EQ(target.implemented, target.name != "sm_100a") << target.name;
    EXPECT_EQ(target.implemented, FindMatrixShape(target, DType::kBF16) != nullptr) << target.name;
  }
}

}  // namespace
}  // namespace tkc::ir

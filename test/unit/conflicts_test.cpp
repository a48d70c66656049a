// SPDX-License-Identifier: MIT
// Moves through shared memory, instruction by instruction as the runtime makes them, against the algebra of layout/conflict.
#include <tuple>

#include <gtest/gtest.h>

#include "compiler/layout/conflict.h"
#include "compiler/passes/shared_moves.h"

namespace tkc::passes {
namespace {

using layout::kMatrixFragment;
using layout::RegisterLayout;

ir::Buffer Tile(DType dtype, int64_t rows, int64_t cols, int swizzle) {
  ir::Buffer buffer;
  buffer.dtype = dtype;
  buffer.rows = rows;
  buffer.cols = cols;
  buffer.swizzle = static_cast<layout::Swizzle>(swizzle);
  return buffer;
}

MoveCost Move(const RegisterLayout& registers, const ir::Buffer& tile, bool is_store, bool transposed = false) {
  Window window{&tile, 0, 0, tile.rows, tile.cols, transposed};
  if (transposed) std::swap(window.rows, window.cols);
  return RegisterMove(registers, window, is_store);
}

TEST(SharedMoves, AddressesAreThoseOfTheLayout) {
  for (const int swizzle : {0, 32, 64, 128}) {
    const ir::Buffer tile = Tile(DType::kBF16, 24, 128, swizzle);
    const layout::SharedTile same{DType::kBF16, 24, 128, static_cast<layout::Swizzle>(swizzle)};
    const Window whole{&tile, 0, 0, 24, 128, false}, part{&tile, 8, 64, 8, 32, false}, turned{&tile, 8, 64, 32, 8, true};
    for (int64_t row = 0; row < 24; ++row) {
      for (int64_t col = 0; col < 128; ++col) ASSERT_EQ(whole.Address(row, col), same.Offset(row, col));
    }
    EXPECT_EQ(part.Address(3, 9), same.Offset(11, 73));
    EXPECT_EQ(turned.Address(9, 3), same.Offset(11, 73));
  }
}

TEST(SharedMoves, EveryInstructionCostsWhatTheAlgebraSays) {
  int checked = 0;
  for (const RegisterLayout& registers :
       {kMatrixFragment, RegisterLayout{16, 8, 1, 2, 4}, RegisterLayout{32, 4, 1, 1, 4}, RegisterLayout{8, 8, 1, 4, 4}}) {
    for (const DType dtype : {DType::kBF16, DType::kF32}) {
      for (const int swizzle : {0, 32, 64, 128}) {
        for (const bool is_store : {false, true}) {
          for (const bool transposed : {false, true}) {
            if (registers == kMatrixFragment && dtype == DType::kF32 && swizzle >= 64 && !transposed)
              continue;  // turned about: below
            const ir::Buffer tile = Tile(dtype, 128, 128, swizzle);
            const bool matrices = registers == kMatrixFragment && Bytes(dtype) == 2;
            const layout::AccessKind kind = matrices
                                                ? (is_store ? layout::AccessKind::kStoreMatrix : layout::AccessKind::kLoadMatrix)
                                                : (is_store ? layout::AccessKind::kStore : layout::AccessKind::kLoad);
            const layout::BankCost one =
                layout::Conflicts(registers, {dtype, 128, 128, static_cast<layout::Swizzle>(swizzle)}, {kind, transposed});
            const MoveCost move = Move(registers, tile, is_store, transposed);
            EXPECT_EQ(move.wavefronts, move.instructions * one.cycles);
            EXPECT_EQ(move.ideal, move.instructions * one.ideal);
            EXPECT_EQ(move.instructions * (matrices ? 512 : 32 * move.width), 128 * 128 * Bytes(dtype));
            ++checked;
          }
        }
      }
    }
  }
  EXPECT_EQ(checked, 124);
}

TEST(SharedMoves, TilesThatLieTransposedComeAsMatrices) {
  for (const auto& [rows, cols, swizzle] : {std::tuple{64, 64, 128}, {128, 128, 128}, {32, 32, 64}, {32, 16, 32}, {32, 48, 32}}) {
    const ir::Buffer tile = Tile(DType::kBF16, rows, cols, swizzle);
    for (const RegisterLayout& registers : {RegisterLayout{4, 8, 1, 8, 1, 1}, RegisterLayout{4, 8, 1, 8, 2, 1}}) {
      const MoveCost move = Move(registers, tile, false, true);
      EXPECT_TRUE(move.as_matrices);
      EXPECT_EQ(move.wavefronts, move.ideal) << rows << " x " << cols << " " << swizzle;
      const layout::BankCost one = layout::Conflicts(registers, {DType::kBF16, rows, cols, static_cast<layout::Swizzle>(swizzle)},
                                                     {layout::AccessKind::kLoadMatrix, true});
      EXPECT_EQ(move.wavefronts, move.instructions * one.cycles);
    }
  }
  // Without a swizzle the rows of a matrix lie 256 bytes apart, eight in a bank.
  EXPECT_EQ(Move({4, 8, 1, 8, 4}, Tile(DType::kBF16, 128, 128, 0), false, true).wavefronts, 64 * 4 * 8);
  EXPECT_FALSE(Move({4, 8, 1, 8, 4}, Tile(DType::kF32, 128, 128, 128), false, true).as_matrices);
}

TEST(SharedMoves, FragmentsOf32BitsTurnTheirColumns) {
  for (const auto& [cols, swizzle] : {std::pair{64, 128}, {32, 128}, {16, 64}, {32, 64}, {8, 32}}) {
    const ir::Buffer tile = Tile(DType::kF32, 64, cols, swizzle);
    for (const bool is_store : {false, true}) {
      const MoveCost move = Move(kMatrixFragment, tile, is_store);
      EXPECT_EQ(move.wavefronts, 2 * move.instructions) << cols << " " << swizzle;
      EXPECT_EQ(move.ideal, move.wavefronts);
    }
  }
}

TEST(SharedMoves, GuardedCopiesAndExchangesAreFree) {
  const ir::Buffer tile = Tile(DType::kBF16, 64, 64, 128);
  const Window window{&tile, 0, 0, 64, 64, false};
  for (const int width : {16, 8, 4}) {
    ASSERT_TRUE(TakesPieces(window, width));
    const MoveCost move = GuardedMove(window, 128, width, true);
    EXPECT_EQ(move.wavefronts, 64);
    EXPECT_EQ(move.ideal, 64);
    EXPECT_EQ(move.instructions, 64 * 4 / width);
  }
  const ir::Buffer odd = Tile(DType::kBF16, 8, 6, 0);
  EXPECT_FALSE(TakesPieces({&odd, 0, 0, 8, 6, false}, 8));
  for (const RegisterLayout& registers : {kMatrixFragment, RegisterLayout{16, 8, 1, 2, 4}}) {
    const MoveCost stores = ScratchMove(registers, DType::kF32, 128, 1, false, true);
    const MoveCost loads = ScratchMove(registers, DType::kF32, 128, 1, false, false);
    EXPECT_EQ(stores.wavefronts, stores.ideal);
    EXPECT_EQ(loads.wavefronts, loads.ideal);
    EXPECT_EQ(loads.instructions, 4 * stores.instructions);
  }
  EXPECT_EQ(ScratchMove({32, 4, 1, 1, 1}, DType::kF32, 128, 1, false, true).instructions, 0);
  // Rows over four warps side by side: each row's value goes from every warp to every other.
  RegisterLayout side_by_side{32, 8, 1, 1, 1};
  side_by_side.warp_cols = 4;
  const MoveCost rows = ScratchMove(side_by_side, DType::kF32, 4, 1, true, false);
  EXPECT_EQ(rows.wavefronts, rows.ideal);
  EXPECT_EQ(rows.instructions, 4 * ScratchMove(side_by_side, DType::kF32, 4, 1, true, true).instructions);
}

}  // namespace
}  // namespace tkc::passes

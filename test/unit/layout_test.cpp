// SPDX-License-Identifier: MIT
// Layouts: the algebra against enumeration of every lane, the bank model against what was measured.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "compiler/layout/bit_matrix.h"
#include "compiler/layout/conflict.h"
#include "compiler/layout/row_layout.h"
#include "compiler/layout/shared_tile.h"

namespace tkc::layout {
namespace {

TEST(BitMatrix, RankCountsTheImage) {
  std::mt19937_64 random(3);
  int invertible = 0;
  for (int n = 0; n < 2000; ++n) {
    const int bits = 1 + static_cast<int>(random() % 10);
    std::vector<uint64_t> columns;
    for (int i = 0; i < bits; ++i) columns.push_back(random() & ((uint64_t{1} << bits) - 1));
    const BitMatrix matrix(bits, columns);
    std::set<uint64_t> image;
    for (uint64_t x = 0; x < uint64_t{1} << bits; ++x) image.insert(matrix.Apply(x));
    ASSERT_EQ(image.size(), uint64_t{1} << matrix.Rank());
    invertible += matrix.Rank() == bits;
  }
  EXPECT_GT(invertible, 300);
}

TEST(SharedTile, SwizzleIsItsOwnInverse) {
  for (const Swizzle swizzle : {Swizzle::k32, Swizzle::k64, Swizzle::k128})
    EXPECT_EQ(SwizzleMap(swizzle, 12).After(SwizzleMap(swizzle, 12)), SwizzleMap(Swizzle::kNone, 12));
}

TEST(SharedTile, OffsetsAreABijection) {
  for (const SharedTile& tile : {SharedTile{DType::kBF16, 24, 176, Swizzle::k32}, SharedTile{DType::kBF16, 64, 192, Swizzle::k128},
                                 SharedTile{DType::kF32, 7, 5, Swizzle::kNone}, SharedTile{DType::kF32, 16, 16, Swizzle::k64}}) {
    std::set<int64_t> offsets;
    for (int64_t row = 0; row < tile.rows; ++row) {
      for (int64_t col = 0; col < tile.cols; ++col) {
        const int64_t offset = tile.Offset(row, col);
        EXPECT_GE(offset, 0);
        EXPECT_LT(offset, tile.rows * tile.cols * Bytes(tile.dtype));
        offsets.insert(offset);
      }
    }
    EXPECT_EQ(static_cast<int64_t>(offsets.size()), tile.rows * tile.cols);
  }
}

TEST(SharedTile, MeasuredPattern) {
  // Dense rows of 128 bytes: the 16-byte column of row r is XORed with r mod 8; 64: (r / 2) mod 4; 32: (r / 4) mod 2.
  for (int64_t row = 0; row < 16; ++row) {
    EXPECT_EQ((SharedTile{DType::kBF16, 16, 64, Swizzle::k128}.Offset(row, 8)), row * 128 + (1 ^ row % 8) * 16);
    EXPECT_EQ((SharedTile{DType::kBF16, 16, 32, Swizzle::k64}.Offset(row, 8)), row * 64 + (1 ^ row / 2 % 4) * 16);
    EXPECT_EQ((SharedTile{DType::kBF16, 16, 16, Swizzle::k32}.Offset(row, 8)), row * 32 + (1 ^ row / 4 % 2) * 16);
  }
}

TEST(RegisterMap, IsTheFormulaOfTheRuntime) {
  for (const RegisterLayout& layout :
       {kMatrixFragment, RegisterLayout{8, 8, 1, 4, 4}, RegisterLayout{32, 4, 1, 1, 2}, RegisterLayout{1, 1, 1, 4, 1},
        RegisterLayout{32, 8, 1, 1, 1, 4}, RegisterLayout{8, 2, 2, 4, 2, 2}, RegisterLayout{32, 4, 1, 1, 1, 2}}) {
    const BitMatrix map = RegisterMap(layout);
    for (int warp = 0; warp < 4; ++warp) {
      for (int lane = 0; lane < 32; ++lane) {
        for (int half = 0; half < layout.halves; ++half) {
          for (int element = 0; element < layout.vec; ++element) {
            const uint64_t input = element + layout.vec * (half + layout.halves * (lane + 32 * static_cast<uint64_t>(warp)));
            const uint64_t output = map.Apply(input);
            const int row = warp % layout.warp_rows * (layout.halves * layout.lane_rows) + half * layout.lane_rows +
                            lane / layout.lanes % layout.lane_rows;
            const int col =
                (warp / layout.warp_rows % layout.warp_cols * layout.lanes + lane % layout.lanes) * layout.vec + element;
            ASSERT_EQ(output, static_cast<uint64_t>(col + row * layout.ColsPerBlock()));
          }
        }
      }
    }
  }
  // A matrix unit's fragment holds every element once: row 9, column 3 is element 1, half 1 of lane 5.
  EXPECT_EQ(RegisterMap(kMatrixFragment).Rank(), RegisterMap(kMatrixFragment).Outputs());
  EXPECT_EQ(RegisterMap(kMatrixFragment).Apply(1 + 2 * 1 + 4 * (4 * 1 + 1)), 3u + 8 * 9);
}

/// Rows of the table of measurements: cycles of one instruction.
TEST(BankModel, Measurements) {
  const auto cycles = [](bool load, int width, auto address) {
    LaneAddresses addresses{};
    for (int lane = 0; lane < 32; ++lane) addresses[lane] = address(lane);
    return (load ? LoadCost(addresses, width) : StoreCost(addresses, width)).cycles;
  };
  const int widths[] = {4, 8, 16};
  const auto expect = [&](bool load, auto address, std::array<int, 3> wanted) {
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(cycles(load, widths[i], [&](int lane) { return address(lane, widths[i]); }), wanted[i]) << load << " " << widths[i];
    }
  };
  expect(true, [](int lane, int width) -> int64_t { return lane * width; }, {1, 2, 4});
  expect(true, [](int, int) -> int64_t { return 0; }, {1, 1, 2});
  expect(true, [](int lane, int width) -> int64_t { return lane / 2 * width; }, {1, 1, 2});
  EXPECT_EQ(cycles(true, 8, [](int lane) -> int64_t { return lane % 16 * 8; }), 2);
  EXPECT_EQ(cycles(true, 16, [](int lane) -> int64_t { return lane % 8 * 16; }), 4);
  expect(true, [](int lane, int width) -> int64_t { return lane == 0 ? 0 : lane == 20 ? width : kIdle; }, {1, 1, 2});
  expect(true, [](int lane, int width) -> int64_t { return lane == 0 ? 0 : lane == 3 ? width : kIdle; }, {1, 1, 2});
  expect(false, [](int lane, int width) -> int64_t { return lane * width; }, {1, 2, 4});
  expect(false, [](int, int) -> int64_t { return 0; }, {1, 2, 4});
  expect(false, [](int lane, int width) -> int64_t { return lane == 0 ? 0 : lane == 9 ? width : kIdle; }, {1, 1, 2});
  expect(false, [](int lane, int width) -> int64_t { return lane == 0 ? 0 : lane == 17 ? width : kIdle; }, {1, 2, 2});
  expect(true, [](int lane, int) -> int64_t { return lane * 128; }, {32, 32, 32});
  expect(false, [](int lane, int) -> int64_t { return lane * 128; }, {32, 32, 32});
}

TEST(Conflicts, WhatWasMeasuredOfFragments) {
  // The f32 fragment as 8-byte stores into rows of 128 bytes: 8 cycles unswizzled, 4 with the XOR.
  EXPECT_EQ(Conflicts(kMatrixFragment, {DType::kF32, 64, 32, Swizzle::kNone}, {AccessKind::kStore}).cycles, 8);
  const BankCost swizzled = Conflicts(kMatrixFragment, {DType::kF32, 64, 32, Swizzle::k128}, {AccessKind::kStore});
  EXPECT_EQ(swizzled.cycles, 4);
  EXPECT_EQ(swizzled.degree, 2);
  // ldmatrix and stmatrix: free with every swizzle of its own width, eight-fold without.
  for (const int bytes : {128, 64, 32}) {
    const BankCost cost =
        Conflicts(kMatrixFragment, {DType::kBF16, 64, bytes / 2, static_cast<Swizzle>(bytes)}, {AccessKind::kLoadMatrix});
    EXPECT_EQ(cost.degree, 1) << bytes;
    EXPECT_EQ(cost.cycles, 4);
  }
  EXPECT_EQ(Conflicts(kMatrixFragment, {DType::kBF16, 64, 64, Swizzle::kNone}, {AccessKind::kStoreMatrix}).degree, 8);
}

TEST(Conflicts, AlgebraAgreesWithEnumeration) {
  std::mt19937 random(11);
  const auto pick = [&](auto... values) {
    const int64_t list[] = {static_cast<int64_t>(values)...};
    return static_cast<int>(list[random() % sizeof...(values)]);
  };
  int linear = 0, checked = 0;
  for (int n = 0; n < 3000; ++n) {
    RegisterLayout layout{pick(1, 2, 4, 8, 16, 32), pick(1, 2, 4, 8), pick(1, 1, 2), 1, pick(1, 2, 4)};
    layout.lane_rows = std::min(pick(1, 2, 4, 8, 16, 32), 32 / layout.lanes);
    layout.warp_cols = std::min(pick(1, 2, 4), 4 / layout.warp_rows);
    if (n % 4 == 0) layout = kMatrixFragment;
    const DType dtype = pick(0, 1) ? DType::kF32 : DType::kBF16;
    const Access access{pick(0, 1) ? AccessKind::kLoad : AccessKind::kStore, pick(0, 0, 1) == 1};
    int64_t rows = int64_t{layout.RowsPerBlock()} * pick(1, 1, 2, 3), cols = int64_t{layout.ColsPerBlock()} * pick(1, 1, 2, 3, 5);
    if (pick(0, 0, 0, 1)) rows = 1;
    if (pick(0, 0, 0, 1)) cols = 1;
    if (rows * cols > 40000) continue;
    if (access.transposed) std::swap(rows, cols);
    const SharedTile tile{dtype, rows, cols, pick(0, 1) ? ChooseSwizzle(dtype, rows, cols) : Swizzle::kNone};
    const BankCost algebra = Conflicts(layout, tile, access), oracle = EnumerateConflicts(layout, tile, access);
    ++checked;
    linear += AddressMap(tile, 1, 1).has_value();
    ASSERT_EQ(algebra.cycles, oracle.cycles) << n << ": " << layout.lanes << " " << layout.vec << " " << layout.halves << " "
                                             << layout.lane_rows << " " << layout.warp_rows << " " << layout.warp_cols << " tile "
                                             << rows << " x " << cols << " " << Name(dtype) << " swizzle " << Name(tile.swizzle)
                                             << " store " << (access.kind == AccessKind::kStore) << " transposed "
                                             << access.transposed;
    ASSERT_EQ(algebra.degree, oracle.degree);
  }
  EXPECT_GT(checked, 2000);
  EXPECT_GT(linear, checked / 2);
}

TEST(RowLayout, LongRowsAndLongColumnsShareTheLanes) {
  const auto vector = [](int64_t rows, int64_t cols) { return TileShape{rows, cols, DType::kF32, true}; };
  const TileShape both[] = {vector(1024, 1), vector(1, 1024)}, other_way[] = {vector(1, 2048), vector(1024, 1)};
  for (const auto& tiles : {both, other_way}) {
    const RegisterLayout layout = ChooseRowLayout({tiles, 2});
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_TRUE((layout.HoldsRows(tiles[i].rows) && layout.HoldsCols(tiles[i].cols)));
      EXPECT_LE(layout.PerThread(tiles[i].rows, tiles[i].cols), 256);
    }
  }
  EXPECT_EQ(ChooseRowLayout(both).lanes, 16);
  // A short column beside a long row is held by every thread, as before; so is a column beside a tile of both extents.
  const TileShape short_column[] = {vector(1, 2048), vector(16, 1)}, tile[] = {vector(64, 256), vector(64, 1), vector(1, 256)};
  EXPECT_EQ(ChooseRowLayout(short_column).lanes, 32);
  EXPECT_EQ(ChooseRowLayout(tile), ChooseRowLayout({tile, 1}));
}

TEST(RowLayout, RowsOverLanesThenWarpsThenColumns) {
  const auto choose = [](std::initializer_list<TileShape> tiles) { return ChooseRowLayout(std::vector<TileShape>(tiles)); };
  // A row for each warp; one row for all four; one and a short row of numbers of it.
  EXPECT_EQ(choose({{4, 1024, DType::kBF16, true}, {4, 1}}), (RegisterLayout{32, 8, 1, 1, 4, 1}));
  EXPECT_EQ(choose({{1, 8192, DType::kBF16, true}, {1, 1}}), (RegisterLayout{32, 8, 1, 1, 1, 4}));
  EXPECT_EQ(choose({{1, 8192, DType::kBF16, true}, {4, 1}}), (RegisterLayout{32, 8, 1, 1, 1, 4}));
  EXPECT_EQ(choose({{2, 1024, DType::kBF16, true}}), (RegisterLayout{32, 8, 1, 1, 2, 2}));
  // Narrower vectors where wider ones would leave warps idle.
  EXPECT_EQ(choose({{1, 512, DType::kBF16, true}}), (RegisterLayout{32, 4, 1, 1, 1, 4}));
  // Turned around: 16-bit elements as matrices are loaded, four lanes to a row; else two, a sector of 32 bytes.
  EXPECT_EQ(choose({{64, 64, DType::kBF16, true, true}}), (RegisterLayout{4, 8, 1, 8, 4, 1}));
  EXPECT_EQ(choose({{64, 64, DType::kF32, true, true}}), (RegisterLayout{2, 4, 1, 16, 4, 1}));
  for (const RegisterLayout& layout : {choose({{4, 96, DType::kF32, true}}), choose({{1, 768, DType::kBF16, true}, {8, 1}})}) {
    EXPECT_TRUE((layout.HoldsRows(4) && layout.HoldsCols(96)) || (layout.HoldsRows(1) && layout.HoldsCols(768)));
  }
}

TEST(Conflicts, MatricesAgreeWithEnumeration) {
  for (const int64_t rows : {64, 128, 192}) {
    for (const int64_t cols : {16, 32, 64, 96, 176, 256}) {
      for (const Swizzle swizzle : {Swizzle::kNone, ChooseSwizzle(DType::kBF16, rows, cols)}) {
        const SharedTile tile{DType::kBF16, rows, cols, swizzle};
        const Access access{AccessKind::kLoadMatrix, false};
        EXPECT_EQ(Conflicts(kMatrixFragment, tile, access).cycles, EnumerateConflicts(kMatrixFragment, tile, access).cycles)
            << rows << " x " << cols << " swizzle " << Name(swizzle);
      }
    }
  }
}

TEST(ChooseSwizzle, WidestThatIsNearlyFull) {
  EXPECT_EQ(ChooseSwizzle(DType::kBF16, 64, 64), Swizzle::k128);
  EXPECT_EQ(ChooseSwizzle(DType::kBF16, 64, 96), Swizzle::k64);
  EXPECT_EQ(ChooseSwizzle(DType::kBF16, 64, 176), Swizzle::k128);  // a twelfth of its three panels is unused
  EXPECT_EQ(ChooseSwizzle(DType::kBF16, 64, 144), Swizzle::k64);
  EXPECT_EQ(ChooseSwizzle(DType::kBF16, 64, 8), Swizzle::k32);
  EXPECT_EQ(ChooseSwizzle(DType::kBF16, 64, 160), Swizzle::k64);
  EXPECT_EQ(ChooseSwizzle(DType::kBF16, 64, 224), Swizzle::k128);
  EXPECT_EQ(ChooseSwizzle(DType::kBF16, 64, 15), Swizzle::kNone);
  EXPECT_EQ(ChooseSwizzle(DType::kF32, 64, 1), Swizzle::kNone);
  EXPECT_EQ(ChooseSwizzle(DType::kF32, 1, 256), Swizzle::kNone);
}

/// Every element of every tile has a thread, and threads that share one are exact copies.
void ExpectCovers(const RegisterLayout& layout, int64_t rows, int64_t cols) {
  ASSERT_TRUE((layout.HoldsRows(rows) && layout.HoldsCols(cols))) << rows << " x " << cols;
  ASSERT_LE(layout.lanes * layout.lane_rows, 32);
  std::set<std::pair<int64_t, int64_t>> held;
  const int64_t down = rows == 1 ? 1 : rows / layout.RowsPerBlock(), across = cols == 1 ? 1 : cols / layout.ColsPerBlock();
  for (int64_t i = 0; i < down; ++i) {
    for (int64_t j = 0; j < across; ++j) {
      const BitMatrix map = RegisterMap(layout);
      for (uint64_t input = 0; input < uint64_t{1} << map.Inputs(); ++input) {
        const auto place = static_cast<int64_t>(map.Apply(input));
        const int64_t row = rows == 1 ? 0 : i * layout.RowsPerBlock() + place / layout.ColsPerBlock();
        const int64_t col = cols == 1 ? 0 : j * layout.ColsPerBlock() + place % layout.ColsPerBlock();
        held.emplace(row, col);
      }
    }
  }
  ASSERT_EQ(static_cast<int64_t>(held.size()), rows * cols);
}

TEST(RowLayout, HoldsAnyShapes) {
  std::mt19937 random(5);
  for (int n = 0; n < 400; ++n) {
    std::vector<TileShape> tiles;
    const int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 32, 48, 64, 100, 128};
    const int64_t rows = sizes[random() % 13], cols = sizes[random() % 15];
    const DType dtypes[] = {DType::kBF16, DType::kF32, DType::kI64, DType::kBool};
    tiles.push_back({rows, cols, dtypes[random() % 4], random() % 2 == 0});
    tiles.push_back({rows, 1, DType::kF32, false});
    tiles.push_back({1, cols, DType::kF32, random() % 2 == 0});
    if (random() % 3 == 0) tiles.push_back({sizes[random() % 13], sizes[random() % 15], DType::kF32, true});
    const RegisterLayout layout = ChooseRowLayout(tiles);
    for (const TileShape& tile : tiles) ExpectCovers(layout, tile.rows, tile.cols);
  }
}

TEST(RowLayout, WavesOf64Lanes) {
  const auto choose = [](std::vector<TileShape> tiles) { return ChooseRowLayout(tiles, 64); };
  EXPECT_EQ(choose({{4, 1024, DType::kBF16, true}, {4, 1}}), (RegisterLayout{64, 8, 1, 1, 4}));
  EXPECT_EQ(choose({{64, 64, DType::kBF16, true}}), (RegisterLayout{8, 8, 1, 8, 4}));
  EXPECT_EQ(choose({{1, 2048, DType::kBF16, true}, {1, 1}}), (RegisterLayout{64, 8, 1, 1, 1, 4}));
  EXPECT_EQ(choose({{4, 128, DType::kF32, true}}), (RegisterLayout{64, 2, 1, 1, 4}));  // narrower vectors rather than copies
  EXPECT_EQ(choose({{128, 1, DType::kF32, true}}), (RegisterLayout{1, 1, 1, 64, 2}));
}

TEST(RowLayout, Choices) {
  const auto choose = [](std::vector<TileShape> tiles) { return ChooseRowLayout(tiles); };
  EXPECT_EQ(choose({{1, 1024, DType::kBF16, true}}), (RegisterLayout{32, 8, 1, 1, 1, 4}));
  EXPECT_EQ(choose({{64, 64, DType::kBF16, true}}), (RegisterLayout{8, 8, 1, 4, 4}));
  EXPECT_EQ(choose({{4, 128, DType::kF32, true}}), (RegisterLayout{32, 4, 1, 1, 4}));
  EXPECT_EQ(choose({{1, 64, DType::kF32, true}}), (RegisterLayout{32, 1, 1, 1, 1, 2}));  // narrower vectors rather than copies
  EXPECT_EQ(choose({{128, 1, DType::kF32, true}}), (RegisterLayout{1, 1, 1, 32, 4}));
  EXPECT_EQ(choose({{7, 5, DType::kF32, true}}), (RegisterLayout{1, 1, 1, 1, 1}));
  EXPECT_EQ(choose({}), (RegisterLayout{1, 1, 1, 1, 1}));
  // Windows: neighbouring rows for a thread, while its vectors do not get too narrow.
  EXPECT_EQ(choose({{32, 128, DType::kBF16, true, false, true}, {1, 128}}), (RegisterLayout{32, 4, 8, 1, 4}));
  EXPECT_EQ(choose({{32, 512, DType::kBF16, true, false, true}}), (RegisterLayout{32, 8, 8, 1, 4}));
  EXPECT_EQ(choose({{32, 64, DType::kBF16, true, false, true}}), (RegisterLayout{8, 8, 1, 4, 4}));
  EXPECT_EQ(choose({{4, 128, DType::kF32, true, false, true}}), (RegisterLayout{32, 4, 1, 1, 4}));
  EXPECT_EQ(choose({{64, 64, DType::kF32, true}}).PerThread(64, 64), 32);
  EXPECT_EQ(kMatrixFragment.PerThread(64, 256), 128);
}

}  // namespace
}  // namespace tkc::layout

// SPDX-License-Identifier: MIT
#include "compiler/layout/shared_tile.h"

#include "compiler/layout/bank_model.h"

namespace tkc::layout {
namespace {

constexpr int kAddressBits = 40;
constexpr int kWarpBits = 2;
constexpr int kPatternRows = 8;  // every swizzle repeats after eight rows of its width

uint64_t Bit(int bit) { return uint64_t{1} << bit; }

/// The bits of an address to which those three, and four, places above are added.
struct Folds {
  uint64_t by_three = 0, by_four = 0;

  uint64_t Apply(uint64_t address) const { return address ^ (address >> 3 & by_three) ^ (address >> 4 & by_four); }
};

Folds FoldsOf(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::kNone: return {};
    case Swizzle::k32: return {.by_three = 0x10};
    case Swizzle::k64: return {.by_three = 0x30};
    case Swizzle::k128: return {.by_three = 0x70};
    case Swizzle::kT128: return {.by_three = 0x20, .by_four = 0x40};
  }
  return {};
}

}  // namespace

int64_t SharedTile::Offset(int64_t row, int64_t col) const {
  const int64_t width = PanelCols(), size = Bytes(dtype);
  const int64_t offset = ((col / width * rows + row) * width + col % width) * size;
  return static_cast<int64_t>(FoldsOf(swizzle).Apply(static_cast<uint64_t>(offset)));
}

BitMatrix SwizzleMap(Swizzle swizzle, int bits) {
  std::vector<uint64_t> columns;
  for (int bit = 0; bit < bits; ++bit) columns.push_back(FoldsOf(swizzle).Apply(Bit(bit)));
  return {bits, std::move(columns)};
}

BitMatrix RegisterMap(const RegisterLayout& layout) {
  const int vec = Log2(layout.vec), halves = Log2(layout.halves), lanes = Log2(layout.lanes), lane_rows = Log2(layout.lane_rows),
            warp_rows = Log2(layout.warp_rows), warp_cols = Log2(layout.warp_cols);
  const int in_warp = vec + lanes, cols = in_warp + warp_cols;
  std::vector<uint64_t> columns;
  for (int bit = 0; bit < vec; ++bit) columns.push_back(Bit(bit));
  for (int bit = 0; bit < halves; ++bit) columns.push_back(Bit(cols + lane_rows + bit));
  for (int bit = 0; bit < kLaneBits; ++bit) {
    const bool in_row = bit < lanes;
    const bool is_copy = bit >= lanes + lane_rows;
    columns.push_back(is_copy ? 0 : in_row ? Bit(vec + bit) : Bit(cols + bit - lanes));
  }
  for (int bit = 0; bit < kWarpBits; ++bit) {
    const bool down = bit < warp_rows, is_copy = bit >= warp_rows + warp_cols;
    columns.push_back(is_copy ? 0 : down ? Bit(cols + lane_rows + halves + bit) : Bit(in_warp + bit - warp_rows));
  }
  return {cols + lane_rows + halves + warp_rows, std::move(columns)};
}

std::optional<BitMatrix> AddressMap(const SharedTile& tile, int col_bits, int row_bits) {
  const int64_t pitch = tile.Pitch();
  const bool has_rows = tile.rows > 1 && row_bits > 0;
  if (has_rows && !std::has_single_bit(static_cast<uint64_t>(pitch))) return std::nullopt;
  const int size = Log2(Bytes(tile.dtype));
  const int panel = tile.swizzle == Swizzle::kNone ? kAddressBits : Log2(tile.PanelCols());
  if (col_bits > panel && tile.rows % kPatternRows != 0) return std::nullopt;
  std::vector<uint64_t> columns;
  for (int bit = 0; bit < col_bits; ++bit) {
    const uint64_t place = bit < panel ? Bit(bit + size) : Bit(kAddressBits + bit - panel);
    columns.push_back(tile.cols > 1 ? place : 0);
  }
  for (int bit = 0; bit < row_bits; ++bit) columns.push_back(has_rows ? Bit(bit) * static_cast<uint64_t>(pitch) : 0);
  return SwizzleMap(tile.swizzle, 64).After(BitMatrix(64, std::move(columns)));
}

}  // namespace tkc::layout

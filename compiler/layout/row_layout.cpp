// SPDX-License-Identifier: MIT
#include "compiler/layout/row_layout.h"

#include <algorithm>
#include <numeric>

namespace tkc::layout {
namespace {

constexpr int kLanes = 32;
constexpr int kWarps = 4;
constexpr int kVectorBytes = 16;

/// The largest power of two that divides n, at most `most`; for n = 0 (nothing to divide) `most`.
int64_t PowerOfTwoIn(int64_t n, int64_t most) {
  int64_t power = 1;
  while (power * 2 <= most && n % (power * 2) == 0) power *= 2;
  return power;
}

}  // namespace

bool RegisterLayout::Holds(int64_t rows, int64_t cols) const {
  return (rows == 1 || rows % RowsPerBlock() == 0) && (cols == 1 || cols % ColsPerBlock() == 0);
}

int64_t RegisterLayout::PerThread(int64_t rows, int64_t cols) const {
  const int64_t down = rows == 1 ? 1 : rows / RowsPerBlock() * halves;
  const int64_t across = cols == 1 ? 1 : cols / ColsPerBlock() * vec;
  return down * across;
}

RegisterLayout ChooseRowLayout(std::span<const TileShape> tiles) {
  int64_t rows = 0, cols = 0;  // greatest common divisors over the tiles that have more than one
  int narrowest = kVectorBytes;
  for (const TileShape& tile : tiles) {
    if (tile.rows > 1) rows = std::gcd(rows, tile.rows);
    if (tile.cols > 1) cols = std::gcd(cols, tile.cols);
    if (tile.in_memory && tile.cols > 1) narrowest = std::min(narrowest, Bytes(tile.dtype));
  }
  if (narrowest == kVectorBytes) narrowest = 4;  // nothing wide goes to memory: any width serves
  RegisterLayout layout;
  layout.halves = 1;
  layout.vec = cols == 0 ? 1 : static_cast<int>(PowerOfTwoIn(cols, kVectorBytes / narrowest));
  layout.lanes = cols == 0 ? 1 : static_cast<int>(PowerOfTwoIn(cols / layout.vec, kLanes));
  layout.lane_rows = rows == 0 ? 1 : static_cast<int>(PowerOfTwoIn(rows, kLanes / layout.lanes));
  // Too few rows to occupy the lanes: narrower vectors do the same accesses with more of them.
  while (layout.lanes * layout.lane_rows < kLanes && layout.vec > 1) {
    layout.vec /= 2;
    layout.lanes *= 2;
  }
  layout.warp_rows = rows == 0 ? 1 : static_cast<int>(PowerOfTwoIn(rows / layout.lane_rows, kWarps));
  return layout;
}

int ChooseSwizzle(DType dtype, int64_t rows, int64_t cols) {
  if (rows <= 1 || cols <= 1) return 0;
  for (const int bytes : {128, 64, 32}) {
    if (cols * Bytes(dtype) % bytes == 0) return bytes;
  }
  return 0;
}

}  // namespace tkc::layout

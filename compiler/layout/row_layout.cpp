// SPDX-License-Identifier: MIT
#include "compiler/layout/row_layout.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "compiler/layout/bank_model.h"

namespace tkc::layout {
namespace {

constexpr int kWarps = 4;
constexpr int kVectorBytes = 16;
constexpr int kSectorBytes = 32;       // of global memory
constexpr int kNarrowVectorBytes = 8;  // two to a bank's turn, as good as 16

/// The largest power of two that divides n, at most `most`; for n = 0 (nothing to divide) `most`.
int64_t PowerOfTwoIn(int64_t n, int64_t most) {
  int64_t power = 1;
  while (power * 2 <= most && n % (power * 2) == 0) power *= 2;
  return power;
}

/// Columns over lanes, rows over the lanes left, then rows and columns over warps. 0: no tile has more than one row (column).
RegisterLayout Deal(int64_t rows, int64_t cols, int64_t vec, int64_t most_lanes, int lanes) {
  const auto share = [](int64_t n, int64_t most) { return n == 0 ? 1 : static_cast<int>(PowerOfTwoIn(n, most)); };
  RegisterLayout layout;
  layout.halves = 1;
  layout.vec = static_cast<int>(vec);
  layout.lanes = share(cols / vec, most_lanes);
  layout.lane_rows = share(rows, lanes / layout.lanes);
  layout.warp_rows = share(rows / layout.lane_rows, kWarps);
  if (layout.lanes == lanes) layout.warp_cols = share(cols / (vec * lanes), kWarps / layout.warp_rows);
  return layout;
}

/// A row to all lanes, and to each warp as many neighbouring rows as it gets; vectors as wide as that leaves them. Nothing, if they
/// get too narrow.
std::optional<RegisterLayout> NeighbouringRows(int64_t rows, int64_t cols, int64_t widest, int bytes, int lanes) {
  const int64_t vec = std::min(widest, PowerOfTwoIn(cols, cols) / lanes);
  if (rows <= kWarps || vec * bytes < kNarrowVectorBytes) return std::nullopt;
  RegisterLayout layout = Deal(rows, cols, vec, lanes, lanes);
  layout.halves = static_cast<int>(rows / layout.warp_rows);
  return layout;
}

/// Of a row of what is turned around. Where matrices of 16-bit elements are loaded transposed, they are dealt out to four. Else
/// lanes read columns of the shared tile a vector apart: the fewer, the fewer meet in a bank, and two store a sector.
int64_t TurnedLanes(DType dtype, int lanes) {
  return lanes == kLanes && Bytes(dtype) == 2 ? kMatrixFragment.lanes : kSectorBytes / kVectorBytes;
}

/// Elements in one thread of a tile of each shape.
int64_t Held(const RegisterLayout& layout, std::span<const TileShape> tiles) {
  std::set<std::pair<int64_t, int64_t>> shapes;
  for (const TileShape& tile : tiles) {
    if (tile.is_held) shapes.emplace(tile.rows, tile.cols);
  }
  return std::accumulate(shapes.begin(), shapes.end(), int64_t{0}, [&](int64_t sum, const std::pair<int64_t, int64_t>& shape) {
    return sum + layout.PerThread(shape.first, shape.second);
  });
}

/// Where long rows meet long columns and no tile has both extents: the lanes for which threads hold the least. Each more for a row
/// is one less for a column, of which every lane of a row holds a copy.
RegisterLayout DealVectors(std::span<const TileShape> tiles, int64_t rows, int64_t cols, int64_t vec, int lanes,
                           RegisterLayout best) {
  constexpr int64_t kFew = 64;  // registers: then copies do no harm
  for (int64_t of_row = lanes; of_row >= 1 && Held(best, tiles) > kFew; of_row /= 2) {
    const RegisterLayout layout = Deal(rows, cols, vec, of_row, lanes);
    if (Held(layout, tiles) < Held(best, tiles)) best = layout;
  }
  return best;
}

bool MovesLessThanSectors(const RegisterLayout& layout, std::span<const TileShape> tiles) {
  return std::ranges::any_of(tiles, [&](const TileShape& tile) {
    return tile.in_memory && tile.cols > 1 && layout.ColsPerBlock() * tile.parts * Bytes(tile.dtype) < kSectorBytes;
  });
}

/// Those that hold no copies.
int Threads(const RegisterLayout& layout) { return layout.lanes * layout.lane_rows * layout.warp_rows * layout.warp_cols; }

}  // namespace

RegisterLayout ChooseRowLayout(std::span<const TileShape> tiles, int lanes, int64_t most_vec, int64_t shift) {
  int64_t rows = shift, cols = 0;  // greatest common divisors over the tiles that have more than one
  int narrowest = 0;
  int64_t most_lanes = lanes, largest = 0;
  bool is_row = false, has_windows = false, is_turned = false, has_long_column = false, are_vectors = true;
  for (const TileShape& tile : tiles) {
    are_vectors &= tile.rows == 1 || tile.cols == 1;
    has_long_column |= tile.is_held && tile.rows > 1;
    if (tile.rows > 1) rows = std::gcd(rows, tile.rows);
    if (tile.cols > 1) cols = std::gcd(cols, tile.cols);
    if (tile.rows * tile.cols > largest) largest = tile.rows * tile.cols, is_row = tile.rows == 1;
    if (tile.is_turned) most_lanes = std::min<int64_t>(most_lanes, TurnedLanes(tile.dtype, lanes));
    is_turned |= tile.is_turned;
    has_windows |= tile.is_window;
    if (tile.in_memory && tile.cols > 1) {
      const int bytes = static_cast<int>(tile.parts) * Bytes(tile.dtype);
      narrowest = narrowest == 0 ? bytes : std::min(narrowest, bytes);
    }
  }
  const int64_t all_rows = rows;
  if (is_row) rows = 0;               // beside a long row, every thread may hold all of a short column
  if (narrowest == 0) narrowest = 4;  // nothing wide goes to memory: any width serves
  const int64_t widest = cols == 0 ? 1 : PowerOfTwoIn(cols, std::min(most_vec, int64_t{kVectorBytes / narrowest}));
  if (has_windows && !is_turned) {
    if (const auto layout = NeighbouringRows(rows, cols, widest, narrowest, lanes)) return *layout;
  }
  RegisterLayout best = Deal(rows, cols, widest, most_lanes, lanes);
  for (int64_t vec = widest / 2; vec >= 1 && Threads(best) < lanes * kWarps; vec /= 2) {
    const RegisterLayout layout = Deal(rows, cols, vec, most_lanes, lanes);
    if (Threads(layout) > Threads(best)) best = layout;
  }
  return are_vectors && has_long_column && cols > 0 ? DealVectors(tiles, all_rows, cols, widest, lanes, best) : best;
}

bool IsDealtWell(const RegisterLayout& layout, std::span<const TileShape> tiles, int lanes) {
  return Threads(layout) == lanes * kWarps && !MovesLessThanSectors(layout, tiles);
}

int64_t CostOf(const RegisterLayout& layout, std::span<const TileShape> tiles) {
  constexpr int64_t kOfAccess = 4;
  std::set<std::tuple<int64_t, int64_t, DType>> moved;
  for (const TileShape& tile : tiles) {
    if (tile.in_memory) moved.emplace(tile.rows, tile.cols, tile.dtype);
  }
  int64_t cost = Held(layout, tiles);
  for (const auto& [rows, cols, dtype] : moved) {
    const int64_t vec = cols > 1 ? std::min(layout.vec, kVectorBytes / Bytes(dtype)) : 1;
    cost += kOfAccess * layout.PerThread(rows, cols) / vec;
  }
  return cost * (MovesLessThanSectors(layout, tiles) ? 2 : 1);
}

Swizzle ChooseSwizzle(DType dtype, int64_t rows, int64_t cols) {
  constexpr int64_t kGranule = 16;  // bytes: what a swizzle permutes, and what the copy engine moves
  const int64_t row = cols * Bytes(dtype);
  if (rows <= 1 || cols <= 1 || row % kGranule != 0) return Swizzle::kNone;
  for (const Swizzle swizzle : {Swizzle::k128, Swizzle::k64}) {
    const int64_t panel = PanelBytes(swizzle);
    if ((row + panel - 1) / panel * panel * 7 <= row * 8) return swizzle;
  }
  return Swizzle::k32;
}

}  // namespace tkc::layout

// SPDX-License-Identifier: MIT
// How the threads of an instance of four warps share a tile in registers.
#pragma once

#include <cstdint>
#include <string_view>

namespace tkc::layout {

/// tk::layout<lanes, vec, halves, lane_rows, warp_rows, warp_cols, columns_first> of the runtime.
/// Warp w, lane l holds row = (i*warp_rows + w % warp_rows) * (halves*lane_rows) + h*lane_rows + (l / lanes) % lane_rows and
/// col = ((j*warp_cols + w / warp_rows % warp_cols) * lanes + l % lanes) * vec + e. Lanes and warps left over hold copies.
/// columns_first: l % lane_rows is the row of a lane, l / lane_rows its column. apart: so many neighbouring lanes hold the same
/// each; 1 of a role's own layout (passes/reshaped_layouts.h).
struct RegisterLayout {
  int lanes = 4, vec = 2, halves = 2, lane_rows = 8, warp_rows = 4, warp_cols = 1;
  bool columns_first = false;
  int apart = 1;
  bool operator==(const RegisterLayout&) const = default;

  int64_t RowsPerBlock() const { return int64_t{halves} * lane_rows * warp_rows; }
  int64_t ColsPerBlock() const { return int64_t{lanes} * vec * warp_cols; }
  /// What the rows of a tile must be a multiple of, but for one of 1. Where no warps lie side by side, it may leave some of them
  /// with copies.
  int64_t RowUnit() const { return warp_cols > 1 ? RowsPerBlock() : int64_t{halves} * lane_rows; }
  /// Whether tiles of so many rows, or columns, can be held.
  bool HoldsRows(int64_t rows) const { return rows == 1 || rows % RowUnit() == 0; }
  bool HoldsCols(int64_t cols) const { return cols == 1 || cols % ColsPerBlock() == 0; }
  /// How a tile of so many rows is dealt among tiles of this layout, of which it may occupy fewer warps (detail::fitted_layout).
  RegisterLayout ForRows(int64_t rows) const;
  /// Elements of the tile in one thread.
  int64_t PerThread(int64_t rows, int64_t cols) const;
  /// The fragment of NVIDIA's matrix instructions, however the warps lie beside each other.
  bool IsFragment() const { return lanes == 4 && vec == 2 && halves == 2 && lane_rows == 8 && !columns_first; }
  /// Whether several warps, which meet to reduce it, hold the elements of one row, or of one column.
  bool RowSpansWarps() const { return warp_cols > 1; }
  bool ColumnSpansWarps() const { return warp_rows > 1; }
};

/// The accumulator fragment of the Hopper matrix unit, 64 rows at a time: tk::mma_layout of the runtime.
inline constexpr RegisterLayout kMatrixFragment{};

}  // namespace tkc::layout

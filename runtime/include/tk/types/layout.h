// SPDX-License-Identifier: MIT
// Where the elements of a worker's register tile live: which thread of its four warps, which register.
#pragma once

#include "tk/arch.h"
#include "tk/types/integer.h"

namespace tk {

/// A thread's position in its warpgroup.
struct lane_position {
    int warp;  // 0..3
    int lane;  // 0 .. arch::lanes - 1
};

/// A place in a tile's register array: row block i, column block j, half h, vector element e.
struct place {
    int i, j, h, e;
};

/// How a tile is dealt to the threads of a warpgroup.
///
/// `Lanes` lanes share a row, each holding `Vec` neighbouring columns at a time; `LaneRows` such rows lie in a warp,
/// `Halves` times over; `WarpRows` warps lie below each other, `WarpCols` side by side:
///
///     row = (i * WarpRows + warp % WarpRows) * (Halves * LaneRows) + h * LaneRows + lane_row
///     col = ((j * WarpCols + warp / WarpRows % WarpCols) * Lanes + lane_col) * Vec + e
///
/// The lanes of a row are neighbours (lane_col = lane % Lanes), or with `ColumnsFirst` those of a column are
/// (lane_row = lane % LaneRows). Lanes and warps left over hold copies of the same elements (`owns_..` tell them from the first), as do
/// `Apart` neighbouring lanes each, where this is more than 1.
template <int Lanes_, int Vec_, int Halves_, int LaneRows_, int WarpRows_, int WarpCols_ = 1, bool ColumnsFirst_ = false, int Apart_ = 1>
struct layout {
    static constexpr int Lanes = Lanes_, Vec = Vec_, Halves = Halves_, LaneRows = LaneRows_, WarpRows = WarpRows_, WarpCols = WarpCols_;
    static constexpr bool ColumnsFirst = ColumnsFirst_;
    static constexpr int Apart = Apart_, OwningLanes = Lanes * LaneRows * Apart;
    static_assert(OwningLanes <= arch::lanes && (Lanes & (Lanes - 1)) == 0 && (LaneRows & (LaneRows - 1)) == 0);
    static_assert(WarpRows * WarpCols <= 4 && (WarpRows & (WarpRows - 1)) == 0 && (WarpCols & (WarpCols - 1)) == 0);

    /// Rows and columns covered by one (i, j).
    static constexpr int block_rows = WarpRows * Halves * LaneRows;
    static constexpr int block_cols = WarpCols * Lanes * Vec;
    /// From one lane of a row (a column) to the next.
    static constexpr int row_step = Apart * (ColumnsFirst ? LaneRows : 1), col_step = Apart * (ColumnsFirst ? 1 : Lanes);

    static TK_HOST_DEVICE constexpr int lane_row(int lane) { return lane / col_step % LaneRows; }
    static TK_HOST_DEVICE constexpr int lane_col(int lane) { return lane / row_step % Lanes; }
    /// Which of the columns of warps a warp is in.
    static TK_HOST_DEVICE constexpr int warp_col(lane_position at) { return WarpCols == 1 ? 0 : at.warp / WarpRows % WarpCols; }

    static TK_HOST_DEVICE constexpr int row(lane_position at, int i, int h) {
        return i * block_rows + h * LaneRows + (at.warp % WarpRows) * (Halves * LaneRows) + lane_row(at.lane);
    }
    static TK_HOST_DEVICE constexpr int col(lane_position at, int j, int e) {
        return j * block_cols + e + (warp_col(at) * Lanes + lane_col(at.lane)) * Vec;
    }

    /// True in the first of the lanes of a warp that hold the same elements.
    static TK_HOST_DEVICE constexpr bool owns_lane(int lane) { return lane < OwningLanes && (Apart == 1 || lane % Apart == 0); }
    /// True in the first of the threads that hold the same elements.
    static TK_HOST_DEVICE constexpr bool owns_rows(lane_position at) { return at.warp < WarpRows * WarpCols && owns_lane(at.lane); }
    /// True in the first of the threads that hold the same element of a row [1, C], and of a column [R, 1] if also owns_rows.
    static TK_HOST_DEVICE constexpr bool owns_first_row(lane_position at) {
        return owns_rows(at) && at.warp % WarpRows == 0 && (ColumnsFirst ? lane_row(at.lane) == 0 : at.lane < Lanes * Apart);
    }
    static TK_HOST_DEVICE constexpr bool owns_first_col(lane_position at) { return at.warp < WarpRows && lane_col(at.lane) == 0; }
};

namespace detail {

/// Warps below each other that a tile of `rows` rows occupies among tiles dealt as L: as many of L's as divide it.
template <class L>
constexpr int warps_below(int rows) {
    int warps = L::WarpRows;
    while (rows > 1 && L::WarpCols == 1 && warps > 1 && rows % (warps * L::Halves * L::LaneRows) != 0) warps /= 2;
    return warps;
}

/// How a tile of R rows is dealt among tiles dealt as L. Warps that it leaves over hold copies, and each thread has the columns that it
/// has of all tiles.
template <class L, int R>
using fitted_layout = layout<L::Lanes, L::Vec, L::Halves, L::LaneRows, warps_below<L>(R), L::WarpCols, L::ColumnsFirst, L::Apart>;

/// Layouts in which the matrix instructions of NVIDIA GPUs take a left operand of 16-bit elements and leave f32 results.
template <class L>
inline constexpr bool is_matrix_layout = arch::lanes == 32 && L::Lanes == 4 && L::Vec == 2 && L::Halves == 2 && L::LaneRows == 8 && !L::ColumnsFirst;
/// Layouts in which four lanes of a row hold eight neighbours each: a transposing load of 8x8 matrices leaves pairs of them there.
template <class L>
inline constexpr bool is_quad_layout = arch::lanes == 32 && L::Lanes == 4 && L::Vec == 8 && L::Halves == 1 && L::LaneRows == 8 && !L::ColumnsFirst;
}  // namespace detail

/// The accumulator fragment of wgmma, repeated for every 64 rows.
using mma_layout = layout<4, 2, 2, 8, 4>;

}  // namespace tk
